# SPDX-License-Identifier: Apache-2.0
"""Which guest writes how much to memory?"""

import math
from typing import Any

from oslotest import base

from kronos.engine.scoring import dirty_rates
from kronos.engine.settings import HostMatch
from kronos.engine.types import Instance, Reading, Sample
from kronos.policies.models import DirtyRateQuery, LabelType

HOSTS = ['a', 'b']
INSTANCES = [
    Instance('u1', 'a', 'web', 'instance-1'),
    Instance('u2', 'a', 'db', 'instance-2'),
    Instance('u3', 'b', 'web', 'instance-1'),
]


def sample(
    label: str, value: float, host: str = '', at: float = 1.0
) -> Sample:
    series = f'{{host="{host}",uuid="{label}"}}' if host else ''
    return Sample(label, value, at, series)


class TestRates(base.BaseTestCase):
    def rates(
        self, *samples: Sample, kind: Any = LabelType.NOVA_INTERNAL_NAME
    ) -> dict[str, float]:
        return dirty_rates.of(
            Reading('q', samples=list(samples)),
            DirtyRateQuery('q', 'uuid', kind),
            INSTANCES,
            HOSTS,
            HostMatch.SHORT,
        )

    def test_each_kind_of_name(self) -> None:
        for kind, label in (
            (LabelType.NOVA_INSTANCE_UUID, 'u2'),
            (LabelType.NOVA_INTERNAL_NAME, 'instance-2'),
            (LabelType.NOVA_DISPLAY_NAME, 'db'),
        ):
            found = self.rates(sample(label, 5.0), kind=kind)
            self.assertEqual({'u2': 5.0}, found, kind)

    def test_one_name_of_several(self) -> None:
        """The host says which of them is meant; else none is."""
        self.assertEqual({}, self.rates(sample('instance-1', 5.0)))
        found = self.rates(
            sample('instance-1', 5.0, 'b.example:9177'),
            sample('instance-1', 7.0, 'elsewhere'),
        )
        self.assertEqual({'u3': 5.0}, found)

    def test_the_newest_then_the_largest(self) -> None:
        """What the source of a migration told is old."""
        found = self.rates(
            sample('instance-2', 9.0, 'b', at=1.0),
            sample('instance-2', 3.0, 'a', at=2.0),
            sample('instance-2', 4.0, 'a', at=2.0),
        )
        self.assertEqual({'u2': 4.0}, found)

    def test_what_says_nothing(self) -> None:
        found = self.rates(
            sample('instance-2', math.nan),
            sample('instance-2', math.inf),
            sample('instance-2', -1.0),
            sample('stranger', 1.0),
            sample('', 1.0),
        )
        self.assertEqual({}, found)
