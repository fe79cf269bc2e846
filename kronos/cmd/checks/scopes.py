# SPDX-License-Identifier: Apache-2.0
"""The checks of scopes: can each be planned, and by which policies?

It is scored by the very function that an audit scores it with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from kronos.clients.prometheus.client import PrometheusClient
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.causes import blocked
from kronos.cmd.checks.causes.answers import Causes
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Cause, Findings, group, option
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.engine import wording
from kronos.engine.scoring import answer_health, scorecard
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import PHASES_OF_MODE, PartialAnswers, Settings
from kronos.engine.types import PolicyReadings, Snapshot, StopReason
from kronos.policies import models
from kronos.policies.models import Mode, Policy, PolicyFile
from kronos.snapshots import exclusions, queries, scopes, settings_from_conf
from kronos.snapshots.collector import Collector

VCPU = 'VCPU'
MIB = 2.0**20
SERVICES = {
    'Prometheus': Cause.PROMETHEUS,
    'Placement': Cause.PLACEMENT,
    'Nova': Cause.NOVA,
}
"""What a warning of a snapshot names, and the cause that this may have."""
SKIPPED = (
    'correct the query, its label, or [kronos] host_match and '
    'min_host_coverage; until then Kronos does not use the policy'
)
SEE = 'correct the findings about its policies'
UNITS = (
    'have vm_profile_query return shares of the host, or set '
    'host_capacity_query in the unit of vm_profile_query; until then Kronos '
    'does not use the policy'
)
UNEQUAL = 1.1
"""Hosts whose sizes differ by more than this factor are not alike."""


@dataclass
class Judgment:
    """A scope as an audit would find it now."""

    snapshot: Snapshot
    card: Scorecard
    partial: PartialAnswers


def request(
    kronos: Any, named: Sequence[str], findings: Findings
) -> scopes.ScopeRequest:
    """The scopes to look at: those named, those configured, or all.

    :param named: aggregates of the command line
    """
    if named:
        return scopes.ScopeRequest(aggregates=list(named))
    configured = settings_from_conf.request_of(kronos)
    if configured.aggregates or configured.include_unassigned:
        return configured
    findings.note(
        'scope-none',
        'no scope is configured; this test covers all aggregates',
        'an audit must name its aggregates, or set aggregates or '
        'include_unassigned_hosts in [kronos]',
        because=[
            option('aggregates'),
            option('include_unassigned_hosts'),
            group('kronos'),
            Cause.FILES,
        ],
    )
    return scopes.ScopeRequest(aggregates=[scopes.ALL])


def settings(kronos: Any, policies: Mode) -> Settings:
    """Those of the strategy that only policies of this mode serve."""
    mode_settings = settings_from_conf.settings_of(kronos)
    mode = next(
        key for key, row in PHASES_OF_MODE.items() if row.policies is policies
    )
    mode_settings.set_mode(mode, mode_settings.selection())
    return mode_settings


def snapshots(
    cloud: Apis,
    prometheus: OncePrometheus,
    kronos: Any,
    scope_request: scopes.ScopeRequest,
    file: PolicyFile,
    how: Settings,
    findings: Findings,
) -> list[Snapshot]:
    """Those of an audit; none where an audit would fail."""
    # It has what is used of a client.
    client = cast(PrometheusClient, prometheus)
    if cloud.nova is None or cloud.placement is None:
        queries.PolicyQueries(client, how).of(file.enabled)
        return []
    collector = Collector(
        cloud.nova,
        cloud.placement,
        client,
        hypervisor_types=kronos.hypervisor_types,
        cell_source=kronos.cell_source,
        exclude_hosts_query=kronos.exclude_hosts_query,
        dirty_rates=file.dirty_rates,
    )
    try:
        return collector.collect(scope_request, file.enabled, how).snapshots
    except exceptions.ScopeError as error:
        findings.error(
            'scope-invalid',
            str(error),
            'correct aggregates in [kronos], or the aggregate in Nova',
            key=Cause.SCOPES,
            because=[option('aggregates'), Cause.FILES],
        )
    except exceptions.NovaClientError:
        pass  # told with the listing that failed
    return []


def judge(
    collected: Sequence[Snapshot],
    scope_request: scopes.ScopeRequest,
    policies: Sequence[Policy],
    causes: Causes,
    findings: Findings,
) -> list[Judgment]:
    """Score the scopes and tell what keeps them from being planned."""
    judged = [
        Judgment(
            snapshot,
            scorecard.score(snapshot, policies, causes.settings),
            causes.settings.partial_answers,
        )
        for snapshot in collected
    ]
    _skipped(judged, causes, findings)
    is_anyone = scopes.ALL in scope_request.aggregates
    for scope in judged:
        _report(scope, policies, is_anyone, causes, findings)
        _unexplained(scope, causes.settings, findings)
        _sizes(scope, policies, findings)
    if judged and all(scope.card.blocked for scope in judged):
        findings.error(
            'nothing-to-plan',
            'no scope can be planned',
            'see the findings about each scope',
            because=[
                key
                for scope in judged
                for key in blocked.of_scope(scope.card, causes)
            ],
        )
    return judged


def rows(judged: Sequence[Judgment], file: str) -> list[dict[str, Any]]:
    """The scopes, for the report.

    :param file: of the policies
    """
    return [
        {
            'scope': scope.snapshot.scope,
            'policies_file': file,
            'hosts': len(scope.snapshot.hosts),
            'hosts_counting': len(set().union(*scope.card.values.values())),
            'servers': len(scope.snapshot.instances),
            'imbalances': {
                result.name: result.imbalance_before
                for result in scope.card.results
                if not result.skipped
            },
            'hosts_left_out': scope.card.excluded,
            'blocked': scope.card.reason,
        }
        for scope in judged
    ]


def _skipped(judged: Sequence[Judgment], causes: Causes, to: Findings) -> None:
    """Tell which policies cannot be used, each reason once."""
    where: dict[str, list[str]] = {}
    policies: dict[str, str] = {}
    above: set[str] = set()
    for scope in judged:
        for result in scope.card.results:
            # Else it is told with the query that failed.
            of_policy = scope.snapshot.readings.get(result.name)
            if result.skipped and not _is_reported(of_policy, scope.partial):
                where.setdefault(result.skipped, []).append(
                    scope.snapshot.scope
                )
                policies[result.skipped] = result.name
            if result.name in scope.card.unusable_profiles:
                above.add(result.skipped)
    for reason, names in where.items():
        policy = policies[reason]
        if reason in above:
            to.error(
                'profiles-above-hosts',
                f'scope {wording.some(names)}: {reason}',
                UNITS,
                key=blocked.of_policy(policy, reason, causes),
            )
            continue
        remedy = causes.remedies.get(policy)
        to.error(
            'policy-skipped',
            f'scope {wording.some(names)}: {reason}',
            remedy or SKIPPED,
            key=blocked.of_policy(policy, reason, causes),
            because=() if remedy else causes.keys[policy],
        )


def _is_reported(
    readings: PolicyReadings | None, partial: PartialAnswers
) -> bool:
    """Whether an answer that cannot be used is told with its query."""
    return readings is not None and any(
        reading is not None and answer_health.why_unusable(reading, partial)
        for reading in vars(readings).values()
    )


def _report(
    scope: Judgment,
    policies: Sequence[Policy],
    is_anyone: bool,
    causes: Causes,
    to: Findings,
) -> None:
    """Pass on what an audit would say of the scope.

    :param is_anyone: whether all aggregates are looked at, so that nobody
        may want this one to be planned
    """
    where = f'scope {scope.snapshot.scope}'
    is_small = scope.card.blocked is StopReason.TOO_FEW_HOSTS
    if scope.card.blocked:
        _report_blocked(scope, is_small and is_anyone, causes, to)
    # Of too few hosts the reason names those that are out.
    if scope.card.excluded and not is_small:
        _left_out(scope, where, causes, to)
    for text in _beyond_queries(scope, policies):
        to.warning(
            'policy-doubtful',
            f'{where}: {text}',
            'check that each host is scraped, and that its label is its name '
            f'in "{ShellCommand.SERVICE_LIST}"',
            because=blocked.of_values(causes),
        )
    # Of all hosts of the cloud they are told already.
    texts = exclusions.warnings(scope.snapshot.hosts.values())
    texts += [item.text for item in to.items]
    for text in scope.snapshot.warnings:
        if text not in texts and not text.startswith(answer_health.CLOCKS):
            to.warning(
                'scope-unknown',
                f'{where}: {text}',
                'resolve that first',
                key=f'scope-unknown {text}',
                because=[
                    cause for name, cause in SERVICES.items() if name in text
                ],
            )
    _dirty_rates(scope, where, to)


def _report_blocked(
    scope: Judgment, is_unasked: bool, causes: Causes, to: Findings
) -> None:
    """Tell why a scope cannot be planned.

    :param is_unasked: whether it has few hosts, and perhaps nobody wants it
        to be planned
    """
    where, card = f'scope {scope.snapshot.scope}', scope.card
    is_small = card.blocked is StopReason.TOO_FEW_HOSTS
    remedy = blocked.remedy(card) if is_small else SEE
    key, because = blocked.key_of(card), blocked.of_scope(card, causes)
    if is_unasked:
        text = f'{where}: {card.reason}'
        to.note('scope-small', text, remedy, key=key, because=because)
        return
    text = f'{where}: Kronos cannot plan this scope: {card.reason}'
    to.error('scope-blocked', text, remedy, key=key, because=because)


def _left_out(
    scope: Judgment, where: str, causes: Causes, to: Findings
) -> None:
    out = [f'{host}: {why}' for host, why in scope.card.excluded.items()]
    codes = {reason.code for reason in scope.card.excluded.values()}
    to.warning(
        'host-left-out',
        f'{where}: Kronos leaves out {len(out)} of '
        f'{len(scope.snapshot.hosts)} hosts ({wording.some(out, 3)})',
        'this is right if you excluded them; else '
        + blocked.remedy(scope.card),
        key=f'left out {sorted(codes)}',
        because=[
            *blocked.of_hosts(scope.card, causes),
            *blocked.of_scope(scope.card, causes),
        ],
    )


def _beyond_queries(scope: Judgment, policies: Sequence[Policy]) -> list[str]:
    """The warnings of a scope that are not told with an answer."""
    doubts: list[str] = []
    for policy in policies:
        readings = scope.snapshot.readings.get(policy.name)
        for row in models.QUERIES:
            reading = readings and getattr(readings, row.reading)
            if reading:
                label = getattr(policy, row.label)
                doubts += answer_health.doubts(reading, label)
    return [
        text
        for text in scope.card.warnings
        if not text.endswith(tuple(doubts))
    ]


def _unexplained(scope: Judgment, how: Settings, to: Findings) -> None:
    """Tell of hosts whose servers explain little of what they show."""
    for text in scope.card.unexplained(how.unexplained_load):
        to.warning(
            'profiles-below-hosts',
            f'scope {scope.snapshot.scope}: {text}',
            'try vm_profile_query in Prometheus: does the counter of each '
            'busy server increase, and is its unit right?',
            key='profiles-below-hosts',
        )


def _dirty_rates(scope: Judgment, where: str, to: Findings) -> None:
    rates = [
        instance.dirty_rate / MIB
        for instance in scope.snapshot.instances.values()
        if instance.dirty_rate
    ]
    if rates:
        to.note(
            'dirty-rates',
            f'{where}: {len(rates)} of {len(scope.snapshot.instances)} guests '
            f'write to memory, at up to {max(rates):.1f} MiB/s',
        )


def _sizes(scope: Judgment, policies: Sequence[Policy], to: Findings) -> None:
    """A share means another load on a host of another size."""
    sizes = [
        host.headroom[VCPU].capacity
        for host in scope.snapshot.hosts.values()
        if host.headroom and VCPU in host.headroom
    ]
    sizes = [size for size in sizes if size]
    if not sizes or max(sizes) <= UNEQUAL * min(sizes):
        return
    for policy in policies:
        if policy.host_capacity_query is None:
            to.warning(
                'hosts-unequal',
                f'scope {scope.snapshot.scope} has hosts with {min(sizes)} to '
                f'{max(sizes)} VCPU, but policy {policy.name} has no '
                'host_capacity_query: Kronos assumes that a server adds the '
                'same load on each of them',
                'set host_capacity_query in the policy, and let '
                'vm_profile_query return usages instead of shares',
                key='hosts-unequal',
            )
