# SPDX-License-Identifier: Apache-2.0
"""The command kronos-record: it writes down what planning would look at.

Exit status: 0 when it was recorded; 1 when something that cannot be done
without is away or wrong, and nothing was written; 2 when the arguments are
wrong.
"""

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kronos.clients import watcher
from kronos.clients.prometheus import client
from kronos.cmd import config_files, credentials, program, terminal
from kronos.cmd.checks import parts
from kronos.cmd.screen import progress
from kronos.common import exceptions, masking
from kronos.common.shell_commands import ShellCommand
from kronos.conf import validation
from kronos.engine.eligibility import cooldown
from kronos.engine.scoring import answer_health, scorecard
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Snapshot
from kronos.policies import loader
from kronos.policies.models import PolicyFile
from kronos.recordings import load, redaction, writer
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.reports import host_names
from kronos.snapshots import cloud, settings_from_conf, watcher_api
from kronos.snapshots.collector import Collector
from kronos.snapshots.reader import Readers
from kronos.snapshots.scopes import ALL, ScopeRequest

PROGRAM = 'kronos-record'
Report = Callable[[str], None]


@program.command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parsed = argument_parser().parse_args(arguments)
    config_files.log(parsed.debug)
    with progress.shown(PROGRAM, parsed.debug):
        _record(parsed, _report)
    return 0


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Record the current state of the cloud, to plan it '
        f'offline with {ShellCommand.REPLAY}. This command only '
        'reads from the cloud.',
        epilog='Exit status: 0 recorded, 1 not recorded, 2 wrong usage.',
    )
    parser.add_argument(
        'directory',
        metavar='DIR',
        help='directory to write to; it must be empty or not exist',
    )
    config_files.add_arguments(parser)
    parser.add_argument(
        '--policies',
        metavar='FILE',
        help='policies file whose queries are run (default: policies_file in '
        '[kronos])',
    )
    parser.add_argument(
        '--aggregate',
        action='append',
        default=[],
        metavar='NAME',
        help='host aggregate to plan if a replay names no other one; may be '
        'repeated (default: aggregates in [kronos], else all). The '
        'recording always contains the whole cloud',
    )
    parser.add_argument(
        '--unassigned',
        action='store_true',
        help='also plan the hosts that are in no aggregate, if a replay '
        'names no other scope',
    )
    parser.add_argument(
        '--anonymize',
        action='store_true',
        help='replace the names and uuids of the cloud',
    )
    parser.add_argument(
        '--force',
        action='store_true',
        help='replace a recording that exists in DIR',
    )
    config_files.add_debug(parser)
    return parser


def _report(text: str) -> None:
    terminal.complain(PROGRAM, text)


def _record(parsed: argparse.Namespace, report: Report) -> None:
    """Ask first what is soon known to be wrong, then all the rest."""
    writer.require_room(parsed.directory, parsed.force)
    recording = recorded(cloud_of(parsed), report)
    progress.step(f'writing {parsed.directory}')
    for line in _doubts(recording):
        report(f'warning: {line}')
    clean = anonymizer.anonymized if parsed.anonymize else redaction.redacted
    load.write(parsed.directory, clean(recording), parsed.force)
    report(f'{parsed.directory} was written')


@dataclass
class ConfiguredCloud:
    """What a configuration leads to; nothing but Keystone has been asked."""

    conf: Any
    policies: PolicyFile
    policies_text: str
    request: ScopeRequest
    settings: Settings
    access: credentials.Access


def cloud_of(parsed: argparse.Namespace) -> ConfiguredCloud:
    """The cloud that a command's arguments mean.

    :raises ConfigurationError: the configuration or the policies file is
        wrong
    """
    own = config_files.paths([*parsed.config_file, *parsed.config_dir])
    conf = config_files.load(own or config_files.default_paths(PROGRAM))
    validation.require_valid(conf)
    path = parsed.policies or conf.kronos.policies_file
    text = loader.read(path)
    policies = loader.parse(text, path)
    progress.step('logging in to Keystone')
    access = credentials.connect(conf, parsed.os_cloud)
    settings = settings_from_conf.settings_of(conf.kronos)
    request = _request(parsed, conf.kronos)
    return ConfiguredCloud(conf, policies, text, request, settings, access)


def recorded(configured: ConfiguredCloud, report: Report) -> Recording:
    """A recording of a cloud as it is now, with what it has of secrets.

    :raises ClientError: Nova cannot be asked
    """
    conf, access = configured.conf, configured.access
    policies, settings = configured.policies, configured.settings
    progress.step('asking Watcher')
    reader = _reader(access, conf, settings)
    events, lacking = _history(access, conf, settings, reader)
    progress.step('reading from Nova, Placement and Prometheus')
    collected = _collector(access, conf, policies, reader, report).collect(
        configured.request, policies.enabled, _all_queries(settings), events
    )
    for part in parts.every():
        lacking += part.record(collected.gathered, access, conf, report)
    return Recording(
        collected.gathered,
        policies.policies,
        configured.request,
        settings,
        collected.answers,
        configured.policies_text,
        max_concurrent=conf.kronos.max_concurrent_migrations,
        recorded_at=collected.gathered.taken_at,
        made_by=f'{program.PACKAGE} {program.version()}',
        unknown=lacking,
    )


def _reader(
    access: credentials.Access, conf: Any, settings: Settings
) -> Readers:
    """What extensions read with the rest."""
    return Readers(
        [part.reader(access, conf, settings) for part in parts.every()]
    )


def _collector(
    access: credentials.Access,
    conf: Any,
    policies: PolicyFile,
    reader: Readers,
    report: Report,
) -> Collector:
    return Collector(
        access.clients.nova(),
        access.clients.placement(),
        client.from_options(conf.kronos_prometheus, access.session),
        hypervisor_types=conf.kronos.hypervisor_types,
        cell_source=conf.kronos.cell_source,
        exclude_hosts_query=conf.kronos.exclude_hosts_query,
        dirty_rates=policies.dirty_rates,
        reader=reader,
        report=report,
    )


def _request(parsed: argparse.Namespace, kronos: Any) -> ScopeRequest:
    """The scopes that were named, those configured, or all."""
    if parsed.aggregate or parsed.unassigned:
        return ScopeRequest(list(parsed.aggregate), parsed.unassigned)
    request = settings_from_conf.request_of(kronos)
    if request.aggregates or request.include_unassigned:
        return request
    return ScopeRequest([ALL], include_unassigned=True)


def _all_queries(settings: Settings) -> Settings:
    """Settings by which whatever a mode may ask for is asked."""
    return dataclasses.replace(settings, evacuate=True)


def _history(
    access: credentials.Access, conf: Any, settings: Settings, reader: Readers
) -> tuple[list[Event], list[str]]:
    """What Watcher tells of past moves, and what is lacking."""
    since = cooldown.watcher_since(settings, time.time())
    try:
        client = watcher.find(access.session, conf.nova.region_name)
        events = watcher_api.events(client, since)
        reader.recall()
        return events, []
    except exceptions.ClientError as error:
        return [], [f'{cloud.NO_HISTORY}: {error}']


def _doubts(recording: Recording) -> list[str]:
    """What an operator should know before relying on the recording."""
    failed = [
        f'query {reading.query}: {text}'
        for (_, label), reading in recording.answers.items()
        for text in (
            [reading.error]
            if reading.error
            else answer_health.doubts(reading, label)
        )
    ]
    gathered = recording.gathered
    failed += [*filter(None, [gathered.exclusions_unknown])]
    for part in parts.every():
        failed += part.doubts(gathered)
    doubts = [*recording.unknown, *gathered.warnings, *failed]
    try:
        snapshots = recording.snapshots(
            recording.policies, recording.settings, recording.request
        )
    except exceptions.KronosException:
        snapshots = []  # said when it is planned
    how = recording.settings.host_match
    cause = host_names.sentence(snapshots, recording.policies, how)
    doubts = [*filter(None, [cause]), *doubts]
    doubts += _doubtful_profiles(recording, snapshots)
    return [masking.masked(text) for text in doubts]


def _doubtful_profiles(
    recording: Recording, snapshots: Sequence[Snapshot]
) -> list[str]:
    """Where servers use more than their hosts, or explain little of them."""
    policies, settings = recording.policies, recording.settings
    doubts = []
    for snapshot in snapshots:
        card = scorecard.score(snapshot, policies, settings)
        texts = list(card.unusable_profiles.values())
        texts += card.unexplained(settings.unexplained_load)
        doubts += [f'scope {snapshot.scope}: {text}' for text in texts]
    return doubts


if __name__ == '__main__':
    sys.exit(main())
