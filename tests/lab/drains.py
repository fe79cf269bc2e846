# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios of drains share? An even cloud, a host disabled."""

from typing import Any, ClassVar

from tests.lab import base
from tests.lab.base import Wanted

CORES, MEMORY_MB = 0.5, 1500
PER_HOST = 3


class DrainTestCase(base.LabTestCase):
    options: ClassVar = {'cooldown': base.WINDOW_SECONDS + 5}

    def even(self, drained: str, *others: str) -> dict[str, str]:
        """A cloud with nothing to even out, and a locked server."""
        wanted = [
            Wanted(f'{host}-{n}', host, CORES, MEMORY_MB)
            for host in (drained, *others)
            for n in range(PER_HOST)
        ]
        wanted.append(Wanted('kept', drained, CORES, MEMORY_MB))
        uuids = self.boot(wanted)
        self.openstack(f'server lock {uuids["kept"]}')
        return uuids

    def disable(self, host: str) -> None:
        self.openstack(f'compute service set --disable {host} nova-compute')

    def left_on(self, host: str) -> list[str]:
        return sorted(
            name
            for name, where in self.cloud.placement().items()
            if where == host
        )

    def check_actions(
        self, actions: list[dict[str, Any]], source: str, closed: set[str]
    ) -> None:
        self.assertEqual({'evacuate'}, self.phases(actions))
        for row in actions:
            given = row['input_parameters']
            self.assertEqual(source, given['source_node'])
            self.assertIn(given['destination_node'], base.ALPHA)
            self.assertNotIn(given['destination_node'], closed)

    def message(self, audit: dict[str, Any]) -> str:
        url = f'/v1/audits/{audit["UUID"]}'
        return str(self.cloud.watcher(url)['status_message'] or '')
