# SPDX-License-Identifier: Apache-2.0
"""What does a hypervisor of the lab do? It keeps guests and takes its time.

Runs inside nova-compute only. How long a live migration takes and how it
ends is read from migrations.json at each move, for example::

    {"default": {"seconds": 1},
     "source:cmp1": {"seconds": 30},
     "destination:cmp2": {"end": "failed"},
     "web-1": {"end": "error"}}

``end`` is "completed", "failed" (rolled back; the server stays ACTIVE) or
"error" (an exception; Nova puts the server into ERROR). A rule for the
server's name or uuid wins over one for the destination, that over one for
the source, that over the default.
"""

import threading
import time
from typing import Any

import nova.conf
from nova import context as nova_context
from nova import exception, objects
from nova.compute import power_state
from nova.virt import fake
from oslo_log import log as logging

from labkit import layout, topology

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)
DEFAULT_SECONDS = 1.0


def rule_for(
    rules: dict[str, Any], instance: Any, source: str, destination: str
) -> dict[str, Any]:
    """How this migration goes: the most specific rule, over the default."""
    chosen = {'seconds': DEFAULT_SECONDS, 'end': 'completed'}
    for key in (
        'default',
        f'source:{source}',
        f'destination:{destination}',
        instance.display_name,
        instance.uuid,
    ):
        chosen.update(rules.get(key, {}))
    return chosen


class Transfer:
    """A live migration under way, as the requests to end it see it."""

    def __init__(self) -> None:
        self.wake = threading.Event()
        self.aborted = False

    def finish(self, aborted: bool) -> None:
        self.aborted = aborted
        self.wake.set()


class LabDriver(fake.FakeDriverWithoutFakeNodes):
    """A host of the lab's topology."""

    def __init__(self, virtapi: Any, read_only: bool = False) -> None:
        size = topology.HOSTS[CONF.host]
        self.vcpus = size.cores
        self.memory_mb = size.memory_mb
        self.local_gb = size.disk_gb
        super().__init__(virtapi, read_only)
        self._transfers: dict[str, Transfer] = {}
        self._born = time.time()

    def init_host(self, host: str) -> None:
        """Start, with the guests that were here before a restart."""
        super().init_host(host)
        context = nova_context.get_admin_context()
        found = objects.InstanceList.get_by_host(
            context, host, expected_attrs=['flavor']
        )
        for instance in found:
            if instance.vm_state == 'building':
                continue
            self.spawn(context, instance, None, None, None, None)
            if instance.power_state != power_state.RUNNING:
                self.instances[instance.uuid].state = instance.power_state

    def get_host_uptime(self) -> str:
        days = int((time.time() - self._born) / 86400)
        return f' up {days} days, 0:00, 0 users, load average: 0.0, 0.0, 0.0'

    def pause(self, instance: Any) -> None:
        self._guest(instance).state = power_state.PAUSED

    def unpause(self, instance: Any) -> None:
        self._guest(instance).state = power_state.RUNNING

    def _guest(self, instance: Any) -> Any:
        if instance.uuid not in self.instances:
            raise exception.InstanceNotFound(instance_id=instance.uuid)
        return self.instances[instance.uuid]

    def live_migration(
        self,
        context: Any,
        instance: Any,
        dest: str,
        post_method: Any,
        recover_method: Any,
        block_migration: bool = False,
        migrate_data: Any = None,
    ) -> None:
        rules = layout.read_json(layout.MIGRATIONS)
        rule = rule_for(rules, instance, self._host, dest)
        transfer = self._transfers[instance.uuid] = Transfer()
        try:
            self._transfer(instance, migrate_data, transfer, rule)
        finally:
            del self._transfers[instance.uuid]
        if transfer.aborted:
            recover_method(
                context,
                instance,
                dest,
                migrate_data,
                migration_status='cancelled',
            )
        elif rule['end'] == 'error':
            raise exception.NovaException('the lab was told to break this')
        elif rule['end'] == 'failed':
            recover_method(context, instance, dest, migrate_data)
        else:
            post_method(context, instance, dest, block_migration, migrate_data)

    def _transfer(
        self,
        instance: Any,
        migrate_data: Any,
        transfer: Transfer,
        rule: dict[str, Any],
    ) -> None:
        """Take the time, and report progress as libvirt's driver does."""
        seconds = float(rule['seconds'])
        begin = time.monotonic()
        migration = migrate_data.migration
        total = instance.flavor.memory_mb * 1024 * 1024
        while (passed := time.monotonic() - begin) < seconds:
            done = int(total * passed / seconds)
            migration.memory_total = total
            migration.memory_processed = done
            migration.memory_remaining = total - done
            migration.save()
            if transfer.wake.wait(min(seconds - passed, 2.0)):
                return

    def live_migration_abort(self, instance: Any) -> None:
        if instance.uuid in self._transfers:
            self._transfers[instance.uuid].finish(aborted=True)

    def live_migration_force_complete(self, instance: Any) -> None:
        if instance.uuid in self._transfers:
            self._transfers[instance.uuid].finish(aborted=False)

    def post_live_migration(
        self,
        context: Any,
        instance: Any,
        block_device_info: Any,
        migrate_data: Any = None,
    ) -> None:
        """The guest has left this host."""
        self.destroy(context, instance, None, block_device_info)
