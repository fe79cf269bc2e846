# SPDX-License-Identifier: Apache-2.0
"""The client command that counts slots, by what Nova and Placement show.

As of :mod:`kronos.osc.commands`, what reads them is imported when it runs.
"""

import argparse

from osc_lib.command import command

from kronos.common import plain_text
from kronos.osc import commands


class ListSlots(command.Lister):
    """List the slots of flavors: how many more servers of each fit."""

    auth_required = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_names(
            parser,
            '--flavor',
            'count only these flavors (default: all)',
        )
        _add_names(
            parser,
            '--aggregate',
            'count only in these aggregates (default: in all, and on '
            'the hosts that are in none)',
        )
        parser.add_argument(
            '--by-host',
            action='store_true',
            help='list the slots of each host, and why a host takes no '
            'server (default: the slots of each scope)',
        )
        parser.add_argument(
            '--check-disk',
            action='store_true',
            help='count DISK_GB, too, as with check_disk in the configuration '
            'of Kronos',
        )
        _add_configuration(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> commands.Found:
        from kronos.clients.nova import node_reader
        from kronos.clients.nova.client import NovaClient
        from kronos.clients.placement import PlacementClient
        from kronos.options import choices
        from kronos.osc import slot_rows

        with commands.reported_errors():
            counted = slot_rows.read(
                NovaClient(
                    commands.adapter_of(self, 'compute'), max_retries=0
                ),
                PlacementClient(
                    commands.adapter_of(self, 'placement'), max_retries=0
                ),
                slot_rows.Question(
                    parsed_args.flavor,
                    parsed_args.aggregate,
                    parsed_args.check_disk,
                    parsed_args.hypervisor_type or choices.HYPERVISOR_TYPES,
                    node_reader.configured(
                        parsed_args.numa_cells, slot_rows.CELLS
                    ),
                ),
            )
        for name, why in counted.refused.items():
            line = plain_text.line(f'Not counted: {name}: {why}')
            self.app.stderr.write(f'{line}\n')
        listed = slot_rows.by_host if parsed_args.by_host else slot_rows.scopes
        names, rows = listed(counted)
        if parsed_args.formatter == 'csv':
            rows = [tuple(map(commands.cell, row)) for row in rows]
        return names, rows


def _add_configuration(parser: argparse.ArgumentParser) -> None:
    """Add the options that repeat the configuration of Kronos."""
    _add_names(
        parser,
        '--hypervisor-type',
        'count hosts with these hypervisors, as with '
        'hypervisor_types in the configuration of Kronos (default: QEMU '
        'and KVM)',
    )
    _add_names(
        parser,
        '--numa-cells',
        'NUMA nodes of the hosts of an aggregate, as with numa_cells in '
        'the configuration of Kronos: '
        'AGGREGATE:nodes=2,cpus=44,memory_mb=184388, with packing=true '
        'if Nova packs. With it, flavors with a NUMA topology are '
        'counted, too',
        'CELLS',
    )


def _add_names(
    parser: argparse.ArgumentParser,
    option: str,
    text: str,
    metavar: str = 'NAME',
) -> None:
    """Add an option that takes names, as often as it is set."""
    parser.add_argument(
        option,
        metavar=metavar,
        nargs='+',
        action='extend',
        default=[],
        help=text,
    )
