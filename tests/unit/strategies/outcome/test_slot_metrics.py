# SPDX-License-Identifier: Apache-2.0
"""An audit shows the slots of watched flavors, and of no others."""

from kronos.engine.settings import Settings
from kronos.engine.types import CycleReport
from kronos.strategies.outcome import audit_metrics, slot_metrics
from tests.builders import numa, policies
from tests.unit.engine.slots import test_counting
from tests.unit.metrics import measured
from tests.unit.strategies.outcome import test_status_messages


class TestSlotMetrics(measured.MeasuredTestCase):
    def show(self, *watched: str) -> None:
        snapshot = test_counting.snapshot(a=(9, 16), b=(7, 90))
        result = test_status_messages.scope()
        snapshot.scope = result.name
        for name, specs in (('f4', {}), ('numa', {'hw:numa_nodes': '2'})):
            snapshot.instances[name] = policies.instance(
                name,
                'a',
                vcpus=4,
                memory_mb=8,
                flavor=name,
                extra_specs=specs,
            )
        audit_metrics.planned(
            CycleReport([result]), [snapshot], Settings(), {}, watched
        )

    def test_watched(self) -> None:
        self.show('f4', 'f4', 'numa', 'unheard-of')
        labels = 'alpha', 'f4'
        self.assertEqual({labels: 3}, self.values('kronos_slots'))
        self.assertEqual({labels: 4}, self.values('kronos_pooled_slots'))

    def test_none(self) -> None:
        self.show()
        self.assertEqual({}, self.values('kronos_slots'))


class TestNodes(measured.MeasuredTestCase):
    def test_numa(self) -> None:
        """Counted where the nodes of hosts are known."""
        scope = numa.scope({'a1': ('a', [(0, 4)])})
        gauges = [*slot_metrics.of_scope(scope, ['p8'], Settings())]
        self.assertEqual([3, 3], [gauge.value for gauge in gauges])
        scope.beside.clear()
        scope.instances['a1'].flavor = 'p8'
        self.assertEqual(
            [], [*slot_metrics.of_scope(scope, ['p8'], Settings())]
        )
