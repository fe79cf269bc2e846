# SPDX-License-Identifier: Apache-2.0
"""The needs of a cell drain, without texts that may tell of a cloud."""

import dataclasses

from kronos.extensions.cells.cell_drain import CellNeeds, UnfinishedMove
from kronos.recordings.anonymize import vocabulary
from kronos.recordings.anonymize.extra_specs import Specs


def needs(was: CellNeeds, specs: Specs) -> CellNeeds:
    """Ids of flavors are their names, which are new ones already."""
    flavors = {
        name: dataclasses.replace(
            flavor, id=name, extra_specs=specs.extra_specs(flavor.extra_specs)
        )
        for name, flavor in was.flavors.items()
    }
    moves = [_unfinished(move) for move in was.unfinished]
    return dataclasses.replace(
        was, flavors=flavors, unfinished=moves, warnings=[]
    )


def _unfinished(was: UnfinishedMove) -> UnfinishedMove:
    how = was.how
    flavor_id = how.destination_flavor if how.destination_flavor_id else ''
    return dataclasses.replace(
        was,
        status=vocabulary.allowed(was.status, vocabulary.SERVER_STATUSES),
        how=dataclasses.replace(how, destination_flavor_id=flavor_id),
    )
