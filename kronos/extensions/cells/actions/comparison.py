# SPDX-License-Identifier: Apache-2.0
"""The comparison of a server with what it was before it was moved."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kronos.clients.nova.server_details import FLOATING, Details
from kronos.engine import types, wording
from kronos.engine.eligibility.instances import POWER_STATES, RUNNING
from kronos.extensions.cells.actions.parameters import CellMoveTask

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
class ServerCheck:
    """What was looked at, and whether it is as it has to be."""

    name: str
    ok: bool
    text: str
    """A sentence that says it without the name."""

    def document(self) -> dict[str, Any]:
        return {'name': self.name, 'ok': self.ok, 'told': self.text}


def compare(
    task: CellMoveTask,
    before: Details,
    now: Details,
    cells: Mapping[str, str],
    requests: Collection[str] = (),
) -> list[ServerCheck]:
    """All of a server that has arrived, as Nova shows it.

    :param cells: by host
    :param requests: kinds of requests for it since the move was asked for
    """
    return [
        _arrival_cell(task, now, cells),
        _arrival_host(task, now),
        _flavor(task.destination_flavor, now),
        *_kept(before, now, requests),
    ]


def compare_return(
    task: CellMoveTask,
    before: Details,
    now: Details,
    cells: Mapping[str, str],
    requests: Collection[str] = (),
) -> list[ServerCheck]:
    """The same of one that was taken back: it is as if nothing had been."""
    cell = cells.get(now.host, '')
    here = cell or 'no known cell'
    return [
        _equal('cell', task.source_cell, here, 'it is in {}'),
        _equal('host', task.source, now.host, 'it is on {}'),
        _flavor(before.flavor.name, now),
        _equal('status', before.status, now.status, 'its status is {}'),
        _equal('task', '', now.task_state, 'its task is {}'),
        *_kept(before, now, requests),
    ]


def _arrival_cell(
    task: CellMoveTask, now: Details, cells: Mapping[str, str]
) -> ServerCheck:
    cell = cells.get(now.host, '')
    if not cell:
        return ServerCheck(
            'cell', False, f'Kronos cannot find the cell of {now.host}'
        )
    if cell in task.cells:
        return ServerCheck('cell', True, f'it is in {cell}')
    targets = ' or '.join(sorted(task.cells))
    return ServerCheck(
        'cell', False, f'it is in cell {cell} instead of {targets}'
    )


def _arrival_host(task: CellMoveTask, now: Details) -> ServerCheck:
    """Of a resize any host is right that it was not on before."""
    if not task.is_resize:
        return _equal('host', task.destination, now.host, 'it is on {}')
    if now.host in ('', task.source):
        text = f'it is on {now.host or "no host"} still'
        return ServerCheck('host', False, text)
    forecast = '' if now.host == task.destination else 'not '
    return ServerCheck(
        'host', True, f'it is on {now.host}, {forecast}as was forecast'
    )


def _flavor(expected: str, now: Details) -> ServerCheck:
    return _equal('flavor', expected, now.flavor.name, 'its flavor is {}')


def _kept(
    before: Details, now: Details, requests: Collection[str]
) -> list[ServerCheck]:
    """What no move may change."""
    return [
        _power(before, now),
        _addresses(before, now),
        _same('ports', _ports(before), _ports(now)),
        _volumes(before, now, requests),
        _once(now),
        _same('tags', before.tags, now.tags),
        _same('metadata', before.metadata.items(), now.metadata.items()),
        _equal(KEY, before.key_name, now.key_name, 'its key is {}'),
        _equal('image', before.image, now.image, 'its image is {}'),
        _same('security groups', before.security_groups, now.security_groups),
    ]


def _power(before: Details, now: Details) -> ServerCheck:
    expected = POWER.get(before.status, before.power_state)
    was, is_ = (
        POWER_STATES.get(state, str(state))
        for state in (expected, now.power_state)
    )
    return _equal('power state', was, is_, 'its power state is {}')


def _addresses(before: Details, now: Details) -> ServerCheck:
    """A floating one may have come meanwhile; that loses nothing."""
    gained = {
        address
        for address in now.addresses
        if address.rpartition(' ')[2] == FLOATING
    } - {*before.addresses}
    return _same('addresses', before.addresses, {*now.addresses} - gained)


def _ports(details: Details) -> list[str]:
    """As what has to stay: a port with its address of each kind."""
    return [
        ' '.join([port.id, port.mac, port.network, *port.addresses])
        for port in details.ports
    ]


def _volumes(
    before: Details, now: Details, requests: Collection[str]
) -> ServerCheck:
    """Whoever attaches or detaches one meanwhile loses nothing by the move."""
    was, is_ = _attached(before), _attached(now)
    check = _same('volumes', was, is_)
    lost, gained = {*was} - {*is_}, {*is_} - {*was}
    if not (lost or gained) or (lost and not DETACHED & {*requests}):
        return check
    if gained and not ATTACHED & {*requests}:
        return check
    text = f'somebody attached or detached volumes: {wording.some(is_)}'
    return ServerCheck(
        'volumes', True, text if is_ else 'somebody detached all'
    )


def _attached(details: Details) -> list[str]:
    return [
        ' '.join(
            [
                volume.id,
                *([f'tag={volume.tag}'] if volume.tag else []),
                *(['deleted-with-it'] if volume.deleted_with_server else []),
            ]
        )
        for volume in details.volumes
    ]


def _once(now: Details) -> ServerCheck:
    """Whether Nova has one attachment for each volume."""
    ids = [volume.id for volume in now.volumes]
    twice = sorted({uuid for uuid in ids if ids.count(uuid) > 1})
    text = f'attached more than once: {wording.some(twice)}'
    return ServerCheck(
        'attachments', not twice, text if twice else 'each volume once'
    )


def _equal(
    name: str, expected: str, actual: str, sentence: str
) -> ServerCheck:
    """:param sentence: with a place for the value"""
    text = sentence.format(actual or 'none')
    if actual == expected:
        return ServerCheck(name, True, text)
    return ServerCheck(name, False, f'{text} instead of {expected or "none"}')


def _same(
    name: str, expected: Iterable[object], actual: Iterable[object]
) -> ServerCheck:
    """Of what has several parts; which are lost or new is told."""
    was, is_ = [*expected], [*actual]
    lost = sorted(_said(name, item) for item in was if item not in is_)
    new = sorted(_said(name, item) for item in is_ if item not in was)
    parts = [
        f'{what}: {wording.some(ones)}'
        for what, ones in (('lost', lost), ('new', new))
        if ones
    ]
    if not parts and len(was) == len(is_):
        return ServerCheck(name, True, f'{name} as before ({len(is_)})')
    return ServerCheck(
        name, False, f'{name} {", ".join(parts) or "more than once"}'
    )


def _said(name: str, part: object) -> str:
    """A part, but for the digest of a value."""
    return str(part[0] if isinstance(part, tuple) else part)


@dataclass
class Amounts:
    """What Placement has to hold for a server or a migration, and where."""

    node: str
    expected: dict[str, int] | None
    """By resource class; {}: nothing; None: nobody knows how much."""

    def why_not(self, holdings: Mapping[str, Mapping[str, int]]) -> str:
        """What is wrong with what is held; '' if nothing is.

        :param holdings: by node and resource class
        """
        nodes = {
            node for node, amount in holdings.items() if amount.get(MEMORY)
        }
        if self.expected == {}:
            return (
                f'on {_names(holdings)}, and not nothing' if holdings else ''
            )
        if nodes != {self.node}:
            return f'on {_names(nodes)} instead of {self.node}'
        if self.expected is None:
            return ''
        summed = totals(holdings)
        wrong = [
            f'{summed.get(name, 0)} {name} instead of '
            f'{self.expected.get(name, 0)}'
            for name in sorted({*self.expected, *summed})
            if summed.get(name, 0) != self.expected.get(name, 0)
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
    summed = totals(before.held)
    if before.flavor == now.flavor:
        return summed, summed
    specs = {**before.flavor.extra_specs, **now.flavor.extra_specs}
    if any(spec.startswith(OWN) for spec in specs):
        return summed, None
    old, new = _demand(before), _demand(now)
    changed = {
        name: summed.get(name, 0) + new[name] - old[name] for name in new
    }
    return summed, summed | changed


def totals(holdings: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """By resource class, whatever the node; pinned CPUs are CPUs."""
    summed: dict[str, int] = {}
    for on_node in holdings.values():
        for name, amount in on_node.items():
            key = CPUS if name == PINNED_CPUS else name
            summed[key] = summed.get(key, 0) + amount
    return summed


def _demand(details: Details) -> dict[str, int]:
    flavor = details.flavor
    return types.Flavor(
        '',
        flavor.name,
        flavor.vcpus,
        flavor.memory_mb,
        flavor.root_gb,
        flavor.ephemeral_gb,
        flavor.swap_mb,
    ).demand(details.is_volume_backed)
