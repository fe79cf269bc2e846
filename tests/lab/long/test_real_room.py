# SPDX-License-Identifier: Apache-2.0
"""Real guests move so that larger ones can be created."""

from typing import ClassVar

from tests.lab import base, real, rooms

from labkit.real import topology  # isort: skip

NUMBER = 2
LARGE, LARGE_MB = 'real.256', 256
FILLER, FILLER_MB = 'real.896', 896
"""With a small guest, it leaves 128 MiB of 1,152, as much as a small one has.
"""


class TestReal(real.RealTestCase, rooms.RoomTestCase):
    options: ClassVar = {
        **real.RealTestCase.options,
        **rooms.RoomTestCase.options,
    }
    number: ClassVar = len(topology.NAMES)
    aggregate: ClassVar = topology.AGGREGATE
    scope_hosts: ClassVar = topology.NAMES
    large: ClassVar = LARGE
    image: ClassVar = 'real-guest'

    def test_guests_answer_throughout(self) -> None:
        """Two small guests move, and two larger ones start."""
        self.add_flavor(LARGE, 1, LARGE_MB)
        self.add_flavor(FILLER, 1, FILLER_MB)
        self.cloud.boot_all(
            base.Wanted(
                f'{host}-filler', host, flavor=FILLER, image=self.image
            )
            for host in self.scope_hosts
        )
        names = [f'{host}-small' for host in self.scope_hosts]
        self.boot_guests({name: name.partition('-')[0] for name in names})
        self.wait_for_samples(self.cloud.servers().values())
        self.assert_refused()
        plan, actions = self.make_room(NUMBER)
        self.assertEqual(NUMBER, len(actions))
        self.carried_out(plan)
        self.assert_alive(*names)
        self.assert_taken(NUMBER)
        self.assert_alive(*names)
