# SPDX-License-Identifier: Apache-2.0
"""The needs of a cell drain, with other names."""

import dataclasses

from kronos.extensions.cells.cell_drain import (
    ANY,
    SAME,
    CellDrain,
    CellMove,
    CellNeeds,
    ForeignMove,
    OffloadedServer,
    UnfinishedMove,
)
from kronos.recordings.anonymize import vocabulary
from kronos.recordings.anonymize.extra_specs import Specs
from kronos.recordings.anonymize.names import Names
from kronos.snapshots.cell_hosts import CellScope


def needs(was: CellNeeds, names: Names, specs: Specs) -> CellNeeds:
    """Flavors, quotas and servers on no host."""
    flavors = [
        dataclasses.replace(
            one,
            id=names.flavor(one.name),
            name=names.flavor(one.name),
            extra_specs=specs.extra_specs(one.extra_specs),
        )
        for one in was.flavors.values()
    ]
    return CellNeeds(
        {one.name: one for one in flavors},
        {names.project(one): left for one, left in was.quota_left.items()},
        [
            OffloadedServer(names.uuid(one.uuid), names.display(one.name))
            for one in was.offloaded
        ],
        [_unfinished(one, names) for one in was.unfinished],
        [_of_others(one, names) for one in was.of_others],
        was.cell_policy,
        was.loses_keys,
    )


def _unfinished(was: UnfinishedMove, names: Names) -> UnfinishedMove:
    return dataclasses.replace(
        was,
        action=names.uuid(was.action),
        instance=names.uuid(was.instance),
        instance_name=names.display(was.instance_name),
        host=names.host(was.host),
        status=_status(was.status),
        source=names.host(was.source),
        destination=names.host(was.destination),
        how=_how(was.how, names),
        target_cells=[names.cell(one) for one in was.target_cells],
        plan=names.uuid(was.plan),
    )


def _status(was: str) -> str:
    return was if was in vocabulary.SERVER_STATUSES else 'other'


def _how(was: CellMove, names: Names) -> CellMove:
    flavor = names.flavor(was.destination_flavor)
    return dataclasses.replace(
        was,
        source_cell=names.cell(was.source_cell),
        destination_cell=names.cell(was.destination_cell),
        source_flavor=names.flavor(was.source_flavor),
        destination_flavor=flavor,
        source_zone=names.zone(was.source_zone),
        destination_zone=names.zone(was.destination_zone),
        destination_flavor_id=flavor if was.destination_flavor_id else '',
    )


def _of_others(was: ForeignMove, names: Names) -> ForeignMove:
    return ForeignMove(
        names.uuid(was.instance),
        names.display(was.instance_name),
        names.host(was.source),
        names.host(was.destination),
        names.cell(was.source_cell),
    )


def scope(was: CellScope | None, names: Names) -> CellScope | None:
    """The cells and hosts of a request."""
    if was is None:
        return None
    return CellScope(
        names.cell(was.source),
        [names.cell(one) for one in was.targets],
        was.hosts and [names.host(one) for one in was.hosts],
    )


def drain(was: CellDrain | None, names: Names) -> CellDrain | None:
    """What an audit asked for."""
    if was is None:
        return None
    flavor_map = was.flavor_map

    def flavor(name: str) -> str:
        return name if name in (ANY, SAME) else names.flavor(name)

    return dataclasses.replace(
        was,
        source=names.cell(was.source),
        targets=[names.cell(one) for one in was.targets],
        hosts=was.hosts and [names.host(one) for one in was.hosts],
        flavor_map=flavor_map
        and {flavor(old): flavor(new) for old, new in flavor_map.items()},
    )
