# SPDX-License-Identifier: Apache-2.0
"""Are the parameters of a run understood, and bad ones named?"""

from typing import Any

import ddt
from oslotest import base

from kronos.common import exceptions
from kronos.extensions.maintenance import maintenance_parameters
from kronos.extensions.maintenance.maintenance import Maintenance, Stopped

NEEDED = {'hosts': 'b,a', 'run': 'r-1'}


@ddt.ddt
class TestParse(base.BaseTestCase):
    def parse(self, **more: Any) -> Maintenance:
        return maintenance_parameters.parse(NEEDED | more)

    def test_defaults(self) -> None:
        self.assertEqual(Maintenance('r-1', ('a', 'b')), self.parse())

    def test_all(self) -> None:
        self.assertEqual(
            Maintenance(
                '7',
                ('a',),
                at_once=3,
                at_once_per_az=2,
                done_query='up',
                ready_query='down',
                seed_hosts=0,
                stopped=Stopped.BLOCK,
                host_timeout=60.0,
                drain_timeout=7.5,
                work_time=60.0,
                max_late=2,
                reopen=False,
            ),
            self.parse(
                run=7,
                hosts=['a'],
                at_once='3',
                at_once_per_az=2,
                done_query='up',
                ready_query='down',
                seed_hosts=0,
                stopped='block',
                host_timeout=60,
                drain_timeout='7.5',
                work_time='60',
                max_late=2,
                reopen='False',
            ),
        )

    def test_aggregates(self) -> None:
        """They are the scope's, and nothing that a run is asked for."""
        self.assertEqual(self.parse(), self.parse(aggregates='a,b'))
        for value, expected in ((None, None), ('a, b', ['a', 'b'])):
            self.assertEqual(
                expected,
                maintenance_parameters.aggregates({'aggregates': value}),
            )

    @ddt.data(
        ('run', ''),
        ('run', 'a b'),
        ('run', True),
        ('run', 'r' * 65),
        ('run', 'a\n'),
        ('hosts', ''),
        ('hosts', [1.5]),
        ('aggregates', [True]),
        ('at_once', 0),
        ('at_once', 101),
        ('at_once', '2.5'),
        ('at_once', True),
        ('at_once', '9' * 4000),
        ('at_once_per_az', 0),
        ('seed_hosts', -1),
        ('max_late', 0),
        ('host_timeout', 0),
        ('host_timeout', 'nan'),
        ('drain_timeout', 'soon'),
        ('drain_timeout', False),
        ('work_time', 0),
        ('stopped', 'leave'),
        ('done_query', ' '),
        ('ready_query', 5),
        ('reopen', 'perhaps'),
        ('at_onec', 1),
    )
    @ddt.unpack
    def test_bad(self, name: str, value: Any) -> None:
        error = self.assertRaises(
            exceptions.ConfigurationError, self.parse, **{name: value}
        )
        self.assertIn(f'Audit parameter {name}: ', str(error))

    @ddt.data(*NEEDED)
    def test_missing(self, name: str) -> None:
        raw = {k: v for k, v in NEEDED.items() if k != name}
        error = self.assertRaises(
            exceptions.ConfigurationError, maintenance_parameters.parse, raw
        )
        self.assertIn(f'Audit parameter {name}: None is missing', str(error))

    def test_schema_has_no_defaults(self) -> None:
        """They would be written into stored audits."""
        for row in maintenance_parameters.schema()['properties'].values():
            self.assertNotIn('default', row)
