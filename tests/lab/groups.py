# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios of server groups share? Groups that are broken."""

from typing import Any

from tests.lab import base
from tests.lab.base import Wanted

CORES, MEMORY_MB = 0.5, 1500


class GroupsTestCase(base.LabTestCase):
    """Of another project than that of Watcher's user."""

    def setUp(self) -> None:
        super().setUp()
        self.tenant = self.lab.cloud_of('tenant')

    def forced(
        self, name: str, policy: str, hosts: list[str], **more: Any
    ) -> dict[str, str]:
        """Members of a group where its policy does not allow them."""
        group = self.tenant.group(name, policy)
        made = self.tenant.boot_all(
            Wanted(f'{name}-{n}', host, CORES, MEMORY_MB, group=group, **more)
            for n, host in enumerate(hosts)
        )
        return {server['name']: server['id'] for server in made}

    def no_checks(self, hosts: list[str]) -> None:
        self.addCleanup(self.lab.check_groups, hosts, True)
        self.lab.check_groups(hosts, False)
