# SPDX-License-Identifier: Apache-2.0
"""The lab's hypervisor while a server goes to another cell.

It takes its time in each phase and fails where a rule of migrations.json
says so (see labkit.faults). Runs inside nova-compute only.
"""

import abc
import io
from typing import Any

from nova import context as nova_context
from nova import objects
from nova.compute import task_states
from nova.image import glance
from nova.virt import fake
from oslo_log import log as logging

from labkit import faults

LOG = logging.getLogger(__name__)
DISK_BYTES = 1024
"""Of each snapshot: the lab's servers have nothing on their disks."""


def is_hidden(instance: Any) -> bool:
    """Whether it is what Nova keeps of a server that has left this cell.

    Its guest must not come back here: it runs in the other cell.
    """
    return bool(instance.hidden) or (
        instance.task_state == task_states.RESIZE_MIGRATED
    )


class CellMovesDriver(fake.FakeDriverWithoutFakeNodes, abc.ABC):
    """The calls of a driver by which Nova takes a server to another cell."""

    def init_host(self, host: str) -> None:
        super().init_host(host)
        tracker = self.virtapi._compute.rt
        claim = tracker.resize_claim

        def resize_claim(context: Any, instance: Any, *rest: Any, **more: Any):
            if self._leaves_cell(instance):
                self._pass('claim', instance, instance.host, host)
            return claim(context, instance, *rest, **more)

        tracker.resize_claim = resize_claim

    @staticmethod
    def _leaves_cell(instance: Any) -> bool:
        """Of one that is claimed: its copy here is on no host yet."""
        return bool(instance.hidden)

    def power_off(
        self, instance: Any, timeout: int = 0, retry_interval: int = 0
    ) -> None:
        if instance.task_state == task_states.RESIZE_MIGRATING:
            self._pass_source('power-off', instance)
        super().power_off(instance, timeout, retry_interval)

    def snapshot(
        self, context: Any, instance: Any, image_id: str, update: Any
    ) -> None:
        """Upload a disk, whatever the snapshot is for."""
        if instance.task_state == task_states.RESIZE_MIGRATING:
            self._pass_source('snapshot', instance)
        super().snapshot(context, instance, image_id, update)
        glance.API().update(
            context,
            image_id,
            {
                'disk_format': 'raw',
                'container_format': 'bare',
                'properties': {},
            },
            io.BytesIO(b'\0' * DISK_BYTES),
        )

    def destroy(
        self, context: Any, instance: Any, *rest: Any, **more: Any
    ) -> None:
        if instance.task_state == task_states.RESIZE_MIGRATING:
            self._pass_source('destroy', instance)
        super().destroy(context, instance, *rest, **more)

    def spawn(
        self, context: Any, instance: Any, *rest: Any, **more: Any
    ) -> None:
        if instance.task_state == task_states.RESIZE_FINISH:
            self._pass('spawn', instance, instance.host, self._host)
            if instance.image_ref:  # the snapshot, for now
                disk = glance.API().download(context, instance.image_ref)
                LOG.info('A disk of %d bytes', sum(len(one) for one in disk))
        super().spawn(context, instance, *rest, **more)

    def cleanup(
        self, context: Any, instance: Any, *rest: Any, **more: Any
    ) -> None:
        if more.get('destroy_vifs') is False and is_hidden(instance):
            self._pass_source('confirm', instance)
        super().cleanup(context, instance, *rest, **more)

    def finish_revert_migration(
        self,
        context: Any,
        instance: Any,
        network_info: Any,
        migration: Any,
        block_device_info: Any = None,
        power_on: bool = True,
        share_info: Any = None,
    ) -> None:
        if not migration.cross_cell_move:
            super().finish_revert_migration(
                context, instance, network_info, migration, power_on=power_on
            )
            return
        to = migration.dest_compute
        self._pass('revert', instance, self._host, to)
        # The guest was destroyed; what it uses is counted again.
        self.spawn(
            context, instance, None, None, None, None, power_on=power_on
        )

    def _pass_source(self, phase: str, instance: Any) -> None:
        """A phase at the source, which is not told where it goes."""
        result = objects.MigrationList.get_by_filters(
            nova_context.get_admin_context(),
            {'instance_uuid': instance.uuid},
            sort_dirs=['desc'],
            sort_keys=['created_at'],
            limit=1,
        )
        to = result[0].dest_compute if result else None
        self._pass(phase, instance, self._host, to)

    def _pass(
        self, phase: str, instance: Any, source: str, destination: str | None
    ) -> None:
        self._hold(faults.seconds_of(phase), instance, source, destination)
        self._fail(phase, instance, source, destination)

    @abc.abstractmethod
    def _hold(self, key: str, instance: Any, *ends: Any) -> None:
        """Take the time that the rule says, and as long as it says so."""

    @abc.abstractmethod
    def _fail(self, where: str, instance: Any, *ends: Any) -> None:
        """Fail if the rule says so."""
