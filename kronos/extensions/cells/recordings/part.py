# SPDX-License-Identifier: Apache-2.0
"""The part of the cells in a recording: what a drain asks for, and needs."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from kronos.common.exceptions import ConfigurationError
from kronos.common.names.name_marks import Name
from kronos.engine.settings import Settings
from kronos.engine.types import Instance
from kronos.extensions.cells import cell_drain, cell_parameters
from kronos.extensions.cells.cell_drain import (
    ANY,
    SAME,
    CellDrain,
    CellPhase,
)
from kronos.extensions.cells.extension import Cells
from kronos.extensions.cells.readings import cell_needs
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.extensions.cells.recordings import anonymous
from kronos.extensions.cells.recordings.cell_schema import (
    CELLS,
    OF_MOVES,
    OF_NOVA,
    CellDrainRow,
    CellScopeRow,
    CellsFile,
)
from kronos.recordings import schema
from kronos.recordings.anonymize.extra_specs import Specs
from kronos.recordings.anonymize.vocabulary import allowed
from kronos.recordings.parts import Keys, RecordingPart
from kronos.recordings.safe_files import Folder
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import HostChoice, ScopeRequest

FILE = 'nova/cells.json'


class CellRecording(RecordingPart):
    """What an audit that empties a cell asked for, and planned by."""

    mode: ClassVar = 'cell_drain'
    keeps_beside: ClassVar = True
    request: ClassVar[Keys] = {'cells': (CellScopeRow | None, None)}
    settings: ClassVar[Keys] = {'cell_drain': (CellDrainRow | None, None)}
    special: ClassVar = {Name.FLAVOR: {ANY, SAME}}
    phases: ClassVar = tuple(CellPhase)
    phrases: ClassVar = (cell_drain.NOT_KNOWN,)

    def request_values(self, request: ScopeRequest) -> dict[str, Any]:
        cells = request.chosen
        if not isinstance(cells, CellScope):
            return {'cells': None}
        return {'cells': schema.copied(cells, CellScopeRow)}

    def request_fields(self, row: Any) -> dict[str, Any]:
        if row.cells is None:
            return {}
        return {'chosen': schema.copied(row.cells, CellScope)}

    def settings_values(self, settings: Settings) -> dict[str, Any]:
        drain = cell_drain.of(settings)
        return {'cell_drain': drain and schema.copied(drain, CellDrainRow)}

    def extension(self, row: Any) -> Cells | None:
        if row.cell_drain is None:
            return None
        return Cells(schema.copied(row.cell_drain, CellDrain))

    def files(self, gathered: CloudInventory) -> dict[str, Any]:
        """Nothing where nobody empties a cell."""
        needs = cell_drain.needs_of(gathered)
        if not needs.flavors:
            return {}
        file = CellsFile.of(needs)
        plain = CELLS.dump_python(file, mode='json')
        for key in OF_MOVES:
            if not plain[key]:
                del plain[key]
        for key, value in OF_NOVA.items():
            if plain[key] == value:
                del plain[key]
        return {FILE: plain}

    def read(
        self, folder: Folder, meta: Any, gathered: CloudInventory
    ) -> None:
        if not folder.has(FILE):
            return
        file = folder.decode(CELLS, FILE)
        for name, key in (
            ('flavors', 'name'),
            ('offloaded', 'uuid'),
            ('unfinished', 'instance'),
            ('of_others', 'instance'),
        ):
            if fault := schema.repeated(getattr(file, name), key):
                raise folder.fault(FILE, f'{name}{fault}')
        gathered.beside[cell_drain.NAME] = file.needs()

    def replayed(
        self, parameters: Mapping[str, Any], gathered: CloudInventory
    ) -> CellDrain:
        if not parameters:
            raise ConfigurationError(
                reason='the recording is of no audit that empties a cell: '
                'name the cells, --parameter source_cell=OLD --parameter '
                'target_cells=NEW'
            )
        drain = cell_parameters.parse(dict(parameters))
        existing = cell_drain.needs_of(gathered).flavors
        drain.flavor_map = cell_needs.resolved(drain.flavor_map, existing)
        return drain

    def chosen(self, settings: Settings) -> HostChoice | None:
        drain = cell_drain.of(settings)
        if drain is None:
            return None
        return CellScope(drain.source, drain.targets, drain.hosts)

    def extra_specs(
        self, gathered: CloudInventory
    ) -> Iterable[Mapping[str, str]]:
        flavors = cell_drain.needs_of(gathered).flavors.values()
        return [flavor.extra_specs for flavor in flavors]

    def anonymous_fields(self, instance: Instance) -> dict[str, Any]:
        from kronos.clients import neutron  # it loads what no replay needs

        ties = (neutron.RESOURCES, neutron.ACCELERATOR)
        return {'tied_port': allowed(instance.tied_port, ties)}

    def anonymous(self, gathered: CloudInventory, specs: Specs) -> None:
        if cell_drain.NAME in gathered.beside:
            needs = anonymous.needs(cell_drain.needs_of(gathered), specs)
            gathered.beside[cell_drain.NAME] = needs
