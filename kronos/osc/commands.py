# SPDX-License-Identifier: Apache-2.0
"""The client commands that read: plans, and the history of a server.

The client loads this module whatever it is asked for, so what reads Watcher
is imported when a command runs.

Exit status: 0 when it was told; 1 when Watcher is away, refuses, is too old
or has no such thing; 2 when the arguments are wrong.
"""

import argparse
import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from osc_lib import exceptions as osc_exceptions
from osc_lib.command import command

from kronos.common import exceptions, masking, plain_text
from kronos.osc import plugin

if TYPE_CHECKING:
    from kronos.clients.watcher import WatcherClient

PLANS = 20
DAYS = 7
MOST_DAYS = 3650
_SPAN = re.compile('([0-9]{1,9}) *(d|days?|w|weeks?)')
STATES = (
    'RECOMMENDED',
    'PENDING',
    'ONGOING',
    'SUCCEEDED',
    'FAILED',
    'CANCELLING',
    'CANCELLED',
    'SUPERSEDED',
    'DELETED',
)
"""Of Watcher's action plans."""
_REFUSED = "this requires the role of {}'s administrator"
_OTHERS: dict[type[exceptions.ClientError], str] = {
    exceptions.NovaClientError: 'Nova',
    exceptions.PlacementClientError: 'Placement',
}
"""Services beside Watcher; their errors name them."""
_OLD = "Watcher's API is too old: Kronos needs 1.5, from Watcher 15 (2025.2)"
Found = tuple[Sequence[str], Sequence[Any]]
ReportedError = osc_exceptions.CommandError
"""What a command raises: the client prints it, and ends with 1."""


class ListPlans(command.Lister):
    """List the action plans of Kronos, the newest first."""

    auth_required = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--limit',
            type=count,
            default=PLANS,
            metavar='N',
            help=f'largest number of plans to list (default: {PLANS})',
        )
        parser.add_argument(
            '--strategy',
            metavar='NAME',
            help='list only plans of this strategy, which can be your own '
            '(default: all strategies of Kronos)',
        )
        parser.add_argument(
            '--state',
            metavar='STATE',
            type=_state,
            help='list only plans in this state, such as RECOMMENDED',
        )
        parser.add_argument(
            '--long',
            action='store_true',
            help='also list the times, the audit and the message of the plan',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Found:
        from kronos.osc import audits, plans, rows

        with reported_errors():
            watcher = watcher_of(self)
            newest = plans.newest(
                watcher,
                parsed_args.limit,
                parsed_args.strategy,
                parsed_args.state,
            )
            if not newest:
                self._report_none(watcher, parsed_args)
            listed = rows.of_plans(newest, audits.Audits(watcher))
        if parsed_args.formatter == 'csv':
            listed = [tuple(map(cell, row)) for row in listed]
        names = rows.PLAN + (rows.MORE if parsed_args.long else ())
        return names, [row[: len(names)] for row in listed]

    def _report_none(
        self, watcher: 'WatcherClient', parsed_args: argparse.Namespace
    ) -> None:
        """Say that there is none, beside the table, which is empty."""
        from kronos.osc import plans

        text = plans.none(watcher, parsed_args.strategy, parsed_args.state)
        self.app.stderr.write(f'{plain_text.line(text)}\n')


class ShowPlan(command.ShowOne):
    """Show an action plan of Kronos: its moves in order, and what it does."""

    auth_required = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'plan',
            metavar='PLAN',
            help='uuid of the action plan, or the beginning of the uuid as '
            'in a list',
        )
        parser.add_argument(
            '--html',
            metavar='FILE',
            help='also write the plan to FILE as a page for a browser',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Found:
        from kronos.osc import audits, plan_page, plans, rows

        with reported_errors():
            watcher = watcher_of(self)
            plan = plans.by_uuid(watcher, parsed_args.plan)
            audit = audits.Audits(watcher).get(plan.audit)
            if parsed_args.html is not None:
                plan_page.write(plan, audit, parsed_args.html)
        return _columns(rows.of_plan(plan, audit))


class Explain(command.ShowOne):
    """Explain a server: what Kronos did with it of late, and plans to do."""

    auth_required = False

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'server',
            metavar='SERVER',
            help='uuid of the server, or its name in a plan of Kronos',
        )
        parser.add_argument(
            '--days',
            type=_days,
            default=DAYS,
            metavar='N',
            help=f'number of days to look back (default: {DAYS})',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Found:
        from kronos.osc import rows, server_history

        with reported_errors():
            history = server_history.find(
                watcher_of(self), parsed_args.server, parsed_args.days
            )
        return _columns(rows.of_server(history))


@contextlib.contextmanager
def reported_errors() -> Iterator[None]:
    """Make one line of whatever keeps a command from its answer.

    :raises CommandError: the client prints it, and ends with 1
    """
    try:
        yield
    except exceptions.KronosException as error:
        said = masking.masked(_words(error))
        raise ReportedError(plain_text.line(said)) from error


def _words(error: exceptions.KronosException) -> str:
    """What went wrong; of what a service refuses, what that comes to."""
    status = error.kwargs.get('status')
    service = next(
        (name for kind, name in _OTHERS.items() if isinstance(error, kind)),
        'Watcher',
    )
    if status == 403:
        return f'{_REFUSED.format(service)} ({error})'
    if service != 'Watcher':
        return str(error)
    if status == 406:
        # Without Watcher's words: it is a page of HTML.
        return f'{_OLD} (HTTP 406)'
    is_of_client = isinstance(error, exceptions.ClientError)
    return f'Watcher: {error}' if is_of_client else str(error)


def watcher_of(caller: command.Command) -> 'WatcherClient':
    client: WatcherClient = getattr(caller.app.client_manager, plugin.API_NAME)
    return client


def adapter_of(caller: command.Command, service_type: str) -> Any:
    """An adapter of keystoneauth for a service, as the user chose it."""
    from keystoneauth1 import adapter

    manager = caller.app.client_manager
    return adapter.Adapter(
        plugin.session_of(manager),
        service_type=service_type,
        region_name=manager.region_name or None,
        interface=manager.interface or None,
        endpoint_override=manager.get_configuration().get(
            f'{service_type}_endpoint_override'
        ),
    )


def _columns(fields: dict[str, Any]) -> Found:
    return tuple(fields), tuple(fields.values())


def cell(value: Any) -> Any:
    return plain_text.cell(value) if isinstance(value, str) else value


def count(text: str) -> int:
    """An argument that is a whole number, and not 0."""
    if not text.isascii() or not text.isdigit() or not int(text[:9]):
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a whole number of at least 1'
        )
    return int(text[:9])


def _days(text: str) -> int:
    """A number of days, or as people write one: ``7d``, ``2 weeks``."""
    match = _SPAN.fullmatch(text.strip().lower())
    if match is None:
        return min(count(text), MOST_DAYS)
    days = 7 if match[2].startswith('w') else 1
    return min(count(match[1]) * days, MOST_DAYS)


def _state(text: str) -> str:
    """An argument that is a state of action plans."""
    from kronos.common import yaml_files
    from kronos.common.names import near_names

    state = text.upper()
    if state not in STATES:
        hint = near_names.of_fields(state, STATES)
        if 'known' not in hint:
            hint = f'{hint} Known: {", ".join(STATES)}'
        raise argparse.ArgumentTypeError(
            f'there is no state {yaml_files.clip(text)} of action plans; '
            f'{hint}'
        )
    return state
