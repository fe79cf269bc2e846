# SPDX-License-Identifier: Apache-2.0
"""Are the parameters of an audit that makes room understood, or refused?"""

from typing import Any

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.extensions.room import room_parameters
from kronos.extensions.room.room import RoomRequest


class TestParse(base.BaseTestCase):
    def test_understood(self) -> None:
        for raw, request in (
            ({'flavors': {'f16': 3}}, RoomRequest({'f16': 3})),
            ({'flavors': 'f16=3, 5=1'}, RoomRequest({'f16': 3, '5': 1})),
            (
                {'flavor': 16, 'max_migrations': '7'},
                RoomRequest(flavor='16', max_migrations=7),
            ),
            (
                {'flavors': 'a=1', 'apart': 'true', 'max_imbalance': '0.5'},
                RoomRequest({'a': 1}, apart=True, max_imbalance=0.5),
            ),
        ):
            self.assertEqual(request, room_parameters.parse(raw))

    def test_refused(self) -> None:
        table: tuple[tuple[dict[str, Any], str], ...] = (
            ({}, 'flavors'),
            ({'flavor': 'a'}, 'max_migrations'),
            ({'flavor': 'a', 'flavors': 'a=1'}, 'flavor'),
            ({'flavors': 'a'}, 'flavors'),
            ({'flavors': 'a=0'}, 'flavors'),
            ({'flavors': 'a=1,a=2'}, 'flavors'),
            ({'flavors': {'a': True}}, 'flavors'),
            ({'flavors': {'a': 1.5}}, 'flavors'),
            ({'flavors': []}, 'flavors'),
            ({'flavors': 'a=1', 'max_imbalance': 'nan'}, 'max_imbalance'),
            ({'flavors': 'a=1', 'max_imbalance': -1}, 'max_imbalance'),
            ({'flavors': 'a=1', 'apart': 'perhaps'}, 'apart'),
            ({'flavors': 'a=1', 'max_migrations': 0}, 'max_migrations'),
        )
        for raw, name in table:
            error = self.assertRaises(
                ConfigurationError, room_parameters.parse, raw
            )
            self.assertIn(f'Audit parameter {name}: ', str(error), raw)

    def test_schema(self) -> None:
        properties = room_parameters.schema()['properties']
        self.assertLessEqual(
            {'flavors', 'flavor', 'apart', 'max_imbalance', 'aggregates'},
            {*properties},
        )
