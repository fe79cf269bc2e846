# SPDX-License-Identifier: Apache-2.0
"""The hypervisor of the lab: it keeps guests and takes its time.

Runs inside nova-compute only. How long a live migration takes, where it
waits and how it ends is read from migrations.json again and again while it
goes on, for example::

    {"default": {"seconds": 1},
     "source:cmp1": {"queued_seconds": 30},
     "destination:cmp2": {"end": "failed"},
     "web-1": {"seconds": 20, "stall_at": 0.5}}

A rule for the server's name or uuid wins over one for the destination, that
over one for the source, that over the default. The keys are in faults.py.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

import nova.conf
from nova import context as nova_context
from nova import exception, objects
from nova.compute import power_state
from oslo_log import log as logging

from labkit import faults, passes, releases, topology
from labkit.cells import hypervisor

try:  # since Nova 34
    from nova import thread_pool_factory
except ImportError:
    thread_pool_factory = None

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)
TICK = 0.25
SAVE_SECONDS = 1.0
GIB = 1024**3
COMES_SECONDS = 30.0
"""Within this Nova queues a migration whose checks have passed."""


class Transfer:
    """A live migration under way, as the requests to end it see it."""

    def __init__(self, destination: str) -> None:
        self.destination = destination
        self.wake = threading.Event()
        self.aborted = False
        self.forced = False
        self.share = 0.0
        """Of what there was to send at first."""
        self.end: int | None = None
        """Bytes at which one that is forced is over."""

    def abort(self) -> None:
        self.aborted = True
        self.wake.set()

    def force(self) -> None:
        self.forced = True
        self.wake.set()


class LabDriver(hypervisor.CellMovesDriver):
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
        result = objects.InstanceList.get_by_host(
            context, host, expected_attrs=['flavor']
        )
        for instance in result:
            if instance.vm_state == 'building' or hypervisor.is_hidden(
                instance
            ):
                continue
            self.spawn(context, instance, None, None, None, None)
            if instance.power_state != power_state.RUNNING:
                self.instances[instance.uuid].state = instance.power_state

    def get_host_uptime(self) -> str:
        days = int((time.time() - self._born) / 86400)
        return f' up {days} days, 0:00, 0 users, load average: 0.0, 0.0, 0.0'

    def get_available_resource(self, nodename: str) -> Any:
        result = super().get_available_resource(nodename)
        result['hypervisor_version'] = releases.of(self._host).version
        return result

    def pause(self, instance: Any) -> None:
        self._guest(instance).state = power_state.PAUSED

    def unpause(self, instance: Any) -> None:
        self._guest(instance).state = power_state.RUNNING

    def _guest(self, instance: Any) -> Any:
        if instance.uuid not in self.instances:
            raise exception.InstanceNotFound(instance_id=instance.uuid)
        return self.instances[instance.uuid]

    # Before: the conductor asks the destination, that asks the source

    def check_can_live_migrate_destination(
        self, context: Any, instance: Any, *rest: Any, **more: Any
    ) -> Any:
        source = instance.host
        self._hold('accepted_seconds', instance, source, self._host)
        self._fail('destination-check', instance, source, self._host)
        self._fail('destination-crash', instance, source, self._host)
        result = super().check_can_live_migrate_destination(
            context, instance, *rest, **more
        )
        result.filename = self._host  # tells the source where it goes
        return result

    def check_can_live_migrate_source(
        self, context: Any, instance: Any, found: Any, *rest: Any
    ) -> Any:
        destination = found.filename
        self._fail('source-check', instance, self._host, destination)
        rule = faults.rule_for(instance, self._host, destination)
        if rule.get('queued_seconds', 0) != 0:
            self._occupy_slot(instance, destination)
        return super().check_can_live_migrate_source(
            context, instance, found, *rest
        )

    def _occupy_slot(self, instance: Any, destination: str) -> None:
        """Let this host's only slot be taken, as by another migration."""
        waiting = self.virtapi._compute._waiting_live_migrations
        begin = time.monotonic()
        came = False

        def over() -> bool:
            """It was aborted, or never came."""
            nonlocal came
            came = came or instance.uuid in waiting
            late = time.monotonic() - begin > COMES_SECONDS
            return instance.uuid not in waiting if came else late

        def hold() -> None:
            self._hold(
                'queued_seconds', instance, self._host, destination, over
            )

        if thread_pool_factory is None:
            executor = self.virtapi._compute._live_migration_executor
            for _ in range(CONF.max_concurrent_live_migrations):
                executor.submit(hold)
            return
        kind = thread_pool_factory.ExecutorType.LIVE_MIGRATION
        for _ in range(thread_pool_factory.ExecutorsPoolSize.get(kind)):
            thread_pool_factory.spawn_on(kind, hold)

    def pre_live_migration(
        self, context: Any, instance: Any, *rest: Any
    ) -> Any:
        source = instance.host
        self._hold('preparing_seconds', instance, source, self._host)
        self._fail('pre', instance, source, self._host)
        return super().pre_live_migration(context, instance, *rest)

    def _hold(
        self,
        key: str,
        instance: Any,
        source: str,
        destination: str,
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take the time that the rule says, and as long as it says so."""
        begin = time.monotonic()
        while not over():
            seconds = faults.rule_for(instance, source, destination).get(
                key, 0
            )
            passed = time.monotonic() - begin
            if seconds is not None and passed >= seconds:
                return
            time.sleep(TICK)

    def _fail(
        self, where: str, instance: Any, source: str, destination: str
    ) -> None:
        rule = faults.rule_for(instance, source, destination)
        if rule.get('fail') == where:
            reason = faults.BROKEN.format(where)
            if where == 'destination-check':  # as drivers refuse a server
                raise exception.MigrationPreCheckError(reason=reason)
            raise exception.NovaException(reason)

    # During

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
        transfer = self._transfers[instance.uuid] = Transfer(dest)
        try:
            end = self._transfer(instance, migrate_data.migration, transfer)
            if end == 'error':
                raise exception.NovaException('the lab was told to break this')
            if end in ('lost', 'stayed'):
                _pretend(instance, migrate_data.migration, end == 'stayed')
            elif end == 'completed':
                post_method(
                    context, instance, dest, block_migration, migrate_data
                )
            else:
                recover_method(
                    context,
                    instance,
                    dest,
                    migrate_data,
                    migration_status=end,
                )
        finally:
            del self._transfers[instance.uuid]

    def _transfer(
        self, instance: Any, migration: Any, transfer: Transfer
    ) -> str:
        """Take the time, and report progress as libvirt's driver does.

        :returns: how it ends
        """
        saved, last = 0.0, time.monotonic()
        while not transfer.aborted:
            rule = faults.rule_for(instance, self._host, transfer.destination)
            copy = _copy(instance, rule['writes'])
            now = time.monotonic()
            if rule['seconds'] is not None:
                transfer.share += (now - last) / max(rule['seconds'], 1e-9)
            last = now
            if _is_over(rule, copy, transfer):
                return str(rule['end'])
            sent = int(transfer.share * copy.total)
            if transfer.forced and transfer.end is None:
                left = copy.figures(sent)['memory_remaining']
                transfer.end = sent + left
                self._force(instance, migration, rule)
            if now - saved >= SAVE_SECONDS:
                left = None if transfer.end is None else transfer.end - sent
                _save_progress(migration, copy.figures(sent, left))
                saved = now
            transfer.wake.wait(TICK)
            transfer.wake.clear()
        if self._guest(instance).state == power_state.PAUSED:
            self.unpause(instance)
        return 'cancelled'

    def _force(self, instance: Any, migration: Any, rule: Any) -> None:
        if rule.get('post_copy'):
            migration.status = 'running (post-copy)'
            migration.save()
        else:
            self.pause(instance)

    def live_migration_abort(self, instance: Any) -> None:
        if instance.uuid in self._transfers:
            self._transfers[instance.uuid].abort()

    def live_migration_force_complete(self, instance: Any) -> None:
        if instance.uuid in self._transfers:
            self._transfers[instance.uuid].force()

    # After

    def post_live_migration(
        self,
        context: Any,
        instance: Any,
        block_device_info: Any,
        migrate_data: Any = None,
    ) -> None:
        """The guest has left this host."""
        self.destroy(context, instance, None, block_device_info)
        destination = self._transfers[instance.uuid].destination
        self._fail('post-source', instance, self._host, destination)

    def post_live_migration_at_destination(
        self, context: Any, instance: Any, *rest: Any
    ) -> None:
        """The guest has come to this host."""
        super().post_live_migration_at_destination(context, instance, *rest)
        source = instance.host
        self._hold('post_seconds', instance, source, self._host)
        self._fail('post-destination', instance, source, self._host)


def _pretend(instance: Any, migration: Any, idle: bool) -> None:
    """Call it completed while the server is where it was.

    Some deployments have seen that; nothing else is cleaned up.
    """
    migration.status = 'completed'
    migration.save()
    if idle:
        instance.task_state = None
        instance.save()


def _copy(instance: Any, writes: float) -> passes.Copy:
    flavor = instance.flavor
    return passes.Copy(
        flavor.memory_mb * 1024 * 1024,
        (flavor.root_gb + flavor.ephemeral_gb) * GIB,
        writes,
    )


def _is_over(rule: Any, copy: passes.Copy, transfer: Transfer) -> bool:
    """Whether it has come to its end, or to where it is to fail.

    It stands still where the rule says so, however long that takes.
    """
    fails = rule['end'] in ('failed', 'error')
    stop = rule.get('fail_at') if fails else None
    if stop is None and transfer.end is not None:
        stop = transfer.end / copy.total
    elif stop is None:
        stop = 1.0 if copy.writes < 1 else float('inf')
    stall = rule.get('stall_at')
    if stall is not None and stall <= stop:
        transfer.share = min(transfer.share, stall)
        return False
    return transfer.share >= stop


def _save_progress(migration: Any, figures: dict[str, int]) -> None:
    """Write bytes of memory and disks; nothing if they are what they were."""
    # What is set counts as changed, whatever it was before.
    if any(getattr(migration, name) != figures[name] for name in figures):
        for name, value in figures.items():
            setattr(migration, name, value)
        migration.save()
