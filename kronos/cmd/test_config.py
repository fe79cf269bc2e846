# SPDX-License-Identifier: Apache-2.0
"""The command kronos-test-config: would Kronos work like this?

Exit status: 0 when it would; 1 when something keeps what was asked for from
working; 2 when the arguments are wrong.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from oslo_log import log as logging

from kronos.clients.prometheus import client
from kronos.cmd import config_files, credentials, program, tables, terminal
from kronos.cmd.checks import (
    cloud,
    exclusions,
    exporters,
    files,
    instances,
    metrics,
    monitors,
    parts,
    policies,
    scopes,
    subprocess_probe,
    watcher,
    weigher,
)
from kronos.cmd.checks import tables as check_tables
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.causes import (
    answers,
    budgets,
    hypervisors,
    progress_intervals,
    windows,
)
from kronos.cmd.checks.findings import Cause, Findings, group
from kronos.cmd.loads import history
from kronos.cmd.screen import progress
from kronos.common import exceptions

LOG = logging.getLogger(__name__)
PROGRAM = 'kronos-test-config'
SCHEDULER = 'nova-scheduler.conf.d'
OF_POLICIES = ('queries', 'servers', 'scopes', 'windows')
"""Keys of what is found out by each policies file."""


@program.command(PROGRAM)
def main(
    arguments: Sequence[str] | None = None,
    inspect: subprocess_probe.Inspect = subprocess_probe.inspect,
) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :param inspect: loads modules of Watcher and Nova
    :returns: the exit status
    """
    parser = argument_parser()
    parsed = parser.parse_args(arguments)
    for part in parts.every():
        if fault := part.misuse(parsed):
            parser.error(fault)
    config_files.log(parsed.debug)
    check = ConfigTest(parsed, inspect)
    with progress.shown(PROGRAM, parsed.debug):
        check.run()
    document = check.document()
    if parsed.format in tables.WHOLE:
        text = tables.whole(document, parsed.format, allow_nan=True)
    elif parsed.format == 'table':
        text = check_tables.text(document, program.width(parsed))
    else:
        text = tables.printed(check_tables.rows(document), parsed.format)
    terminal.show(text)
    return 0 if check.findings.is_good else 1


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Test the configuration of Kronos, without changing '
        'anything.',
        epilog='Exit status: 0 no error found, 1 an error found, 2 wrong '
        'usage.',
    )
    config_files.add_arguments(parser)
    config_files.add_paths(
        parser,
        '--watcher-config',
        'watcher.conf, or its directory; FILE.d is read, too. The command '
        'tests its user, and its section [kronos] if no --config-file is '
        'given',
    )
    config_files.add_paths(
        parser,
        '--nova-config',
        'nova.conf of nova-scheduler, or its directory; FILE.d and '
        f'{SCHEDULER} are read, too. Tests the weigher',
    )
    parser.add_argument(
        '--scope',
        action='append',
        default=[],
        metavar='AGGREGATE',
        help='host aggregate to test; may be repeated (default: aggregates '
        'in [kronos], else all)',
    )
    for part in parts.every():
        part.add_arguments(parser)
    parser.add_argument(
        '--offline',
        action='store_true',
        help='do not connect to OpenStack or Prometheus',
    )
    program.add_format(parser)
    config_files.add_debug(parser)
    return parser


class ConfigTest:
    """One run: files first, then what they lead to."""

    def __init__(
        self,
        parsed: argparse.Namespace,
        inspect: subprocess_probe.Inspect = subprocess_probe.inspect,
    ) -> None:
        """Take what was asked for.

        :param inspect: loads modules of Watcher and Nova
        """
        self._inspect = inspect
        self._parsed = parsed
        self.findings = Findings()
        self._watcher = config_files.paths(parsed.watcher_config)
        self._nova = config_files.paths(parsed.nova_config, [SCHEDULER])
        own = config_files.paths([*parsed.config_file, *parsed.config_dir])
        self._is_watchers = not own and bool(self._watcher)
        self._own = own or self._watcher or config_files.default_paths(PROGRAM)
        self._report: dict[str, Any] = {
            'policies': [],
            'watcher': {'version': '', 'entry_points': []},
        }

    def document(self) -> dict[str, Any]:
        """What programs read; its keys stay."""
        return {
            'good': self.findings.is_good,
            'configuration': {
                'kronos': self._own.all_files,
                'watcher': self._watcher.all_files,
                'nova': self._nova.all_files,
            },
            **self._report,
            'findings': self.findings.document(),
        }

    def run(self) -> None:
        """Make all checks that can be made."""
        try:
            conf = self._load(self._own)
            of_watcher = self._load(self._watcher) if self._watcher else None
            of_nova = self._load(self._nova) if self._nova else None
        except exceptions.ConfigurationError as error:
            self.findings.error(
                'config-invalid', str(error), 'correct the file'
            )
            return
        self._report['watcher'] = watcher.plugins(self._inspect, self.findings)
        every = (self._own, self._watcher, self._nova)
        for path in dict.fromkeys(p for read in every for p in read.all_files):
            files.unknown(path, self.findings)
        is_valid = files.check(conf, self._own, self.findings)
        if not is_valid:
            return
        if of_watcher is not None:
            self._applier(of_watcher, conf)
        sets = policies.check(conf.kronos, self.findings)
        for each in sets:
            settings = scopes.settings(conf.kronos, each.file.mode)
            policies.check_one(each, conf.kronos, settings, self.findings)
            self._report['policies'] += policies.rows(each)
        access, clients = None, cloud.Apis()
        fits = files.connections(conf, self.findings)
        if self._parsed.offline:
            files.absent(conf, self.findings)
        else:
            access = _access(
                conf, of_watcher, self._parsed.os_cloud, self.findings
            )
            clients = self._live(conf, access, sets if fits else None)
        for part in parts.every():
            self._report |= part.check(
                self._parsed, conf, access, clients, self.findings
            )
        if of_nova is not None:
            self._weigher(conf, of_nova, clients)

    def _weigher(self, conf: Any, of_nova: Any, clients: cloud.Apis) -> None:
        files.differences(conf, of_nova, True, self.findings)
        progress_intervals.check_option(
            of_nova, conf.kronos.stall_timeout, self.findings
        )
        self._report['weigher'] = weigher.check(
            of_nova,
            self._nova,
            clients,
            not self._parsed.offline,
            self._inspect,
            self.findings,
        )

    def _load(self, where: config_files.Paths) -> Any:
        conf = config_files.load(where, credentials.WATCHER)
        watcher.register_opts(conf)
        weigher.register_opts(conf)
        progress_intervals.register_opts(conf)
        return conf

    def _applier(self, of_watcher: Any, conf: Any) -> None:
        self._report['watcher']['applier'] = watcher.applier(
            of_watcher, conf.kronos, self.findings
        )
        if not self._is_watchers:
            files.differences(conf, of_watcher, False, self.findings)

    def _live(
        self,
        conf: Any,
        access: credentials.Access | None,
        sets: list[policies.PolicySet] | None,
    ) -> cloud.Apis:
        """Ask OpenStack and Prometheus.

        :param sets: None: the options of Prometheus do not fit together
        """
        clients = cloud.Apis()
        if access is not None:
            self._report['cloud'], clients = cloud.check(
                access, conf.kronos.require_headroom, self.findings
            )
        if clients.nova is not None and access is not None:
            self._report['watcher']['running'] = watcher.running(
                access, self.findings
            )
        if sets is None:
            return clients
        prometheus = _prometheus(conf, access, self.findings)
        if prometheus is None:
            return clients
        self._report['prometheus'] = prometheus.address
        once = OncePrometheus(prometheus)
        self._report['exporters'] = exporters.check(once, self.findings)
        excluded = exclusions.check(clients, once, conf.kronos, self.findings)
        if excluded is not None:
            self._report['exclusions'] = excluded
        for part in parts.every():
            self._report |= part.check_metrics(
                clients, once, conf.kronos, self.findings
            )
        hosts = self._measure(conf.kronos, clients, once, sets)
        for each in sets:
            rows = history.check(
                each.file.enabled, once, prometheus, self.findings
            )
            self._add('windows', each.path, rows)
        watched = monitors.check(once, hosts, conf, self.findings)
        if watched is not None:
            self._report['monitors'] = watched
        return clients

    def _measure(
        self,
        kronos: Any,
        clients: cloud.Apis,
        once: OncePrometheus,
        sets: list[policies.PolicySet],
    ) -> set[str]:
        """Score the scopes by each policies file, and look at the answers.

        :returns: the hosts of the scopes
        """
        to, hosts = self.findings, set[str]()
        request = scopes.request(kronos, self._parsed.scope, to)
        self._report |= {key: [] for key in OF_POLICIES}
        remedy = exporters.remedy(self._report['exporters'])
        for each in sets:
            enabled = each.file.enabled
            settings = scopes.settings(kronos, each.file.mode)
            taken = scopes.snapshots(
                clients, once, kronos, request, each.file, settings, to
            )
            hosts.update(host for snapshot in taken for host in snapshot.hosts)
            windows.check_snapshots(kronos, clients, taken, to)
            budgets.check(taken, enabled, settings, to)
            hypervisors.check(taken, settings, to)
            progress_intervals.check(taken, kronos.stall_timeout, to)
            causes = answers.Causes(once, taken, settings, remedy, to)
            self._add('queries', each.path, metrics.check(enabled, causes, to))
            if not taken or clients.nova is None:
                continue
            everyone = clients.nova.list_instances()
            context = taken, everyone, causes, to
            servers = instances.check(enabled, once, *context)
            self._add('servers', each.path, servers)
            instances.check_consent(taken, everyone, settings, to)
            judged = scopes.judge(taken, request, enabled, causes, to)
            self._report['scopes'] += scopes.rows(judged, each.path)
        exporters.nothing(
            self._report['exporters'],
            self._report['queries'],
            self._report['prometheus'],
            to,
        )
        return hosts

    def _add(self, key: str, path: str, rows: list[dict[str, Any]]) -> None:
        self._report[key] += [row | {'policies_file': path} for row in rows]


def _prometheus(
    conf: Any, access: credentials.Access | None, findings: Findings
) -> client.PrometheusClient | None:
    """The client that the configuration describes; None: it is none."""
    try:
        return client.from_options(
            conf.kronos_prometheus,
            access.session if access else None,
            complain=LOG.debug,
        )
    except exceptions.ConfigurationError as error:
        findings.error(
            'prometheus-config',
            str(error),
            'correct [kronos_prometheus]',
            key=Cause.PROMETHEUS,
            because=[Cause.FILES, group('kronos_prometheus'), Cause.KEYSTONE],
        )
        return None


def _access(
    conf: Any, of_watcher: Any, os_cloud: str, findings: Findings
) -> credentials.Access | None:
    """The user that is tested: Watcher's, where its files are given."""
    try:
        if of_watcher is None or os_cloud:
            return credentials.connect(conf, os_cloud)
        return credentials.connect(of_watcher, group=credentials.WATCHER)
    except exceptions.ConfigurationError as error:
        findings.error(
            'credentials',
            str(error),
            'give credentials, or use --offline to test the files only',
            key=Cause.KEYSTONE,
            because=[Cause.FILES, group('nova')],
        )
        return None


if __name__ == '__main__':
    sys.exit(main())
