# SPDX-License-Identifier: Apache-2.0
"""The part of the room in commands: NUMA nodes in recordings and checks."""

import argparse
from collections.abc import Mapping
from typing import Any

from kronos.clients.nova import node_reader
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.cmd.checks.parts import CommandPart
from kronos.cmd.checks.tables import table
from kronos.cmd.credentials import Access
from kronos.engine.settings import Settings
from kronos.extensions.room.commands import node_checks
from kronos.extensions.room.readings.reader import RoomReader
from kronos.snapshots.reader import Reader


class RoomCommands(CommandPart):
    """A recording has the flavors of the cloud if NUMA nodes are known."""

    def reader(self, access: Access, conf: Any, settings: Settings) -> Reader:
        cells = node_reader.configured(conf.kronos.numa_cells)
        return RoomReader(cells) if cells else Reader()

    def check(
        self,
        parsed: argparse.Namespace,
        conf: Any,
        access: Access | None,
        apis: Apis,
        findings: Findings,
    ) -> dict[str, Any]:
        cells = node_reader.configured(conf.kronos.numa_cells)
        if not cells or apis.nova is None or apis.placement is None:
            return {}
        return {
            'numa_cells': node_checks.check(
                cells,
                apis.nova,
                apis.placement,
                conf.kronos.hypervisor_types,
                findings,
            )
        }

    def tables(
        self, report: Mapping[str, Any], width: int | None
    ) -> list[str]:
        rows = report.get('numa_cells') or []
        if not rows:
            return []
        columns = ['aggregate', 'hosts', 'hosts_read', 'hosts_at_fault']
        return [
            table(
                'Hosts with numa_cells',
                [name.replace('_', ' ') for name in columns],
                [[row[name] for name in columns] for row in rows],
                width,
            )
        ]
