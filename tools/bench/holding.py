# SPDX-License-Identifier: Apache-2.0
"""The slots that are left after new servers, with and without a hold.

A cloud as a plan leaves it that has made room: full hosts, and one slot on
each of some others. Small servers arrive, one after the other, and Nova's own
handler of weighers places each of them.
"""

import importlib.util
import random
import statistics
import tempfile
from typing import Any

from bench import processes, table, weighing
from kronos.engine.types import Flavor

HOSTS = 300
SLOTS = 60
ARRIVALS = (100, 200)
SEED = 5
FULL = 0.9
"""Share of a host's vCPUs that is in use, outside of the slots."""
WATCHED = Flavor('large', 'large', 16, 64 * 1024)
SIZES = (
    (1, 2, 18),
    (2, 4, 22),
    (4, 8, 20),
    (8, 16, 12),
    (2, 8, 8),
    (4, 16, 6),
    (8, 32, 4),
    (2, 16, 3),
    (4, 32, 2),
)
"""vCPUs and GiB of servers that arrive, and how often they do."""
VCPUS, GIB = 96, 240
COLUMNS = {
    'weighers': ('weighers', 's'),
    'slots': ('slots', 'd'),
    'after_100': ('after 100', 'd'),
    'after_200': ('after 200', 'd'),
    'refused': ('no host', 'd'),
    'alone_ms': ('alone ms', '.3f'),
    'held_ratio': ('in ratio', '.1f'),
}
LEGEND = (
    f'{HOSTS} hosts; slots of 16 vCPUs and 64 GiB after so many arrivals; '
    'alone: our weigh_objects, and in ratio to the same without slot_weight'
)
CASES = (
    ("Nova's", False, 0.0),
    ("Nova's and ours", True, 0.0),
    ('with slot_weight = 1', True, 1.0),
)


def rows() -> list[dict[str, Any]]:
    """A row for each set of weighers; none without Nova."""
    if importlib.util.find_spec('nova') is None:
        return []
    return [
        processes.run(
            'bench.holding', name=name, is_ours=is_ours, slot_weight=weight
        )
        for name, is_ours, weight in CASES
    ]


def text(found: list[dict[str, Any]]) -> str:
    if not found:
        return 'holding: not measured, Nova is not installed in this Python'
    return f'{table.text(COLUMNS, found)}\n{LEGEND}'


def measured(
    name: str,
    is_ours: bool,
    slot_weight: float,
    hosts: int = HOSTS,
    arrivals: int = max(ARRIVALS),
    rounds: int = 41,
) -> dict[str, Any]:
    """The slots that are left after the arrivals.

    :param is_ours: whether the weigher of Kronos takes part
    """
    cloud = _Cloud(hosts, random.Random(SEED))
    with tempfile.TemporaryDirectory() as folder:
        hold = weighing.Hold(slot_weight, WATCHED)
        with weighing.Rig(hosts, folder, cloud.load, hold) as rig:
            cloud.fill(rig.states)
            rig.refresh()
            row = {'weighers': name, 'slots': cloud.slots(), 'refused': 0}
            for number in range(1, arrivals + 1):
                row['refused'] += not cloud.arrive(rig, is_ours)
                if number in ARRIVALS:
                    row[f'after_{number}'] = cloud.slots()
            if is_ours:
                took = [rig.weigh() for _ in range(rounds)]
                row['alone_ms'] = statistics.median(took) * 1e3
            if slot_weight:
                row['held_ratio'] = rig.held(3 * rounds)
    return row


class _Cloud:
    """Hosts whose numbers are those of the rig."""

    def __init__(self, hosts: int, chance: random.Random) -> None:
        self._chance = chance
        self._states: list[Any] = []
        self._with_slot = set(chance.sample(range(hosts), hosts // 5))
        self._used = [self._filled(number) for number in range(hosts)]

    def _filled(self, number: int) -> tuple[int, int]:
        """vCPUs and GiB in use on a host."""
        has_slot = number in self._with_slot
        vcpus = VCPUS - has_slot * WATCHED.vcpus
        gib = GIB - has_slot * WATCHED.memory_mb // 1024
        used = [0, 0]
        while used[0] < FULL * vcpus:
            size = self._size()
            if used[0] + size[0] > vcpus or used[1] + size[1] > gib:
                break
            used = [used[0] + size[0], used[1] + size[1]]
        return used[0], used[1]

    def _size(self) -> tuple[int, int]:
        [(vcpus, gib, _)] = self._chance.choices(
            SIZES, [often for _, _, often in SIZES]
        )
        return vcpus, gib

    def load(self, number: int) -> float:
        """Of a host, by what is in use there."""
        return 0.7 * self._used[number][0] / VCPUS

    def fill(self, states: list[Any]) -> None:
        self._states = states
        for state, (vcpus, gib) in zip(states, self._used, strict=True):
            state.vcpus_total, state.cpu_allocation_ratio = VCPUS, 1.0
            state.vcpus_used = vcpus
            state.total_usable_ram_mb = GIB * 1024
            state.free_ram_mb = (GIB - gib) * 1024

    def slots(self) -> int:
        return sum(
            min(
                (VCPUS - state.vcpus_used) // WATCHED.vcpus,
                state.free_ram_mb // WATCHED.memory_mb,
            )
            for state in self._states
        )

    def arrive(self, rig: weighing.Rig, is_ours: bool) -> bool:
        """Place a small server; whether there is a host for it."""
        vcpus, gib = self._size()
        taking = [
            state
            for state in self._states
            if state.vcpus_used + vcpus <= VCPUS
            and state.free_ram_mb >= gib * 1024
        ]
        if not taking:
            return False
        best = rig.best(taking, weighing.spec(vcpus, gib * 1024), is_ours)
        best.vcpus_used += vcpus
        best.free_ram_mb -= gib * 1024
        best.num_instances += 1
        return True


if __name__ == '__main__':
    processes.answer(measured(**processes.wanted()))
