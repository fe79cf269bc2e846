# SPDX-License-Identifier: Apache-2.0
"""The command ``run``: one strategy from the question to the end."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from osc_lib.command import command

from kronos.osc import commands

if TYPE_CHECKING:
    from kronos.osc.run.dialogue import Dialogue
    from kronos.osc.run.exit_status import ExitStatus
    from kronos.osc.run.views import Percent

PICKUP_SECONDS = 120
STRATEGIES = 'spread, pack, evacuate, affinity, recover, cell-drain'


class Run(command.Command):
    """Run a strategy of Kronos: audit, plan, and on request the moves."""

    auth_required = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'strategy',
            metavar='STRATEGY',
            help=f'{STRATEGIES}, or the name of another strategy of Watcher; '
            'Watcher determines the goal',
        )
        parser.add_argument(
            '--aggregate',
            metavar='NAME',
            nargs='+',
            action='extend',
            default=[],
            help='aggregates to plan (default: those in the configuration of '
            'Kronos)',
        )
        parser.add_argument(
            '--param',
            metavar='NAME=VALUE',
            action='append',
            type=_pair,
            default=[],
            help='another parameter of the audit, such as max_migrations=5; '
            'repeat the option for several',
        )
        _add_course(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        from kronos.osc.run import dialogue, polling
        from kronos.osc.run.exit_status import ExitStatus

        if (parsed_args.yes or parsed_args.wait) and not parsed_args.start:
            self.app.stderr.write('--yes and --wait require --start\n')
            return ExitStatus.USAGE
        talk = dialogue.Dialogue(
            self.app.stdout, self.app.stderr, self.app.stdin or sys.stdin
        )
        try:
            with commands.reported_errors():
                return self._run(parsed_args, talk)
        except commands.ReportedError as error:
            if not isinstance(error.__cause__, polling.NoServiceError):
                raise
            talk.remark(str(error))
            return ExitStatus.NO_SERVICE
        finally:
            talk.close()

    def _run(
        self, parsed_args: argparse.Namespace, talk: 'Dialogue'
    ) -> 'ExitStatus':
        from kronos.osc.run import polling, request, strategy_run
        from kronos.osc.run.exit_status import ExitStatus

        try:
            watcher = commands.watcher_of(self)
            audit_request = request.make(
                watcher.goals(),
                parsed_args.strategy,
                parsed_args.aggregate,
                parsed_args.param,
            )
        except KeyboardInterrupt:
            talk.remark('\nNo audit was created.')
            return ExitStatus.INTERRUPTED
        return strategy_run.StrategyRun(
            watcher,
            talk,
            polling.Polling(parsed_args.pickup_timeout),
            strategy_run.Choice(
                parsed_args.start, parsed_args.wait, parsed_args.yes
            ),
            self._percent,
        ).run(audit_request)

    def _percent(self) -> 'Percent':
        from kronos.osc.run import nova_progress

        return nova_progress.NovaProgress(commands.adapter_of(self, 'compute'))


def _add_course(parser: argparse.ArgumentParser) -> None:
    """Options for how far it goes."""
    parser.add_argument(
        '--start',
        action='store_true',
        help='start the plan after a question (default: only show it)',
    )
    parser.add_argument(
        '--yes',
        action='store_true',
        help='with --start: start the plan without a question',
    )
    parser.add_argument(
        '--wait',
        action='store_true',
        help='with --start: follow the moves to their end',
    )
    parser.add_argument(
        '--pickup-timeout',
        metavar='SECONDS',
        type=commands.count,
        default=PICKUP_SECONDS,
        help='how long the audit or the plan may be PENDING before the '
        f'command gives up (default: {PICKUP_SECONDS})',
    )


def _pair(text: str) -> Any:
    from kronos.osc.run import request

    try:
        return request.pair(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
