# SPDX-License-Identifier: Apache-2.0
"""The client commands of maintenance runs that look, pause and end.

As of :mod:`kronos.osc.commands`, what reads Watcher is imported when a
command runs. Each has the exit statuses of
:class:`~kronos.extensions.maintenance.client.exit_status.ExitStatus`.
"""

import argparse
import math
import sys
import time
from typing import TYPE_CHECKING, Any

from osc_lib.command import command

from kronos.osc import commands

if TYPE_CHECKING:
    from kronos.extensions.maintenance.client.exit_status import ExitStatus
    from kronos.extensions.maintenance.client.fields import Fields
    from kronos.extensions.maintenance.client.run_reader import RunReader
    from kronos.extensions.maintenance.client.run_status import RunStatus
    from kronos.extensions.maintenance.client.runs import Run
    from kronos.extensions.maintenance.host_states import State
    from kronos.osc.run.dialogue import Dialogue

POLL_SECONDS = 10.0
"""Between two looks at a run, of which nothing happens faster."""
STOP_SECONDS = 600
"""For a plan that is cancelled: a move under way may have to end."""


class RunCommand(command.ShowOne):
    """A command about a run, whose exit status says how that is."""

    auth_required = False
    _code = 0

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        self._add_run(parser)
        return parser

    def _add_run(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            '--run',
            metavar='NAME',
            help='name of the run (default: the run that is live, or else '
            'the newest)',
        )

    def usage(self, parsed_args: argparse.Namespace) -> str:
        """What is wrong with the options; '': nothing is."""
        return ''

    def carry_out(
        self, parsed_args: argparse.Namespace
    ) -> 'tuple[ExitStatus, Fields]':
        """:raises KronosException: something keeps it from its answer"""
        raise NotImplementedError

    def run(self, parsed_args: argparse.Namespace) -> int:
        wrong = self.usage(parsed_args)
        if wrong:
            self.app.stderr.write(f'{wrong}\n')
            return 2
        super().run(parsed_args)
        return self._code

    def take_action(self, parsed_args: argparse.Namespace) -> commands.Found:
        with commands.reported_errors():
            code, fields = self.carry_out(parsed_args)
        self._code = int(code)
        return tuple(fields), tuple(fields.values())

    def reader(self) -> 'RunReader':
        from kronos.clients.nova.client import NovaClient
        from kronos.extensions.maintenance.client.run_reader import RunReader

        compute = commands.adapter_of(self, 'compute')
        nova = NovaClient(compute, max_retries=0)
        return RunReader(commands.watcher_of(self), nova)

    def dialogue(self) -> 'Dialogue':
        from kronos.osc.run.dialogue import Dialogue

        return Dialogue(
            self.app.stdout, self.app.stderr, self.app.stdin or sys.stdin
        )


class Status(RunCommand):
    """Show the status of a maintenance run, and of each of its hosts."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--host',
            metavar='HOST',
            help='show only this host of the run (default: all)',
        )
        parser.add_argument(
            '--state',
            metavar='STATE',
            type=_state,
            help='exit with 0 if the host, or each host, is in this state, '
            'such as handed-over (default: done)',
        )
        parser.add_argument(
            '--wait',
            action='store_true',
            help='wait for the state as long as the run can reach it',
        )
        parser.add_argument(
            '--timeout',
            metavar='SECONDS',
            type=commands.count,
            help='with --wait: wait no longer than this (default: without '
            'end)',
        )
        return parser

    def usage(self, parsed_args: argparse.Namespace) -> str:
        if parsed_args.timeout is not None and not parsed_args.wait:
            return '--timeout requires --wait'
        return ''

    def carry_out(
        self, parsed_args: argparse.Namespace
    ) -> 'tuple[ExitStatus, Fields]':
        from kronos.extensions.maintenance.client import fields
        from kronos.extensions.maintenance.host_states import State

        state, host = parsed_args.state or State.DONE, parsed_args.host
        code, status = self._looks(parsed_args, state)
        return code, fields.of_status(status, host)

    def _looks(
        self, parsed_args: argparse.Namespace, state: 'State'
    ) -> 'tuple[ExitStatus, RunStatus]':
        from kronos.extensions.maintenance.client import run_status
        from kronos.extensions.maintenance.client.exit_status import ExitStatus
        from kronos.osc.run.polling import Polling
        from kronos.osc.run.views import View

        reader, host = self.reader(), parsed_args.host

        def look() -> 'tuple[ExitStatus, RunStatus]':
            status = reader.status(reader.run(parsed_args.run), host)
            return run_status.exit_status(status, state, host), status

        if not parsed_args.wait:
            return look()
        talk, limit = self.dialogue(), parsed_args.timeout or math.inf
        until = time.monotonic() + limit
        polling = Polling(0.0, wait=lambda _: time.sleep(POLL_SECONDS))
        try:
            for code, status in polling.looks(
                look, talk.remark, 'The run goes on without this command.'
            ):
                is_over = time.monotonic() >= until
                if code is not ExitStatus.NOT_YET or is_over:
                    return code, status
                talk.show(View(run_status.line(status, host)))
        finally:
            talk.close()
        raise AssertionError('the looks have no end')


class Report(RunCommand):
    """Report what a maintenance run has done: moves, times, late hosts."""

    def carry_out(
        self, parsed_args: argparse.Namespace
    ) -> 'tuple[ExitStatus, Fields]':
        from kronos.extensions.maintenance.client import fields
        from kronos.extensions.maintenance.client.exit_status import ExitStatus

        reader = self.reader()
        status = reader.status(reader.run(parsed_args.run))
        return ExitStatus.REACHED, fields.of_report(status)


class _Change(RunCommand):
    """A command that changes a run, and shows its status afterwards."""

    def change(self, reader: 'RunReader', run: 'Run') -> None:
        raise NotImplementedError

    def carry_out(
        self, parsed_args: argparse.Namespace
    ) -> 'tuple[ExitStatus, Fields]':
        from kronos.extensions.maintenance.client import fields

        reader = self.reader()
        run = reader.run(parsed_args.run)
        self.change(reader, run)
        status = reader.status(reader.run(run.name))
        return self.end(status), fields.of_status(status)

    def end(self, status: 'RunStatus') -> 'ExitStatus':
        from kronos.extensions.maintenance.client.exit_status import ExitStatus

        return ExitStatus.REACHED


class Pause(_Change):
    """Pause a maintenance run: closed hosts stay closed, none is added."""

    def change(self, reader: 'RunReader', run: 'Run') -> None:
        from kronos.extensions.maintenance.client import changes

        changes.pause(reader.watcher, run)


class Resume(_Change):
    """Resume a maintenance run that is paused."""

    def change(self, reader: 'RunReader', run: 'Run') -> None:
        from kronos.extensions.maintenance.client import changes

        changes.resume(reader.watcher, run)


class Finish(_Change):
    """Finish a maintenance run, and name the hosts that stay closed."""

    def change(self, reader: 'RunReader', run: 'Run') -> None:
        from kronos.extensions.maintenance.client import changes
        from kronos.osc.run.views import View

        talk = self.dialogue()
        limit = time.monotonic() + STOP_SECONDS

        def wait(text: str) -> bool:
            talk.show(View(text))
            time.sleep(min(POLL_SECONDS, 1.0))
            return time.monotonic() < limit

        try:
            changes.Finish(reader.watcher, wait).carry_out(run)
        finally:
            talk.close()

    def end(self, status: 'RunStatus') -> 'ExitStatus':
        from kronos.extensions.maintenance.client import changes
        from kronos.extensions.maintenance.client.exit_status import ExitStatus

        remedies = changes.remedies(status)
        for sentence in remedies:
            self.app.stderr.write(f'{sentence}\n')
        return ExitStatus.BLOCKED if remedies else ExitStatus.REACHED


def _state(text: str) -> Any:
    """An argument that is a state of hosts, with blanks or hyphens."""
    from kronos.common import yaml_files
    from kronos.common.names import near_names
    from kronos.extensions.maintenance.host_states import State

    states = {state.value.replace(' ', '-'): state for state in State}
    name = text.lower().replace(' ', '-')
    if name not in states:
        hint = near_names.of_fields(name, states)
        raise argparse.ArgumentTypeError(
            f'hosts have no state {yaml_files.clip(text)}; {hint}'
        )
    return states[name]
