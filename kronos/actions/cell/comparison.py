# SPDX-License-Identifier: Apache-2.0
"""The comparison of a server with what it was before it was moved."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kronos.actions.cell.task import CellMoveTask
from kronos.clients.nova.server_details import FLOATING, Details
from kronos.engine import types, wording
from kronos.engine.eligibility.instances import POWER_STATES, RUNNING

SHUT_DOWN = 4
"""As a power state."""
POWER = {'ACTIVE': RUNNING, 'SHUTOFF': SHUT_DOWN}
"""Power states by the status that a server had."""
MEMORY, CPUS, PINNED_CPUS = 'MEMORY_MB', 'VCPU', 'PCPU'
KEY = 'key'
OWN = 'resources'
"""With this begin extra specs that ask Placement for something else than what
a flavor has."""
ATTACHED = frozenset({'attach_volume', 'swap_volume'})
DETACHED = frozenset({'detach_volume', 'swap_volume'})
"""Requests to Nova by which a server gets volumes, and loses them."""


@dataclass
class Check:
    """What was looked at, and whether it is as it has to be."""

    name: str
    ok: bool
    told: str
    """A sentence that says it without the name."""


def compare(
    task: CellMoveTask,
    before: Details,
    now: Details,
    cells: Mapping[str, str],
    asked: Collection[str] = (),
) -> list[Check]:
    """All of a server that has arrived, as Nova shows it.

    :param cells: by host
    :param asked: kinds of requests for it since the move was asked for
    """
    return [
        _arrival_cell(task, now, cells),
        _arrival_host(task, now),
        _flavor(task.destination_flavor, now),
        *_kept(before, now, asked),
    ]


def compare_return(
    task: CellMoveTask,
    before: Details,
    now: Details,
    cells: Mapping[str, str],
    asked: Collection[str] = (),
) -> list[Check]:
    """The same of one that was taken back: it is as if nothing had been."""
    cell = cells.get(now.host, '')
    here = cell or 'no known cell'
    return [
        _equal('cell', task.source_cell, here, 'it is in {}'),
        _equal('host', task.source, now.host, 'it is on {}'),
        _flavor(before.flavor.name, now),
        _equal('status', before.status, now.status, 'its status is {}'),
        _equal('task', '', now.task_state, 'its task is {}'),
        *_kept(before, now, asked),
    ]


def _arrival_cell(
    task: CellMoveTask, now: Details, cells: Mapping[str, str]
) -> Check:
    cell = cells.get(now.host, '')
    if not cell:
        return Check('cell', False, f'nobody tells the cell of {now.host}')
    if cell in task.cells:
        return Check('cell', True, f'it is in {cell}')
    wanted = ' or '.join(sorted(task.cells))
    return Check('cell', False, f'it is in cell {cell} instead of {wanted}')


def _arrival_host(task: CellMoveTask, now: Details) -> Check:
    """Of a resize any host is right that it was not on before."""
    if not task.is_resize:
        return _equal('host', task.destination, now.host, 'it is on {}')
    if now.host in ('', task.source):
        told = f'it is on {now.host or "no host"} still'
        return Check('host', False, told)
    forecast = '' if now.host == task.destination else 'not '
    return Check(
        'host', True, f'it is on {now.host}, {forecast}as was forecast'
    )


def _flavor(wanted: str, now: Details) -> Check:
    return _equal('flavor', wanted, now.flavor.name, 'its flavor is {}')


def _kept(
    before: Details, now: Details, asked: Collection[str]
) -> list[Check]:
    """What no move may change."""
    return [
        _power(before, now),
        _addresses(before, now),
        _same('ports', _ports(before), _ports(now)),
        _volumes(before, now, asked),
        _once(now),
        _same('tags', before.tags, now.tags),
        _same('metadata', before.metadata.items(), now.metadata.items()),
        _equal(KEY, before.key_name, now.key_name, 'its key is {}'),
        _equal('image', before.image, now.image, 'its image is {}'),
        _same('security groups', before.security_groups, now.security_groups),
    ]


def _power(before: Details, now: Details) -> Check:
    wanted = POWER.get(before.status, before.power_state)
    was, is_ = (
        POWER_STATES.get(one, str(one)) for one in (wanted, now.power_state)
    )
    return _equal('power state', was, is_, 'its power state is {}')


def _addresses(before: Details, now: Details) -> Check:
    """A floating one may have come meanwhile; that loses nothing."""
    gained = {
        one for one in now.addresses if one.rpartition(' ')[2] == FLOATING
    } - {*before.addresses}
    return _same('addresses', before.addresses, {*now.addresses} - gained)


def _ports(one: Details) -> list[str]:
    """As what has to stay: a port with its address of each kind."""
    return [
        ' '.join([port.id, port.mac, port.network, *port.addresses])
        for port in one.ports
    ]


def _volumes(before: Details, now: Details, asked: Collection[str]) -> Check:
    """Whoever attaches or detaches one meanwhile loses nothing by the move."""
    was, is_ = _attached(before), _attached(now)
    found = _same('volumes', was, is_)
    lost, gained = {*was} - {*is_}, {*is_} - {*was}
    if not (lost or gained) or (lost and not DETACHED & {*asked}):
        return found
    if gained and not ATTACHED & {*asked}:
        return found
    told = f'somebody attached or detached volumes: {wording.some(is_)}'
    return Check('volumes', True, told if is_ else 'somebody detached all')


def _attached(one: Details) -> list[str]:
    return [
        ' '.join(
            [
                volume.id,
                *([f'tag={volume.tag}'] if volume.tag else []),
                *(['deleted-with-it'] if volume.deleted_with_server else []),
            ]
        )
        for volume in one.volumes
    ]


def _once(now: Details) -> Check:
    """Whether Nova has one attachment for each volume."""
    ids = [volume.id for volume in now.volumes]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    told = f'attached more than once: {wording.some(twice)}'
    return Check(
        'attachments', not twice, told if twice else 'each volume once'
    )


def _equal(name: str, wanted: str, found: str, sentence: str) -> Check:
    """:param sentence: with a place for the value"""
    told = sentence.format(found or 'none')
    if found == wanted:
        return Check(name, True, told)
    return Check(name, False, f'{told} instead of {wanted or "none"}')


def _same(
    name: str, wanted: Iterable[object], found: Iterable[object]
) -> Check:
    """Of what has several parts; which are lost or new is told."""
    was, is_ = [*wanted], [*found]
    lost = sorted(_said(name, one) for one in was if one not in is_)
    new = sorted(_said(name, one) for one in is_ if one not in was)
    parts = [
        f'{what}: {wording.some(ones)}'
        for what, ones in (('lost', lost), ('new', new))
        if ones
    ]
    if not parts and len(was) == len(is_):
        return Check(name, True, f'{name} as before ({len(is_)})')
    return Check(name, False, f'{name} {", ".join(parts) or "more than once"}')


def _said(name: str, part: object) -> str:
    """A part, but for the digest of a value."""
    return str(part[0] if isinstance(part, tuple) else part)


@dataclass
class Amounts:
    """What Placement has to hold for a server or a migration, and where."""

    node: str
    wanted: dict[str, int] | None
    """By resource class; {}: nothing; None: nobody knows how much."""

    def why_not(self, held: Mapping[str, Mapping[str, int]]) -> str:
        """What is wrong with what is held; '' if nothing is.

        :param held: by node and resource class
        """
        nodes = {node for node, amount in held.items() if amount.get(MEMORY)}
        if self.wanted == {}:
            return f'on {_names(held)}, and not nothing' if held else ''
        if nodes != {self.node}:
            return f'on {_names(nodes)} instead of {self.node}'
        if self.wanted is None:
            return ''
        found = totals(held)
        wrong = [
            f'{found.get(name, 0)} {name} instead of '
            f'{self.wanted.get(name, 0)}'
            for name in sorted({*self.wanted, *found})
            if found.get(name, 0) != self.wanted.get(name, 0)
        ]
        return wording.some(wrong) if wrong else ''


def _names(nodes: Iterable[str]) -> str:
    return ' and '.join(sorted(nodes)) or 'no host'


def amounts(
    before: Details, now: Details
) -> tuple[dict[str, int] | None, dict[str, int] | None]:
    """What Placement has to hold by the old flavor, and by the new one.

    What was held and the difference of the flavors count, so that whatever
    else an operator has servers ask for is right. None where that is not
    known, or where a flavor itself says what it asks Placement for.

    :param now: the server with its new flavor
    """
    if not before.held:
        return None, None
    held = totals(before.held)
    if before.flavor == now.flavor:
        return held, held
    if any(
        map(_is_own, {**before.flavor.extra_specs, **now.flavor.extra_specs})
    ):
        return held, None
    old, new = _demand(before), _demand(now)
    changed = {name: held.get(name, 0) + new[name] - old[name] for name in new}
    return held, held | changed


def _is_own(spec: str) -> bool:
    return spec.startswith(OWN)


def totals(held: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """By resource class, whatever the node; pinned CPUs are CPUs."""
    found: dict[str, int] = {}
    for on_node in held.values():
        for name, amount in on_node.items():
            key = CPUS if name == PINNED_CPUS else name
            found[key] = found.get(key, 0) + amount
    return found


def _demand(one: Details) -> dict[str, int]:
    flavor = one.flavor
    return types.Flavor(
        '',
        flavor.name,
        flavor.vcpus,
        flavor.memory_mb,
        flavor.root_gb,
        flavor.ephemeral_gb,
        flavor.swap_mb,
    ).demand(one.is_volume_backed)
