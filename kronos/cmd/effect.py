# SPDX-License-Identifier: Apache-2.0
"""The command kronos-effect: what plans changed, beside what they promised.

Exit status: 0 when it was measured, whatever came of it; 1 when Watcher or
the configuration is away or wrong; 2 when the arguments are wrong.
"""

import argparse
import sys
import time
from collections.abc import Collection, Sequence
from typing import Any

from kronos.clients import watcher
from kronos.clients.nova.client import NovaClient
from kronos.clients.prometheus import client
from kronos.cmd import config_files, credentials, program, tables, terminal
from kronos.cmd.screen import effects as screen
from kronos.common import exceptions
from kronos.conf import validation
from kronos.engine.types import UNASSIGNED
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.snapshots.past import effects, past_plans
from kronos.snapshots.past.effects import EffectReader

PROGRAM = 'kronos-effect'


@program.command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parsed = argument_parser().parse_args(arguments)
    config_files.log(parsed.debug)
    document = _document(parsed)
    terminal.show(_text(document, parsed))
    return 0


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Compare what the newest plans changed with what they '
        'promised. This command only reads from the cloud.',
        epilog='Exit status: 0 measured, 1 not measured, 2 wrong usage.',
    )
    parser.add_argument(
        'plan',
        metavar='PLAN',
        nargs='?',
        help='UUID of an action plan, to measure it alone, host by host '
        '(default: the newest plans of each scope)',
    )
    config_files.add_arguments(parser)
    parser.add_argument(
        '--policies',
        metavar='FILE',
        help='policies file whose queries are run (default: policies_file in '
        '[kronos])',
    )
    program.add_format(parser)
    config_files.add_debug(parser)
    return parser


def _document(parsed: argparse.Namespace) -> dict[str, Any]:
    """What is known of the plans.

    :raises KronosException: the configuration is wrong, or Watcher is away
    """
    own = config_files.paths([*parsed.config_file, *parsed.config_dir])
    conf = config_files.load(own or config_files.default_paths(PROGRAM))
    validation.require_valid(conf)
    path = parsed.policies or conf.kronos.policies_file
    policies = loader.parse(loader.read(path), path).enabled
    access = credentials.connect(conf, parsed.os_cloud)
    source = watcher.find(access.session, conf.nova.region_name)
    if parsed.plan:
        plans = past_plans.of_row(source, source.plan(parsed.plan))
    else:
        plans = past_plans.newest(source, conf.kronos.effect_plans)
    reader = _reader(conf, access, policies)
    return screen.document(
        reader.read(plans, policies, time.time()),
        [policy.name for policy in policies],
    )


def _reader(
    conf: Any, access: credentials.Access, policies: list[Policy]
) -> EffectReader:
    nova = access.clients.nova()
    prometheus = client.from_options(conf.kronos_prometheus, access.session)
    return effects.live(nova, prometheus, _hosts(nova), policies, conf.kronos)


def _hosts(nova: NovaClient) -> dict[str, Collection[str]]:
    """By scope; without Nova no plan can be measured, and that is told."""
    try:
        aggregates = nova.list_aggregates()
        everyone = set(nova.list_compute_services())
    except exceptions.NovaClientError:
        return {}
    hosts: dict[str, Collection[str]] = {
        aggregate.name: aggregate.hosts for aggregate in aggregates
    }
    assigned = {host for aggregate in aggregates for host in aggregate.hosts}
    hosts[UNASSIGNED] = everyone - assigned
    return hosts


def _text(document: dict[str, Any], parsed: argparse.Namespace) -> str:
    if parsed.format in tables.WHOLE:
        return tables.whole(document, parsed.format)
    rows = screen.rows(document, by_host=bool(parsed.plan))
    if parsed.format != 'table':
        return tables.printed(rows, parsed.format)
    lines = screen.sentences(document) if not parsed.plan else []
    width = program.width(parsed)
    return '\n'.join([*lines, *tables.aligned(rows, width)])


if __name__ == '__main__':
    sys.exit(main())
