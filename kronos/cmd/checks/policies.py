# SPDX-License-Identifier: Apache-2.0
"""The checks of the policies files."""

import os
import re
from dataclasses import dataclass
from typing import Any

from kronos.cmd.checks import findings as causes
from kronos.cmd.checks.findings import Cause, Findings
from kronos.common import durations, exceptions
from kronos.common.units import time_units
from kronos.engine.settings import Settings
from kronos.policies import loader
from kronos.policies import windows as ranges
from kronos.policies.models import Mode, Policy, PolicyFile
from kronos.snapshots.past import effects

_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|#[^\n]*')
_WINDOW = re.compile(r'\[\s*((?:\d+(?:ms|[smhdwy]))+)\s*\]')


@dataclass
class PolicySet:
    """A policies file of the configuration."""

    option: str
    path: str
    file: PolicyFile


def check(kronos: Any, findings: Findings) -> list[PolicySet]:
    """Load the policies files and look at what only is odd.

    :param kronos: the group ``[kronos]``
    :returns: those that are valid
    """
    policy_sets = []
    for option in ('policies_file', 'pack_policies_file'):
        path = getattr(kronos, option)
        if not path:
            continue
        try:
            policy_sets.append(PolicySet(option, path, loader.load(path)))
        except exceptions.PolicyFileError as error:
            findings.error(
                'policies-invalid',
                f'[kronos] {option}: {error}',
                _remedy(option, path),
                because=[
                    causes.option(option),
                    causes.group('kronos'),
                    Cause.FILES,
                ],
            )
    _modes(policy_sets, findings)
    return policy_sets


def _remedy(option: str, path: str) -> str:
    if not os.path.exists(path):
        return f'set {option} in [kronos] to the policies file'
    if not os.access(path, os.R_OK):
        return f'let this user, and the user of the service, read {path}'
    return 'correct the file; every audit fails with this message until then'


def check_one(
    policy_set: PolicySet, kronos: Any, settings: Settings, to: Findings
) -> None:
    """Tell what is odd in a valid file."""
    for policy in policy_set.file.policies:
        if not policy.enabled:
            to.note('policy-disabled', f'policy {policy.name} is not enabled')
            continue
        if policy.weight == 0.0:
            to.warning(
                'weight-zero',
                f'policy {policy.name} has weight 0: it only forbids '
                'migrations, and its imbalance never causes one',
                'give it a weight, or set enabled: false',
            )
        _threshold(policy, to)
        _capacity(policy, settings, to)
        _window(policy, kronos.cooldown, to)
        _settling(policy, kronos, to)


def rows(policy_set: PolicySet) -> list[dict[str, Any]]:
    """The policies of a file, for the report."""
    return [
        {'option': policy_set.option, 'file': policy_set.path}
        | policy.model_dump(
            mode='json',
            include={
                'name',
                'mode',
                'enabled',
                'weight',
                'threshold',
                'capacity_threshold',
                'relief_threshold',
                'max_migrations_per_cycle',
                'vm_profile_label_type',
                'vm_profile_fallback',
            },
        )
        for policy in policy_set.file.policies
    ]


def _modes(policy_sets: list[PolicySet], findings: Findings) -> None:
    modes = {
        policy_set.option: policy_set.file.mode for policy_set in policy_sets
    }
    if modes.get('pack_policies_file') is Mode.SPREAD:
        findings.error(
            'policies-mode',
            '[kronos] pack_policies_file: its policies have mode spread, but '
            'kronos_pack needs mode pack',
            'write policies with mode pack there, or unset the option',
        )
    if modes.get('policies_file') is Mode.PACK:
        findings.note(
            'policies-mode',
            '[kronos] policies_file: its policies have mode pack; '
            'kronos_spread refuses them',
            'to use both strategies, keep policies with mode spread in '
            'policies_file and set pack_policies_file',
        )


def _threshold(policy: Policy, to: Findings) -> None:
    """The threshold in mode pack."""
    if policy.mode is Mode.PACK and 'threshold' in policy.model_fields_set:
        to.warning(
            'threshold-ignored',
            f'policy {policy.name}: threshold = {policy.threshold:g} has no '
            'effect in mode pack, which does not even out load',
            'remove it; capacity_threshold limits how full a host may become',
            key='threshold-ignored',
        )


def _capacity(policy: Policy, settings: Settings, to: Findings) -> None:
    """The capacity fields in mode spread."""
    fields = policy.model_fields_set & {'capacity_query', 'capacity_threshold'}
    if policy.mode is Mode.PACK or not fields or settings.uses_ceilings:
        return
    to.warning(
        'capacity-ignored',
        f'policy {policy.name}: {" and ".join(sorted(fields))} have no effect '
        'when load is spread; they limit the destinations of drains and of '
        'repairs of server groups only, and none of these is enabled',
        'remove them, or set evacuate_disabled_hosts, enforce_hard_affinity '
        'or enforce_soft_affinity in [kronos]',
        key='capacity-ignored',
    )


def _window(policy: Policy, cooldown: int, to: Findings) -> None:
    """The samples must show a migration before the next plan is made.

    Those of hosts are corrected, unless that is off: those of a server begin
    anew where it arrives.
    """
    queries = [policy.vm_profile_query]
    if policy.metrics_window == 0.0:
        queries.append(policy.imbalance_query)
    lengths = [
        (seconds, text)
        for query in queries
        for seconds, text in windows(query)
    ]
    seconds, text = max(lengths, default=(0.0, ''))
    if seconds > cooldown:
        to.warning(
            'window-cooldown',
            f'policy {policy.name} looks back [{text}] '
            f'({durations.exact(seconds)}), longer than [kronos] cooldown = '
            f'{cooldown}: the next plan would use metrics from before the '
            'last migrations',
            f'set cooldown to {seconds:g} or more, shorten the window, or '
            'average over it by a subquery that follows the server',
            key=f'window {seconds:g}',
        )


def _settling(policy: Policy, kronos: Any, to: Findings) -> None:
    """The samples must show a whole plan before its effect is measured."""
    settling = effects.settling_seconds([policy], kronos)
    seconds = ranges.of_query(policy.imbalance_query).seconds
    if 0 < settling >= seconds:
        return
    name = 'effect_settling_seconds'
    if kronos.effect_settling_seconds is None:
        name = 'cooldown'
    reason = 'the newest samples are from before the last migrations'
    if seconds:
        reason = f'its imbalance_query looks back {durations.exact(seconds)}'
    to.warning(
        'effect-settling',
        f'policy {policy.name}: Kronos measures the effect of a plan '
        f'{settling:g} s after its end ({name}), and {reason}',
        'set effect_settling_seconds longer than the queries look back, and '
        'than the interval between samples',
        because=[causes.option(name)],
    )


def windows(query: str) -> list[tuple[float, str]]:
    """The ranges such as ``[5m]`` of a query, in seconds and as written.

    Subqueries are left out: what they take is the peak of a long time.
    """
    texts = _WINDOW.findall(_QUOTED.sub('', query))
    return [(time_units.seconds(text) or 0.0, text) for text in texts]
