# SPDX-License-Identifier: Apache-2.0
"""The needs of a cell drain, with other names."""

import dataclasses

from kronos.engine.cell_drain import ANY, SAME, CellDrain, OffloadedServer
from kronos.recordings.anonymize.extra_specs import Specs
from kronos.recordings.anonymize.names import Names
from kronos.snapshots.cell_hosts import CellScope
from kronos.snapshots.cell_needs import CellNeeds


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
