# SPDX-License-Identifier: Apache-2.0
"""The needs of a cell drain: flavors, quotas, shares.

And the servers that are on no host, or between two cells.
"""

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from oslo_log import log as logging

from kronos.common import exceptions, policy_files
from kronos.common.names import near_names
from kronos.engine.types import Event, Flavor, Instance, Outcome
from kronos.extensions.cells.cell_drain import (
    ANY,
    POLICY,
    SAME,
    CellDrain,
    CellNeeds,
    CrossCellPolicy,
    OffloadedServer,
)
from kronos.extensions.cells.planning import flavors

if TYPE_CHECKING:
    from kronos.clients.connection import Clients
    from kronos.clients.nova.cell_listings import CellListings

LOG = logging.getLogger(__name__)

NO_PORTS = (
    'Neutron does not show which servers have ports that tie them to their '
    'cell, so that Nova may refuse some moves'
)
"""A warning, with the reason."""
NO_SHARES = (
    'which servers have Manila shares is not recorded, so a cell is emptied '
    'as if none had'
)
"""A warning, where a whole cloud is looked at."""


@dataclass
class Sources:
    """What is asked beside Nova."""

    tied_ports: Callable[[Collection[str]], Mapping[str, str]] | None = None
    """Asks Neutron what ties servers to their cell; None: nothing is asked."""
    policy_files: Sequence[str] = ()
    """Of nova-api; none: its policy is not known."""
    keeps_keys: bool = False
    """Whether Nova keeps key pairs, whatever its microversion."""

    @classmethod
    def of(cls, kronos: Any, clients: 'Clients') -> Self:
        """:param kronos: the group ``[kronos]``"""
        return cls(
            clients.tied_ports,
            kronos.nova_policy_files,
            kronos.cell_keys_kept,
        )


def gather(
    listings: 'CellListings',
    sources: Sources,
    drain: CellDrain,
    instances: Iterable[Instance],
    tell: Callable[[str], None],
    has_crossed: bool = False,
) -> CellNeeds:
    """Ask for it, of the instances that are to leave.

    Their ``has_shares`` and ``tied_port`` are filled in.

    :param has_crossed: whether a server has left its cell of late

    :raises ConfigurationError: the flavor map gives what does not exist
    :raises NovaClientError: a listing failed
    """
    needs = _of_nova(listings, sources, has_crossed)
    drain.flavor_map = resolved(drain.flavor_map, needs.flavors)
    leaving = list(instances)
    grows = {
        instance.project_id
        for instance in leaving
        if flavors.is_changed(instance, drain) and instance.project_id
    }
    for project in sorted(grows):
        needs.quota_left[project] = listings.quota_left(project)
    tell(f'{len(needs.flavors)} flavors, quotas of {len(grows)} projects')
    for instance in leaving:
        instance.has_shares = listings.has_shares(instance.uuid)
    tell(f'shares of {len(leaving)} instances')
    needs.warnings += ports(sources, leaving)
    # Of the last warnings an audit's message has room.
    needs.warnings += _of_policy(needs.cell_policy, drain, leaving)
    return needs


def _of_policy(
    state: CrossCellPolicy, drain: CellDrain, leaving: Iterable[Instance]
) -> list[str]:
    """A warning if no server may leave, or no hosts are closed for some."""
    if state is CrossCellPolicy.CLOSED:
        return [f'no server may leave: Nova has closed the policy {POLICY}']
    if (
        state is CrossCellPolicy.UNKNOWN
        and drain.close_source
        and any(flavors.is_changed(instance, drain) for instance in leaving)
    ):
        return [
            'no host is disabled for servers whose flavor changes: set '
            f'nova_policy_files, to show that {POLICY} is open'
        ]
    return []


def of_cloud(
    listings: 'CellListings',
    sources: Sources,
    instances: Sequence[Instance],
    tell: Callable[[str], None],
) -> CellNeeds:
    """Ask for all of a cloud, so that any cell of it may be emptied.

    But not for shares: that takes a call for each instance.

    :raises NovaClientError: a listing failed
    """
    projects = {
        instance.project_id for instance in instances if instance.project_id
    }
    needs = _of_nova(listings, sources)
    for project in sorted(projects):
        needs.quota_left[project] = listings.quota_left(project)
    tell(f'{len(needs.flavors)} flavors, quotas of {len(projects)} projects')
    needs.warnings += ports(sources, instances)
    return needs


def _of_nova(
    listings: 'CellListings', sources: Sources, has_crossed: bool = False
) -> CellNeeds:
    """What is one for the whole cloud."""
    names = sorted(listings.offloaded().items())
    return CellNeeds(
        flavors={flavor.name: flavor for flavor in listings.flavors()},
        offloaded=[OffloadedServer(uuid, name) for uuid, name in names],
        cell_policy=policy(sources.policy_files, has_crossed),
        loses_keys=loses_keys(listings, sources),
    )


def loses_keys(listings: 'CellListings', sources: Sources) -> bool:
    """Whether Nova takes no key pair to another cell."""
    return not sources.keeps_keys and listings.loses_keys()


def policy(paths: Sequence[str], has_crossed: bool = False) -> CrossCellPolicy:
    """Whether Nova lets servers leave their cell, as its files tell.

    :param has_crossed: whether a server did of late, if they do not
    """
    unknown = CrossCellPolicy.OPEN if has_crossed else CrossCellPolicy.UNKNOWN
    if not paths:
        return unknown
    try:
        is_open = policy_files.is_open(paths, POLICY)
    except policy_files.Invalid as error:
        LOG.warning('nova_policy_files: %s', error)
        return unknown
    return CrossCellPolicy.OPEN if is_open else CrossCellPolicy.CLOSED


def has_crossed(events: Iterable[Event], cells: Mapping[str, str]) -> bool:
    """Whether a server has left its cell of late: then Nova lets them.

    :param cells: by host
    """
    return any(
        event.outcome is Outcome.MOVED
        and bool(cells.get(event.source))
        and bool(cells.get(event.destination))
        and cells[event.source] != cells[event.destination]
        for event in events
    )


def ports(sources: Sources, instances: Iterable[Instance]) -> list[str]:
    """Fill in what of a port ties an instance to its cell.

    :returns: a warning if that is not known
    """
    if sources.tied_ports is None:
        return []
    by_uuid = {instance.uuid: instance for instance in instances}
    try:
        tied = sources.tied_ports(by_uuid)
    except exceptions.ClientError as error:
        return [f'{NO_PORTS}: {error}']
    for uuid, what in tied.items():
        by_uuid[uuid].tied_port = what
    return []


def resolved(
    flavor_map: dict[str, str] | None, by_name: dict[str, Flavor]
) -> dict[str, str] | None:
    """A map of names, from one of names or ids.

    :raises ConfigurationError: names the entry and what is wrong with it
    """
    if flavor_map is None:
        return None
    by_id = {flavor.id: flavor.name for flavor in by_name.values()}
    result: dict[str, str] = {}
    for old, new in flavor_map.items():
        name = old if old in (ANY, *by_name) else by_id.get(old, old)
        value = new if new in (SAME, *by_name) else by_id.get(new)
        if value is None:
            hint = near_names.of_cloud(new, sorted(by_name))
            raise _bad(old, new, f'there is no flavor {new}; {hint}')
        if result.get(name, value) != value:
            raise _bad(old, new, f'{name} is mapped twice')
        result[name] = SAME if value == name else value
    _require_no_loop(result)
    return result


def _require_no_loop(flavor_map: dict[str, str]) -> None:
    for old in flavor_map:
        seen, now = [old], flavor_map[old]
        while now in flavor_map and now not in seen:
            seen.append(now)
            now = flavor_map[now]
        if now in seen:
            loop = ' -> '.join([*seen, now])
            raise _bad(old, flavor_map[old], f'it is a loop: {loop}')


def _bad(old: str, new: str, what: str) -> exceptions.ConfigurationError:
    return exceptions.ConfigurationError(
        f'Audit parameter flavor_map: entry {old}: {new}: {what}.'
    )
