# SPDX-License-Identifier: Apache-2.0
"""The client command that starts a maintenance run, or looks at one."""

import argparse
from typing import TYPE_CHECKING, Any

from kronos.extensions.maintenance.client.commands import RunCommand

if TYPE_CHECKING:
    from kronos.clients.rest import Json
    from kronos.extensions.maintenance.client.exit_status import ExitStatus
    from kronos.extensions.maintenance.client.fields import Fields
    from kronos.extensions.maintenance.client.run_reader import RunReader
    from kronos.extensions.maintenance.maintenance import Maintenance

INTERVAL = '60'
PICKUP_SECONDS = 120
COUNTS = {
    'at-once': 'number of hosts that may be unavailable at a time, whoever '
    'closed them (default: 1)',
    'at-once-per-az': 'the same for each availability zone (default: any '
    'number)',
    'seed-hosts': 'number of hosts whose servers may move twice (default: 1)',
    'max-late': 'number of late hosts at which no further host is closed '
    '(default: 1)',
}
SECONDS = {
    'host-timeout': 'how long a host may be handed over before it is late '
    '(default: 3600)',
    'drain-timeout': 'how long a host may be emptied before it is late '
    '(default: any time)',
}
QUERIES = {
    'done-query': 'PromQL that returns the hosts that are done (default: '
    'maintenance_done_query in the configuration of Kronos)',
    'ready-query': 'PromQL that returns the hosts that may serve again '
    '(default: all that are done)',
}


class Start(RunCommand):
    """Start a maintenance run over hosts, or only look at what it would do."""

    def _add_run(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            '--run',
            metavar='NAME',
            required=True,
            help='name of the run, of letters, digits, ".", "_" and "-"; it '
            'is part of the reason of each closed host',
        )
        parser.add_argument(
            '--host',
            metavar='HOST',
            nargs='+',
            action='extend',
            default=[],
            help='hosts to be maintained',
        )
        parser.add_argument(
            '--hosts-file',
            metavar='FILE',
            help='file with more hosts, one a line',
        )
        parser.add_argument(
            '--check',
            action='store_true',
            help='only show what the run would do, and start nothing',
        )
        _add_parameters(parser)

    def usage(self, parsed_args: argparse.Namespace) -> str:
        from kronos.common import exceptions
        from kronos.extensions.maintenance.client import start_request

        try:
            self._raw = start_request.parameters(parsed_args)
            self._spec = start_request.parsed(self._raw)
        except exceptions.KronosException as error:
            return str(error.kwargs.get('reason') or error)
        return ''

    def carry_out(
        self, parsed_args: argparse.Namespace
    ) -> 'tuple[ExitStatus, Fields]':
        from kronos.extensions.maintenance.client import fields, runs
        from kronos.extensions.maintenance.client.exit_status import ExitStatus

        reader = self.reader()
        earlier = runs.listed(reader.watcher)
        self._require_possible(reader, earlier)
        if parsed_args.check:
            is_new = self._spec.run not in [run.name for run in earlier]
            return self._look(reader, is_new)
        request = _request(self._raw, parsed_args.interval)
        reader.watcher.create_audit(request.fields)
        run = reader.run(self._spec.run)
        return ExitStatus.REACHED, fields.of_run(run)

    def _require_possible(
        self, reader: 'RunReader', earlier: 'list[Any]'
    ) -> None:
        """:raises KronosException: Watcher or Nova lacks what it needs"""
        from kronos.common import exceptions
        from kronos.extensions.maintenance.client import runs

        runs.require_alone(earlier, self._spec)
        if runs.STRATEGY not in reader.watcher.goals():
            raise exceptions.KronosException(
                f'Watcher has no strategy {runs.STRATEGY}; upgrade Kronos '
                'where its decision engine runs, and restart that'
            )
        if self._spec.run not in [run.name for run in earlier]:
            _require_hosts(reader, self._spec)

    def _look(
        self, reader: 'RunReader', is_new: bool
    ) -> 'tuple[ExitStatus, Fields]':
        from kronos.clients.nova.cell_listings import CellListings
        from kronos.extensions.maintenance.client import host_checks, look
        from kronos.osc.run.polling import Polling

        watcher, talk, nova = reader.watcher, self.dialogue(), reader.nova
        unconfirmed = CellListings(nova.api).unconfirmed()
        try:
            answer, plan = look.take(
                watcher,
                talk,
                Polling(PICKUP_SECONDS),
                _request(self._raw, None),
            )
        finally:
            talk.close()
        result = look.Look(
            self._spec,
            answer,
            plan,
            look.balancing(watcher.audits()),
            look.foreign(self._spec, nova.list_compute_services()),
            [
                host_checks.of(
                    host, nova.list_instances_on_host(host), unconfirmed
                )
                for host in self._spec.hosts
            ],
            is_new,
        )
        return result.exit_status, result.fields


def _request(raw: 'Json', interval: str | None) -> Any:
    from kronos.extensions.maintenance.client import start_request

    return start_request.of(raw, interval)


def _require_hosts(reader: 'RunReader', spec: 'Maintenance') -> None:
    """Refuse hosts that Nova does not have, before the run has begun."""
    from kronos.common import exceptions
    from kronos.common.names import near_names

    services = reader.nova.list_compute_services()
    for name in spec.hosts:
        if name not in services:
            hint = near_names.of_cloud(name, sorted(services))
            raise exceptions.KronosException(
                f'Nova has no nova-compute on a host {name}; {hint}'
            )


def _add_parameters(parser: argparse.ArgumentParser) -> None:
    """Options that are parameters of the audit, which checks them."""
    parser.add_argument(
        '--aggregates',
        metavar='NAMES',
        help='aggregates to plan, separated by commas (default: aggregates '
        'in the configuration of Kronos)',
    )
    for options, metavar in (
        (COUNTS, 'N'),
        (SECONDS, 'SECONDS'),
        (QUERIES, 'PROMQL'),
    ):
        for name, text in options.items():
            parser.add_argument(f'--{name}', metavar=metavar, help=text)
    parser.add_argument(
        '--stopped',
        metavar='WHAT',
        help='what becomes of stopped servers: stay hands the host over with '
        'them, block does not (default: stay)',
    )
    parser.add_argument(
        '--no-reopen',
        action='store_true',
        help='leave hosts closed that are done (default: Kronos opens them)',
    )
    parser.add_argument(
        '--interval',
        metavar='SECONDS',
        default=INTERVAL,
        help='seconds between two plans, or a line of cron (default: '
        f'{INTERVAL})',
    )
