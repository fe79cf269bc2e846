# SPDX-License-Identifier: Apache-2.0
"""Hosts that are maintained: those of the small cloud, with their servers."""

from watcher.common import context
from watcher.decision_engine.audit import continuous

from kronos.extensions.maintenance.actions import hand_over
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base


class MaintainTestCase(base.KronosTestCase):
    """All hosts are in alpha; an audit maintains ``HOSTS`` as run r1.

    ``SERVERS`` says how many are on each host. A host is done once its name
    is in ``faulty`` of the cloud.
    """

    SERVERS = {'h1': 1, 'h2': 1}
    HOSTS = ('h1', 'h2')

    def CLOUD(self):  # noqa: N802
        hosts = [*self.SERVERS]
        return cloud.Cloud(
            hosts,
            {'alpha': hosts},
            [
                server
                for number, (host, count) in enumerate(self.SERVERS.items())
                for server in base.servers(host, 1 + 10 * number, count)
            ],
        )

    def setUp(self):
        super().setUp()
        self.set(
            'kronos',
            aggregates=['alpha'],
            max_retries=0,
            instance_cooldown=0,
            maintenance_done_query='faulty',
        )
        self.set(None, host='test-host')
        self.patch(hand_over, 'APART_SECONDS', 0.1)

    def maintain(self, force=False, **more):
        return self.create_audit(
            goal='kronos_maintenance',
            strategy='kronos_maintain',
            force=force,
            parameters={'hosts': [*self.HOSTS], 'run': 'r1', **more},
        )

    def execute(self, audit):
        """Let a CONTINUOUS audit run once."""
        audit.hostname = 'test-host'
        audit.save()
        continuous.ContinuousAuditHandler.execute_audit(
            audit, context.RequestContext(is_admin=True)
        )

    def closed_host(self):
        """The only host that is disabled."""
        [host] = [
            name
            for name, row in self.cloud.services.items()
            if row['status'] == 'disabled'
        ]
        return host
