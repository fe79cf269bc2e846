# SPDX-License-Identifier: Apache-2.0
"""The checks of instances: which of them get a value of a policy.

They are told apart by the very function that profiles them in an audit.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, assert_never

from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.causes.answers import Causes
from kronos.cmd.checks.findings import Findings, option
from kronos.common.shell_commands import ShellCommand
from kronos.engine import instance_keys, phase_rules, wording
from kronos.engine.eligibility import consent
from kronos.engine.scoring import labels, profiles
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, MigrationPhase, Sample, Snapshot
from kronos.policies.models import Fallback, LabelType, Mode, Policy
from kronos.snapshots import cloud

EXAMPLES = 5
ACTIVE = 'ACTIVE'


@dataclass
class Mapping:
    """The servers of all scopes by whether a policy knows them."""

    measured: set[str] = field(default_factory=set)
    lacking: dict[str, Instance] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def active(self) -> list[Instance]:
        """Those that lack a value and run, so that they should have one."""
        return [
            instance
            for instance in self.lacking.values()
            if instance.status == ACTIVE
        ]


def check(
    policies: Sequence[Policy],
    prometheus: OncePrometheus,
    snapshots: Sequence[Snapshot],
    everyone: Iterable[Instance],
    causes: Causes,
    findings: Findings,
) -> list[dict[str, Any]]:
    """Map the servers of the scopes for each policy.

    :param everyone: all servers of the cloud; a query may cover it
    :param causes: of what the answers of these policies lack
    :returns: a row for each policy that was answered
    """
    everyone = list(everyone)
    repeated = cloud.repeated(everyone)
    names = {
        name
        for instance in everyone
        for name in (
            getattr(instance, instance_keys.key_of(k)) for k in LabelType
        )
    }
    rows = []
    for policy in policies:
        reading = prometheus.instant_query(
            policy.vm_profile_query, policy.vm_profile_label
        )
        if reading.error or not snapshots:
            continue
        values = {sample.label for sample in reading.samples}
        by_type = {kind: _map(policy, kind, snapshots) for kind in LabelType}
        rows.append(_row(policy, by_type, sorted(values - names)))
        because = causes.of_servers[policy.name]
        _report(policy, by_type, sorted(values), because, findings)
        _report_names(policy, reading.samples, repeated, findings)
    return rows


def check_consent(
    snapshots: Sequence[Snapshot],
    everyone: Iterable[Instance],
    settings: Settings,
    findings: Findings,
) -> None:
    """Report consent and budgets that do not do what they seem to do.

    And the servers that block drains.

    :param everyone: all servers of the cloud
    """
    projects = {instance.project_id for instance in everyone}
    for code, name, ids in (
        ('consent-projects', 'consent_projects', settings.consent_projects),
        ('budget-projects', 'project_budgets', settings.project_budgets),
    ):
        if strangers := sorted({*ids} - projects):
            findings.warning(
                code,
                f'{name} has {_listed(strangers)}, and no server of the '
                'cloud belongs to such a project',
                'use the ids of projects, not their names',
                because=[option(name)],
            )
    servers = {
        uuid: snapshot.instances[uuid]
        for snapshot in snapshots
        for uuid in sorted(snapshot.instances)
    }
    _report_unknown(servers, findings)
    _report_staying(servers, settings, findings)


def _report_unknown(servers: dict[str, Instance], findings: Findings) -> None:
    unknown = [
        f'{uuid} ({wish.place})'
        for uuid, instance in servers.items()
        for wish in consent.wishes(instance)
        if not wish.is_known
    ]
    if unknown:
        findings.warning(
            'consent-unknown',
            f'{len(unknown)} values of {consent.KEY} are unknown, and '
            f'Kronos treats them as {consent.Consent.NEVER}: '
            f'{_listed(unknown)}',
            f'have the owners set {", ".join(consent.Consent)}',
        )


def _report_staying(
    servers: dict[str, Instance], settings: Settings, findings: Findings
) -> None:
    """Report those that no drain moves."""
    drain = phase_rules.rules_of(
        MigrationPhase.EVACUATE, Mode.SPREAD, settings
    )
    staying = [
        uuid
        for uuid, instance in servers.items()
        if consent.why_not(instance, settings, drain)
    ]
    if staying:
        findings.note(
            'consent-drain',
            f'{len(staying)} servers stay if you drain their hosts, since '
            f'their owners do not consent: {_listed(staying)}',
            'before you drain a host, run '
            f'"{ShellCommand.EXPLAIN_DRAIN.general}"',
        )


def _listed(items: Sequence[str]) -> str:
    return wording.some(items, EXAMPLES)


def _map(
    policy: Policy, kind: LabelType, snapshots: Sequence[Snapshot]
) -> Mapping:
    """Profile all servers of all hosts, whatever the fallback is."""
    alike = policy.model_copy(
        update={
            'vm_profile_label_type': kind,
            'vm_profile_fallback': Fallback.SKIP,
        }
    )
    # Of a host that takes no part, too: only the label is at stake.
    bare = Scorecard(
        values={policy.name: {}}, draining_values={policy.name: {}}
    )
    mapping = Mapping()
    for snapshot in snapshots:
        result = profiles.profile(snapshot, [alike], bare, Settings())
        mapping.measured |= set(result.profiles)
        mapping.reasons |= result.skipped
        mapping.lacking |= {
            uuid: snapshot.instances[uuid] for uuid in result.skipped
        }
    return mapping


def _row(
    policy: Policy, by_type: dict[LabelType, Mapping], foreign: list[str]
) -> dict[str, Any]:
    kind = policy.vm_profile_label_type
    mapping = by_type[kind]
    without = mapping.active or list(mapping.lacking.values())
    return {
        'policy': policy.name,
        'label': policy.vm_profile_label,
        'label_type': kind.value,
        'fallback': policy.vm_profile_fallback.value,
        'servers': len(mapping.measured) + len(mapping.lacking),
        'with_a_value': len(mapping.measured),
        'active_without': len(mapping.active),
        'by_label_type': {
            kind.value: len(of_kind.measured)
            for kind, of_kind in by_type.items()
        },
        'examples_without': [
            {
                'uuid': instance.uuid,
                'name': instance.name,
                'internal_name': instance.internal_name,
                'status': instance.status,
                'reason': mapping.reasons[instance.uuid],
            }
            for instance in without[:EXAMPLES]
        ],
        'labels_unmatched': foreign[:EXAMPLES],
        'labels_unmatched_count': len(foreign),
    }


def _report(
    policy: Policy,
    by_type: dict[LabelType, Mapping],
    values: list[str],
    because: list[str],
    to: Findings,
) -> None:
    kind = policy.vm_profile_label_type
    mapping = by_type[kind]
    without = mapping.active
    if not without:
        return
    # Those that are off have no series, and need none.
    total = len(mapping.measured) + len(without)
    attribute = instance_keys.key_of(kind)
    expected = [
        getattr(instance, attribute) or instance.uuid for instance in without
    ]
    text = (
        f'policy {policy.name}: {len(without)} of {total} running servers '
        f'have no value, {wording.some(expected)}; {policy.vm_profile_label} '
        f'should contain their {kind} and is '
        f'{wording.some(values) or "nowhere"}'
    )
    remedy = _remedy(policy, by_type)
    # Policies with the same fault and remedy have one cause.
    key = f'servers {remedy}'
    if len(mapping.measured) or policy.vm_profile_fallback != Fallback.SKIP:
        text += f'; {_follows(policy)}'
        to.warning('servers-without', text, remedy, key=key, because=because)
    else:
        text += '; so Kronos never moves any of them'
        to.error('servers-unknown', text, remedy, key=key, because=because)


def _report_names(
    policy: Policy, samples: Iterable[Sample], repeated: Set[str], to: Findings
) -> None:
    """Whether a name may mean another server than it should."""
    host = policy.host_label
    blind = [
        sample.label
        for sample in samples
        if host not in labels.of_series(sample.series)
    ]
    code, text = _doubt(policy, blind, sorted(repeated & set(blind)))
    if text:
        remedy = (
            'match servers by uuid, with vm_profile_label_type: '
            f'nova_instance_uuid; or keep the label {host} in vm_profile_query'
        )
        to.warning(code, f'policy {policy.name}: {text}', remedy, key=code)


def _doubt(
    policy: Policy, blind: Sequence[str], doubtful: Sequence[str]
) -> tuple[str, str]:
    """Code and text of why names are no good; empty if they are."""
    match policy.vm_profile_label_type:
        case LabelType.NOVA_INSTANCE_UUID:
            return '', ''
        case LabelType.NOVA_DISPLAY_NAME:
            words = (
                'servers are identified by their display names, which tenants '
                'choose: a tenant who copies the name of a server keeps it '
                'from being moved'
            )
            return 'names-of-tenants', words if blind else ''
        case LabelType.NOVA_INTERNAL_NAME:
            words = (
                'several servers of the cloud have the internal name '
                f'{wording.some(doubtful)}, which is unique in a cell only: '
                'their usage is not known'
            )
            return 'names-repeated', words if doubtful else ''
        case kind:
            assert_never(kind)


def _follows(policy: Policy) -> str:
    if policy.vm_profile_fallback is Fallback.SKIP:
        return 'these servers stay on their hosts (vm_profile_fallback: skip)'
    return (
        'their usage is estimated (vm_profile_fallback: '
        f'{policy.vm_profile_fallback})'
    )


def _remedy(policy: Policy, by_type: dict[LabelType, Mapping]) -> str:
    best = max(by_type, key=lambda kind: len(by_type[kind].measured))
    now = by_type[policy.vm_profile_label_type]
    if len(by_type[best].measured) > len(now.measured):
        return (
            f'with vm_profile_label_type: {best} '
            f'{len(by_type[best].measured)} would have one'
        )
    if any('cannot distinguish' in why for why in now.reasons.values()):
        return (
            'several servers share a name: match them by uuid, with '
            'vm_profile_label_type: nova_instance_uuid'
        )
    return (
        'check that the exporter of their hosts is scraped, and that '
        'vm_profile_label and vm_profile_label_type are right'
    )
