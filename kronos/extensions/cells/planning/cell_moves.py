# SPDX-License-Identifier: Apache-2.0
"""The moves to another cell: why a server must stay in the one it is in.

What Nova would refuse, what it would lose without a word, and what somebody
forbade. Limits that depend on the destination are not judged here.
"""

import functools
from collections.abc import Iterator

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.eligibility import instances
from kronos.engine.eligibility.instances import POWER_STATES, RUNNING
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, ServerGroup, Snapshot
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    POLICY,
    CellDrain,
    CrossCellPolicy,
    needs_of,
)
from kronos.extensions.cells.options import CellOptions
from kronos.extensions.cells.planning import flavors, unfinished_moves

AFFINITY = 'affinity'
STOPPED = 'SHUTOFF'
HOW_TO_LEAVE = {
    'PAUSED': 'unpause it',
    'SUSPENDED': 'resume it',
    'RESCUE': 'unrescue it',
    'ERROR': 'repair it: a hard reboot, or a reset of its state, may do',
    'SHELVED': 'unshelve it',
    'SHELVED_OFFLOADED': 'unshelve it while its cell still has a host that '
    'accepts servers',
    'RESIZE': 'wait until Nova has moved it, then confirm or revert that',
    'VERIFY_RESIZE': 'confirm or revert its resize',
    'REVERT_RESIZE': 'wait until Nova has taken it back',
}
"""What brings a server into a state in which it can be moved, by status."""


class CellMoves:
    """The rule of who may leave the cell that is emptied.

    :param settings: of an audit that empties one
    :raises ValueError: without one
    """

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        drain = cell_drain.of(settings)
        if drain is None:
            raise ValueError('no cell is emptied')
        self._snapshot, self._settings = snapshot, settings
        self._drain = drain

    def reasons(self, instance: Instance) -> list[Reason]:
        """Why an instance must stay, all of it, in a fixed order."""
        settings, drain = self._settings, self._drain
        if instance.uuid in self._unfinished:
            return [self._unfinished[instance.uuid]]
        # Whether a vTPM may go is said by itself.
        specs = [*settings.allowed_extra_specs, instances.TPM_SPECS]
        return [
            *instances.forbidden(instance, settings),
            *_state(instance, drain),
            *self._affinity(instance),
            *self._policy(instance),
            *self._flavor(instance),
            *_port(instance),
            *self._lossy(instance),
            *instances.special(instance, specs),
            *_snapshot(instance, settings),
        ]

    @functools.cached_property
    def _unfinished(self) -> dict[str, Reason]:
        """Of those whose move is not over, by uuid."""
        return {
            judged.move.instance: judged.reason
            for judged in unfinished_moves.judged(
                self._snapshot, self._settings
            )
        }

    def _policy(self, instance: Instance) -> Iterator[Reason]:
        """Nova refuses a resize late, when its hosts are closed already."""
        drain, state = self._drain, needs_of(self._snapshot).cell_policy
        if state is CrossCellPolicy.CLOSED:
            text = (
                'Nova lets no server leave its cell: the policy '
                f'{POLICY} is closed'
            )
            yield Reason(text, Code.CELL_POLICY)
        elif (
            state is CrossCellPolicy.UNKNOWN
            and drain.close_source
            and flavors.is_changed(instance, drain)
        ):
            text = (
                'its flavor changes, so close_source would disable hosts '
                f'before Nova is asked, and whether the policy {POLICY} lets '
                'servers leave their cell is not known: set '
                'nova_policy_files in [kronos]'
            )
            yield Reason(text, Code.CELL_POLICY)

    def _affinity(self, instance: Instance) -> Iterator[Reason]:
        for group in self._groups.get(instance.uuid, ()):
            name = wording.named(group.name, group.uuid)
            text = (
                f'it is in server group {name} of the policy affinity: Nova '
                'does not move its members to another cell'
            )
            yield Reason(text, Code.CELL_AFFINITY, group.uuid)

    @functools.cached_property
    def _groups(self) -> dict[str, list[ServerGroup]]:
        """Those of the policy affinity, by uuid of a member."""
        groups: dict[str, list[ServerGroup]] = {}
        for group in self._snapshot.groups:
            for uuid in group.members if group.policy == AFFINITY else ():
                groups.setdefault(uuid, []).append(group)
        return groups

    def _flavor(self, instance: Instance) -> Iterator[Reason]:
        name = self._drain.new_flavor(instance.flavor)
        if name is None:
            text = f'flavor_map has no entry for its flavor {instance.flavor}'
            yield Reason(text, Code.CELL_FLAVOR_UNMAPPED, instance.flavor)
            return
        if not flavors.is_changed(instance, self._drain):
            return
        new = needs_of(self._snapshot).flavors.get(name)
        if new is None:
            text = f'there is no flavor {name}, which flavor_map assigns to it'
            yield Reason(text, Code.CELL_FLAVOR_GONE, name)
        elif not instance.is_volume_backed and new.root_gb < instance.root_gb:
            text = (
                f'the root disk of flavor {name} has {new.root_gb} GiB, its '
                f'own has {instance.root_gb}'
            )
            yield Reason(text, Code.CELL_FLAVOR_TOO_SMALL, name)
        if self._open_hosts:
            text = (
                f'its flavor changes to {name}, and Nova resizes it inside '
                'the cell as long as a host there accepts servers: '
                f'{wording.some(self._open_hosts)}'
            )
            yield Reason(text, Code.CELL_RESIZE_INSIDE)

    def _lossy(self, instance: Instance) -> Iterator[Reason]:
        if self._settings.options(CellOptions).cell_move_lossy:
            return
        for lost, what in (
            (instance.ephemeral_gb, 'an ephemeral disk'),
            (instance.swap_mb, 'a swap disk'),
            (instances.has_vtpm(instance), 'a vTPM'),
            (instance.has_shares, 'a Manila share'),
            (
                instance.has_key and needs_of(self._snapshot).loses_keys,
                'a key pair',
            ),
        ):
            if lost:
                text = (
                    f'it has {what}, which Nova does not move to another cell '
                    '(cell_move_lossy is false)'
                )
                yield Reason(text, Code.CELL_LOSSY, what)

    @functools.cached_property
    def _open_hosts(self) -> list[str]:
        """Hosts of the source cell that will take servers."""
        names = {*needs_of(self._snapshot).open_source_hosts}
        if not self._drain.close_source:
            names |= open_hosts(self._snapshot, self._drain)
        return sorted(names)


def open_hosts(snapshot: Snapshot, drain: CellDrain) -> set[str]:
    """Hosts of a scope in the source cell that take servers now."""
    services = snapshot.services or {}
    return {
        name
        for name, host in snapshot.hosts.items()
        if host.cell == drain.source
        and name in services
        and services[name].is_available
    }


def _state(instance: Instance, drain: CellDrain) -> Iterator[Reason]:
    status = instance.status
    if status not in ('ACTIVE', STOPPED):
        remedy = HOW_TO_LEAVE.get(status, 'bring it to ACTIVE or SHUTOFF')
        yield Reason(f'its status is {status}: {remedy}', Code.CELL_STATUS)
    if status == STOPPED and not drain.include_stopped:
        text = 'it is stopped, and include_stopped is false'
        yield Reason(text, Code.CELL_STOPPED)
    if instance.task_state:
        text = f'Nova is busy with it (task state {instance.task_state})'
        yield Reason(text, Code.INSTANCE_BUSY)
    if status == 'ACTIVE' and instance.power_state != RUNNING:
        state = POWER_STATES.get(instance.power_state, '?')
        text = f'its status is ACTIVE, but its guest does not run ({state})'
        yield Reason(text, Code.INSTANCE_NOT_RUNNING)


def _port(instance: Instance) -> Iterator[Reason]:
    if instance.tied_port:
        text = (
            f'a port of it has {instance.tied_port}, and Nova does not move '
            'such a server to another cell'
        )
        yield Reason(text, Code.CELL_PORT, instance.tied_port)


def _snapshot(instance: Instance, settings: Settings) -> Iterator[Reason]:
    if instance.is_volume_backed:
        return
    options = settings.options(CellOptions)
    speed = options.snapshot_mb_per_second
    limit = options.long_rpc_timeout_seconds
    seconds = instance.root_gb * 1024 / speed
    if seconds > limit:
        text = (
            f'the snapshot of its disk of {instance.root_gb} GiB would take '
            f'{durations.beside(seconds, limit)} at {speed:g} MB/s, and '
            f'long_rpc_timeout is {durations.exact(limit)}'
        )
        yield Reason(text, Code.CELL_SNAPSHOT_SLOW)
