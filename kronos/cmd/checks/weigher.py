# SPDX-License-Identifier: Apache-2.0
"""The checks of nova-scheduler's weigher."""

import importlib.util
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from kronos.clients.nova.rows import HostAggregate
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Cause, Findings
from kronos.cmd.checks.subprocess_probe import Inspect, InspectionError
from kronos.cmd.config_files import Paths
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording

MODULE = 'kronos.weighers.probe'
CLASS = 'kronos.weighers.load.KronosWeigher'
OURS = CLASS.rpartition('.')[2]
MULTIPLIER_KEY = 'kronos_weight_multiplier'
RARE = frozenset({'BuildFailureWeigher', 'CrossCellWeigher'})
"""They count for a million, and speak only of failed builds and of servers
that would leave their cell."""
WEAK = 0.1
"""A difference in load that ought to count more than any other weigher."""

OPTS = [
    cfg.ListOpt(
        'weight_classes', default=['nova.scheduler.weights.all_weighers']
    )
]
"""Nova's own option, as far as it is told here."""


def register_opts(conf: Any) -> None:
    conf.register_opts(OPTS, group='filter_scheduler')


def check(
    conf: Any,
    where: Paths,
    cloud: Apis,
    asks: bool,
    inspect: Inspect,
    findings: Findings,
) -> dict[str, Any]:
    """Have a process load what nova-scheduler would load.

    :param conf: nova-scheduler's configuration, with :func:`register_opts`
    :param where: its files
    :param asks: whether Prometheus may be asked
    :param inspect: runs the process
    """
    classes = list(conf.filter_scheduler.weight_classes)
    report: dict[str, Any] = {'weight_classes': classes}
    if importlib.util.find_spec('nova') is None:
        findings.note(
            'nova-absent',
            'Nova is not installed here; the weigher was not loaded',
            f'run {ShellCommand.TEST_CONFIG} on the machine that runs '
            'nova-scheduler',
        )
        report['is_enabled'] = CLASS in classes
    else:
        report |= _inspected(where, cloud, asks, inspect, findings)
        if not report.get('weighers'):
            return report
    if not report['is_enabled']:
        _disabled(findings)
        return report
    if 'weighers' in report:
        _options(report, findings)
        _strength(report, findings)
        if asks and not report['faults']:
            _scores(report, findings)
    return report


def _inspected(
    where: Paths, cloud: Apis, asks: bool, inspect: Inspect, findings: Findings
) -> dict[str, Any]:
    aggregates = _aggregates(cloud)
    request = {
        'files': where.files,
        'folders': where.folders,
        'asks': asks,
        'hosts': _hosts(cloud, aggregates),
        'aggregates': {
            aggregate.name: aggregate.metadata for aggregate in aggregates
        },
    }
    try:
        answer: dict[str, Any] = inspect(MODULE, [], request)
    except InspectionError as error:
        answer = {'error': str(error)}
    if answer['error']:
        findings.error(
            'weigher-load',
            'nova-scheduler cannot load its weighers, and would fail to '
            f'start: {answer["error"]}',
            'correct weight_classes in [filter_scheduler], and install '
            'kronos-watcher in the environment of nova-scheduler',
        )
    answer['multipliers_of_aggregates'] = {
        aggregate.name: aggregate.metadata[MULTIPLIER_KEY]
        for aggregate in aggregates
        if MULTIPLIER_KEY in aggregate.metadata
    }
    return answer


def _aggregates(cloud: Apis) -> list[HostAggregate]:
    try:
        return cloud.nova.list_aggregates() if cloud.nova else []
    except exceptions.ClientError:
        return []  # told where it was asked first


def _hosts(
    cloud: Apis, aggregates: list[HostAggregate]
) -> list[dict[str, Any]]:
    try:
        hosts = cloud.nova.list_compute_hosts() if cloud.nova else []
    except exceptions.ClientError:
        hosts = []
    return [
        {
            'name': host.name,
            'type': host.hypervisor_type,
            'aggregates': [a.name for a in aggregates if host.name in a.hosts],
        }
        for host in hosts
    ]


def _disabled(findings: Findings) -> None:
    findings.error(
        'weigher-disabled',
        f'{CLASS} is not in weight_classes of [filter_scheduler]: Nova places '
        'new servers without the scores of Kronos',
        f'set weight_classes = {OPTS[0].default[0]},{CLASS} and restart '
        'nova-scheduler, or leave out --nova-config',
    )


def _options(report: Mapping[str, Any], findings: Findings) -> None:
    for fault in report['faults']:
        findings.error(
            'config-invalid', f'nova-scheduler: {fault}', 'correct the value'
        )


def _strength(report: dict[str, Any], findings: Findings) -> None:
    """How strong are the others, in load?"""
    ours = report.get('multiplier')
    if ours is None:
        return
    if ours <= 0.0:
        findings.error(
            'weigher-multiplier',
            f'[kronos] weight_multiplier = {ours:g}: '
            + (
                'the scores have no effect'
                if ours == 0.0
                else (
                    'Nova places new servers on the hosts that Kronos would '
                    'relieve'
                )
            ),
            'set it above 0; its default is 100',
        )
        return
    for row in report['weighers']:
        if row['multiplier'] is not None and row['name'] != OURS:
            row['worth_in_load'] = abs(row['multiplier']) / ours
    usual = [
        row
        for row in report['weighers']
        if row['name'] not in RARE and row.get('worth_in_load', 0.0) > WEAK
    ]
    if usual:
        named = [
            f'{row["name"]} ({row["multiplier"]:g}, as much as '
            f'{row["worth_in_load"]:.2f} of load)'
            for row in usual
        ]
        findings.warning(
            'weigher-weak',
            f'[kronos] weight_multiplier = {ours:g} is too low beside '
            f'{wording.some(named)}: these outweigh the load of the hosts',
            'set weight_multiplier to ten times the largest of these, or '
            'lower them',
        )


def _causes(text: str) -> list[str]:
    """What the weigher may lack scores for, by what it says."""
    return [Cause.PROMETHEUS] if 'Prometheus' in text else []


def _scores(report: Mapping[str, Any], findings: Findings) -> None:
    if report.get('scores_error'):
        findings.error(
            'weigher-scores',
            f'the weigher gets no scores: {report["scores_error"]}',
            'correct [kronos] and [kronos_prometheus] of nova-scheduler; '
            'until then the weigher treats all hosts equally',
            because=_causes(report['scores_error']),
        )
        return
    scores = report['scores']
    neutral = sorted(host for host, score in scores.items() if score is None)
    why = '; '.join(report['troubles'])
    if scores and len(neutral) == len(scores):
        findings.error(
            'weigher-scores',
            'no host has a score: '
            f'{why or "hypervisor_types does not include its type"}',
            'see hypervisor_types in [kronos] of nova-scheduler, and the '
            'findings about the policies',
            because=_causes(why),
        )
    elif neutral or why:
        text = f'{len(neutral)} of {len(scores)} hosts have no score'
        if neutral:
            text += f', {wording.some(neutral)}'
        findings.warning(
            'weigher-neutral',
            text + (f': {why}' if why else ''),
            'this is right for hosts of other types and aggregates with '
            'kronos_mode off; else see the findings about the policies',
        )
