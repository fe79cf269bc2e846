# SPDX-License-Identifier: Apache-2.0
"""The part of the cells in commands: what emptying one needs, and checks."""

import argparse
import time
from collections.abc import Mapping
from typing import Any

from kronos.clients import watcher
from kronos.clients.nova.cell_listings import CellListings
from kronos.cmd import config_files
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.cmd.checks.parts import CommandPart, Report
from kronos.cmd.checks.tables import table
from kronos.cmd.credentials import Access
from kronos.common import exceptions
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.checks import check
from kronos.extensions.cells.readings import cell_needs, unfinished_moves
from kronos.snapshots.cloud import CloudInventory

GOOD = {True: 'yes', False: 'no', None: '-'}


class CellCommands(CommandPart):
    """What a recording keeps for a cell drain; ``--cells`` of test-config."""

    def record(
        self,
        gathered: CloudInventory,
        access: Access,
        conf: Any,
        report: Report,
    ) -> list[str]:
        """Ask a cloud whose cells are told what emptying one needs."""
        if not any(host.cell for host in gathered.cloud.hosts.values()):
            return []
        listings = CellListings(access.clients.nova().api)
        needs = gathered.beside[cell_drain.NAME] = cell_needs.of_cloud(
            listings,
            cell_needs.Sources.of(conf.kronos, access.clients),
            gathered.instances,
            report,
        )
        lacking = [cell_needs.NO_SHARES, *needs.warnings]
        since = time.time() - unfinished_moves.REMEMBERED_SECONDS
        try:
            client = watcher.find(access.session, conf.nova.region_name)
            begun = unfinished_moves.listed(client, since)
        except exceptions.ClientError as error:
            begun = []
            lacking.append(f'{cell_drain.NOT_KNOWN}: {error}')
        unfinished_moves.note(listings, gathered, begun)
        return lacking

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            '--cells',
            action='store_true',
            help='show the cell of each host, and test the requirements of '
            'moves to another cell',
        )
        config_files.add_paths(
            parser,
            '--cell-config',
            'with --cells: nova.conf of nova-conductor, nova-scheduler or a '
            'nova-compute, or its directory; FILE.d is read, too. May be '
            'repeated, once for each service',
        )
        config_files.add_paths(
            parser,
            '--nova-policy',
            'with --cells: policy.yaml of nova-api, or a directory of such '
            'files; may be repeated, and later files override earlier ones',
        )

    def misuse(self, parsed: argparse.Namespace) -> str:
        if parsed.cells or not (parsed.cell_config or parsed.nova_policy):
            return ''
        return '--cell-config and --nova-policy require --cells'

    def check(
        self,
        parsed: argparse.Namespace,
        conf: Any,
        access: Access | None,
        apis: Apis,
        findings: Findings,
    ) -> dict[str, Any]:
        if not parsed.cells:
            return {}
        files = check.NovaFiles(parsed.cell_config, parsed.nova_policy)
        return {
            'cells': check.check(
                files, access, apis.nova, conf.kronos, findings
            )
        }

    def tables(
        self, report: Mapping[str, Any], width: int | None
    ) -> list[str]:
        if not report.get('cells'):
            return []
        return _tables(report['cells'], width)


def _tables(cells: Mapping[str, Any], width: int | None) -> list[str]:
    hosts = [
        [
            row['host'],
            ', '.join(row['cells']) or None,
            ', '.join(row['told_by']) or None,
            row['zone'] or None,
            'yes' if row['takes_servers'] else 'no',
        ]
        for row in cells['hosts']
    ]
    needs = [
        [row['what'], row['value'], row['where'], GOOD[row['is_good']]]
        for row in cells['needs']
    ]
    columns = ['host', 'cell', 'by', 'zone', 'takes servers']
    return [
        table(
            f'Cells of the hosts, by cell_source = {cells["source"]}',
            columns,
            hosts,
            width,
        ),
        table(
            'Requirements of moves between cells',
            ['what', 'value', 'where', 'good'],
            needs,
            width,
        ),
    ]
