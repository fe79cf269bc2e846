# SPDX-License-Identifier: Apache-2.0
"""The status message of an audit: its outcome in one sentence."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from kronos.engine import types, wording
from kronos.engine.extension import Phase
from kronos.reports import certificates, limits, rest
from kronos.snapshots import exclusions
from kronos.strategies.outcome.additions import PLAIN, Additions

REASON = 120
"""Characters of a reason where a warning has to be told beside it."""

WHY = 70
"""Characters of a reason beside the outcome of a plan."""

CONSENTS = 2
"""Servers of a host that are named as staying without consent."""

UNJUDGED = 90
"""Characters of the reason why a policy was not judged."""

_ADDRESS = re.compile(r'Prometheus at \S+: ')

ScopeSummary = Callable[[types.AggregateResult], str]
"""Tells what the plan of a scope does for the goal of its audit."""

# Nothing could be judged: that is a failure, not an even cluster.
_BLIND = {
    types.StopReason.NO_POLICY,
    types.StopReason.NO_SERVICES,
    types.StopReason.EXCLUSIONS_UNKNOWN,
    types.StopReason.FAILURES_UNKNOWN,
    types.StopReason.WINDOW_UNUSABLE,
}
_NAMES_ITSELF = {
    types.StopReason.COOLDOWN,
    types.StopReason.WINDOW,
    types.StopReason.WINDOW_TOO_SHORT,
}
"""Where the reason has the name of its scope."""


def is_blind(report: types.CycleReport, additions: Additions = PLAIN) -> bool:
    """Whether not one scope could be judged, and nothing is done at all."""
    return bool(report.scopes) and all(
        scope.stopped in _BLIND and not additions.acts(scope)
        for scope in report.scopes
    )


def summary(
    report: types.CycleReport,
    describe: ScopeSummary,
    additions: Additions = PLAIN,
    distrust: Mapping[str, str] | None = None,
) -> str:
    """The outcome scope by scope; those that could not be judged first.

    How earlier plans did is last: the end of a long message is cut off, and
    nobody has to act on it first.

    :param distrust: by scope why its plans are not to be trusted
    """
    scopes = sorted(
        report.scopes, key=lambda scope: scope.stopped not in _BLIND
    )
    parts = [_scope_summary(scope, describe, additions) for scope in scopes]
    return '; '.join([*parts, *_doubts(scopes, distrust or {})])


def _doubts(
    scopes: Iterable[types.AggregateResult], distrust: Mapping[str, str]
) -> Iterator[str]:
    """How far the plans of each scope are to be trusted, if not wholly."""
    for scope in scopes:
        # The limit has the same numbers, of the policies in use.
        if trust := scope.effect_limit or distrust.get(scope.name):
            yield f'{scope.name}: {trust}'


def _scope_summary(
    scope: types.AggregateResult, describe: ScopeSummary, additions: Additions
) -> str:
    first = ''.join(f'{text}; ' for text in unjudged(scope))
    if scope.stopped in _NAMES_ITSELF:
        return f'{first}{scope.reason}'  # it names the scope itself
    if additions.is_over(scope):
        return f'{first}{describe(scope)}'
    if not (scope.steps or scope.closings or additions.is_described(scope)):
        parts = [', '.join(additions.unfinished(scope)), _standstill(scope)]
        return f'{scope.name}: {first}{"; ".join(filter(None, parts))}'
    name = scope.name
    if scope.unmeasured:
        name += f': {cut(scope.unmeasured, REASON)}'
    first += ''.join(f'{text}; ' for text in strangers(scope))
    parts = [_migrations(scope), describe(scope)]
    return f'{name}: {first}{", ".join(filter(None, parts))}'


def unjudged(scope: types.AggregateResult) -> list[str]:
    """``cpu not judged (bad_data: parse error)`` for each skipped policy.

    Nothing where none could be used: then the scope itself says so.
    """
    if scope.stopped in _BLIND or scope.unmeasured:
        return []
    return [
        f'{policy.name} not judged ({cut(_bare(policy), UNJUDGED)})'
        for policy in scope.policies
        if policy.skipped
    ]


def strangers(scope: types.AggregateResult) -> list[str]:
    """What is at fault by a query and no host of the cloud."""
    return [
        cut(text, UNJUDGED)
        for text in scope.warnings
        if exclusions.STRANGERS in text
    ]


def _bare(policy: types.PolicyResult) -> str:
    """Why a policy was skipped, without its name and Prometheus' address."""
    text = policy.skipped.removeprefix(f'policy {policy.name}: ')
    return _ADDRESS.sub('', text, count=1)


def _standstill(scope: types.AggregateResult) -> str:
    """The reason, and the warnings where nothing else tells of them.

    The last warnings are those of what could not be looked at or done.
    """
    if scope.stopped in _BLIND:
        return scope.reason
    skipped = not_drained(scope)
    prefixes = tuple(
        f'host {host} is not drained: {reason}'
        for host, reason in scope.not_drained.items()
    )
    warnings = [
        text
        for text in reversed(scope.warnings)
        if not text.startswith(prefixes)
    ]
    if not (skipped or warnings):
        return scope.reason
    text = '; '.join([cut(scope.reason, REASON), *skipped])
    return f'{text}; warning: {"; ".join(warnings)}' if warnings else text


def cut(text: str, limit: int) -> str:
    """A text of so many characters at most."""
    return text if len(text) <= limit else f'{text[: limit - 3]}...'


def _migrations(scope: types.AggregateResult) -> str:
    """``5 migrations (3 evacuate, 2 spread)``; one phase goes unnamed.

    Nothing in a plan that only restarts or closes.
    """
    number = len(scope.steps)
    if not number:
        return ''
    text = f'{number} migration{"" if number == 1 else "s"}'
    phases = Counter(step.phase for step in scope.steps)
    if len(phases) == 1:
        return text
    # Those of an extension come last.
    own = list[Phase](types.MigrationPhase)
    others = sorted(phases.keys() - {*own})
    parts = [
        f'{phases[phase]} {phase.value}'
        for phase in [*own, *others]
        if phases[phase]
    ]
    return f'{text} ({", ".join(parts)})'


def imbalance(scope: types.AggregateResult) -> str:
    """What a plan does for ``kronos_balance``."""
    stopped = scope.stopped.value
    if scope.stopped is types.StopReason.BALANCED and unjudged(scope):
        stopped = 'within the thresholds that were judged'
    share = ''
    if scope.stopped is not types.StopReason.BALANCED:
        share = certificates.brief(scope.certificate)
    return (
        f'combined imbalance {scope.combined_before:.2f} -> '
        f'{scope.combined_after:.2f} ({stopped}{share and f", {share}"})'
        + (rest.brief(scope.rest) if scope.rest else '')
        + _beside(scope)
    )


def hosts_in_use(scope: types.AggregateResult) -> str:
    """What a plan does for ``kronos_consolidate``."""
    return (
        f'hosts in use {scope.hosts_in_use_before} -> '
        f'{scope.hosts_in_use_after}'
        + ''.join(f', {host.text}' for host in scope.begun)
        + _beside(scope)
    )


def drained(scope: types.AggregateResult) -> str:
    """What a plan does for ``kronos_drain``, host by host."""
    return ', '.join(
        not_drained(scope) + [_drain(scope, drain) for drain in scope.drains]
    )


def repaired(scope: types.AggregateResult) -> str:
    """What a plan does for ``kronos_affinity``."""
    return _groups(scope) + ''.join(
        f', {text}' for text in scope.violations_after[:1]
    )


def _beside(scope: types.AggregateResult) -> str:
    """What the other phases leave undone or repair."""
    parts = not_drained(scope)
    parts += [_drain(scope, drain) for drain in scope.drains if drain.staying]
    if scope.violations_before:
        parts.append(_groups(scope))
    return ''.join(f', {part}' for part in parts)


def _drain(scope: types.AggregateResult, drain: types.Drain) -> str:
    """``h1: 5 leave, 1 stays (the instance is locked)``.

    Those that stay because of consent are named.
    """
    verb = 'leaves' if drain.leaving == 1 else 'leave'
    text = f'{drain.host}: {drain.leaving} {verb}'
    if not drain.staying:
        return text
    number = len(drain.staying)
    # The most frequent reason; of equally frequent ones the first.
    counts = Counter(drain.staying.values())
    reason = min(counts, key=lambda why: (-counts[why], why))
    names = limits.staying_servers(scope, drain.staying, CONSENTS)
    text += f', {number} {"stays" if number == 1 else "stay"} ({reason}'
    return f'{text}; without consent: {names})' if names else f'{text})'


def not_drained(scope: types.AggregateResult) -> list[str]:
    """``h2, h3 are not drained (nova-compute is down)``, or nothing."""
    hosts, reasons = list(scope.not_drained), list(scope.not_drained.values())
    if not hosts:
        return []
    verb = 'is' if len(hosts) == 1 else 'are'
    reason = cut(reasons[0], WHY)
    return [f'{wording.some(hosts)} {verb} not drained ({reason})']


def _groups(scope: types.AggregateResult) -> str:
    return (
        f'broken server groups {len(scope.violations_before)} -> '
        f'{len(scope.violations_after)}'
    )


def change(before: dict[str, float], after: dict[str, float]) -> str:
    """Imbalances per policy as text: ``cpu 0.62 -> 0.41, memory ...``."""
    return ', '.join(
        f'{name} {value:.3f} -> {after[name]:.3f}'
        for name, value in before.items()
    )
