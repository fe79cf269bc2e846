# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios of budgets share? A project that has no past."""

import uuid
from typing import Any

from tests.lab import base

from labkit import cleaning  # isort: skip


class TenantTestCase(base.LabTestCase):
    """The servers of earlier scenarios were of other projects."""

    def setUp(self) -> None:
        super().setUp()
        name = f'tenant-{uuid.uuid4().hex[:8]}'
        self.tenant = self.lab.cloud_of(name)
        identity = self.lab.connection().identity
        project = identity.find_project(name)
        self.addCleanup(identity.delete_project, project)
        self.addCleanup(cleaning.reset, self.cloud)

    def spread(
        self, aggregate: str = 'alpha', more: str = ''
    ) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
        """An audit that takes as many moves as it may."""
        parameters = f'aggregates={aggregate} max_migrations=20'
        audit, plan, actions = self.audited(parameters, more)
        self.assertLessEqual(self.phases(actions), {'spread'})
        return audit, plan, actions

    def by_hand(self, server: str, host: str) -> None:
        """Migrate a server as an operator does, until it is there."""
        self.openstack(
            'server migrate --live-migration --os-compute-api-version 2.30 '
            f'--host {host} --wait {server}'
        )

    def assert_used_up(
        self, audit: dict[str, Any], budget: str, servers: set[str]
    ) -> None:
        """The report has the budget as the reason why each server stays.

        :param servers: uuids
        """
        stayed = self.report(audit)['stayed']
        for server in servers:
            self.assertIn(f'{budget} of its ', stayed[server])
            self.assertIn(' is used up: ', stayed[server])
            self.assertIn('; it is free again at ', stayed[server])
