# SPDX-License-Identifier: Apache-2.0
"""Do the slots of a plan stand if Nova's own code carries its moves out?

Random clouds are filled by Nova's ``numa_fit_instance_to_host``, which then
decides about each move of a plan, and about the new servers.
"""

from collections.abc import Iterator, Sequence

from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.slots.numa_nodes import NodeLayout
from kronos.engine.types import AggregateResult, Flavor
from kronos.extensions.room import room
from kronos.extensions.room.extension import MakeRoom
from kronos.extensions.room.room import RoomRequest
from tests.builders import policies
from tests.functional.nova import numa_base
from tests.functional.nova.numa_cloud import NovaCloud

MOVES = 8


def flavor(cpus: int, nodes: int, pinned: bool) -> Flavor:
    """With 1,000 MiB a CPU.

    :param nodes: 0: it has no NUMA topology
    """
    return numa_base.flavor(cpus, 1000 * cpus, nodes, pinned)


class TestPlans(numa_base.NumaTestCase):
    HOSTS = 'abcdefgh'
    SEEDS = 5

    def clouds(
        self, pinned: bool, packing: bool, others: Sequence[int] = ()
    ) -> Iterator[NovaCloud]:
        """Ten of them.

        :param others: CPUs of further servers, without a topology
        """
        mix = [flavor(cpus, 1, pinned) for cpus in (2, 4, 6)]
        mix.append(flavor(8, 2, pinned))
        mix += [flavor(cpus, 0, False) for cpus in others]
        for nodes in (2, 4):
            yield from self.filled(nodes, packing, pinned, mix)

    def plan(self, cloud: NovaCloud, wanted: Flavor) -> AggregateResult:
        request = RoomRequest(flavor=wanted.name, max_migrations=MOVES)
        return self.planned(cloud, request, wanted)

    def planned(
        self, cloud: NovaCloud, request: RoomRequest, *wanted: Flavor
    ) -> AggregateResult:
        settings = Settings(allowed_extra_specs=['hw:*'])
        settings.extension = MakeRoom(request)
        settings.extension.prepare(settings)
        snapshot = cloud.snapshot({each.name: each for each in wanted})
        planned = propose.plan(
            [snapshot], [policies.policy('cpu')], settings, max_concurrent=2
        )
        (result,) = planned.report.scopes
        return result

    def carried_out(
        self, pinned: bool, packing: bool, assumed: bool
    ) -> tuple[int, int, int]:
        """Slots that plans gain and that stand, and moves Nova refuses.

        :param assumed: ``packing`` in numa_cells
        """
        promised = standing = refused = 0
        for wanted in (flavor(10, 1, pinned), flavor(16, 2, pinned)):
            for cloud in self.clouds(pinned, packing):
                layout = cloud.layout
                cloud.layout = NodeLayout(
                    layout.nodes, layout.cpus, layout.memory_mb, assumed
                )
                result = self.plan(cloud, wanted)
                outcome = room.outcome_of(result)
                assert outcome is not None
                before, after = (
                    outcome.before[wanted.name],
                    outcome.after[wanted.name],
                )
                for step in result.steps:
                    refused += not cloud.move(step.instance, step.destination)
                promised += after - before
                self.assertLessEqual(after, outcome.bound or 0)
                standing += cloud.slots(wanted) - before
        return promised, standing, refused

    def test_as_configured(self) -> None:
        """Every slot stands, and Nova refuses no move."""
        for pinned in (True, False):
            for packing in (False, True):
                promised, standing, refused = self.carried_out(
                    pinned, packing, packing
                )
                self.assertEqual((promised, 0), (standing, refused))
                self.assertGreater(promised, 50)

    def test_jointly(self) -> None:
        """Nova carries each move out, and then has room for all at once."""
        for pinned in (True, False):
            for packing in (False, True):
                large, small = flavor(16, 2, pinned), flavor(10, 1, pinned)
                made = [
                    self.is_made(cloud, large, small)
                    for cloud in self.clouds(pinned, packing)
                ]
                self.assertGreater(sum(made), 5, (pinned, packing))

    def test_with_a_flavor_without_topology(self) -> None:
        large, small = flavor(16, 2, False), flavor(20, 0, False)
        for packing in (False, True):
            made = [
                self.is_made(cloud, large, small)
                for cloud in self.clouds(False, packing, others=(3, 7))
            ]
            self.assertGreater(sum(made), 5, packing)

    def is_made(self, cloud: NovaCloud, large: Flavor, small: Flavor) -> bool:
        """Whether room is made for one more large server, and two small ones.

        A plan has to be right.
        """
        number = 1 + cloud.number_of(large)
        request = RoomRequest(
            flavors={small.name: 2, large.name: number},
            max_migrations=2 * MOVES,
        )
        result = self.planned(cloud, request, small, large)
        outcome = room.outcome_of(result)
        assert outcome is not None
        if not result.steps:
            self.assertTrue(outcome.nearest)
            return False
        for step in result.steps:
            self.assertTrue(cloud.move(step.instance, step.destination))
        wanted = [large] * number, [small] * 2
        self.assertTrue(
            cloud.has_room([*wanted[0], *wanted[1]])
            or cloud.has_room([*wanted[1], *wanted[0]])
        )
        return True

    def test_otherwise(self) -> None:
        """Fewer stand if Nova does not choose nodes as configured."""
        for packing in (False, True):
            promised, standing, refused = self.carried_out(
                True, packing, not packing
            )
            self.assertLess(standing, promised)
