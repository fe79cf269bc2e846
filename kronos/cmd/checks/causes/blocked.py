# SPDX-License-Identifier: Apache-2.0
"""The causes for which scopes cannot be planned, or hosts take no part."""

from collections import Counter

from kronos.cmd.checks.causes.answers import Causes
from kronos.cmd.checks.findings import Cause
from kronos.engine import wording
from kronos.engine.reasons import Code
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.types import StopReason

UNMEASURED = frozenset({Code.HOST_NO_SAMPLE, Code.HOST_NO_CAPACITY})


def of_policy(policy: str, reason: str, causes: Causes) -> str:
    """The cause of what a policy does that is not used.

    Policies with the same remedy, in whichever scopes, have one cause.
    """
    return f'skipped {causes.remedies.get(policy) or reason}'


def _of_policies(card: Scorecard, causes: Causes) -> list[str]:
    """The causes for which policies are not used in a scope."""
    return [
        key
        for result in card.results
        if result.skipped
        for key in (
            *causes.keys[result.name],
            of_policy(result.name, result.skipped, causes),
        )
    ]


def of_values(causes: Causes) -> list[str]:
    """The causes for which hosts lack a value of a policy."""
    return [key for keys in causes.keys.values() for key in keys]


def of_hosts(card: Scorecard, causes: Causes) -> list[str]:
    """The causes for which hosts take no part."""
    codes = {reason.code for reason in card.excluded.values()}
    keys = of_values(causes) if codes & UNMEASURED else []
    if Code.HOST_NO_PLACEMENT in codes:
        keys.append(Cause.PLACEMENT)
    return keys


def of_scope(card: Scorecard, causes: Causes) -> list[str]:
    """What keeps a scope from being planned; none of one that is."""
    match card.blocked:
        case None:
            return []
        case StopReason.EXCLUSIONS_UNKNOWN:
            return [Cause.PROMETHEUS, Cause.EXCLUSIONS]
        case StopReason.NO_SERVICES:
            return [Cause.NOVA]
        case StopReason.TOO_FEW_HOSTS:
            return [*of_hosts(card, causes), key_of(card)]
        case _:
            return [*_of_policies(card, causes), key_of(card)]


def key_of(card: Scorecard) -> str:
    """What scopes have in common that are blocked alike."""
    codes = {reason.code for reason in card.excluded.values()}
    return f'blocked {card.blocked} {sorted(codes)}'


def remedy(card: Scorecard) -> str:
    """What gives a scope of too few hosts more of them."""
    number = Counter(
        reason.code for reason in card.excluded.values() if reason.code
    )
    if not number:
        return 'add hosts to its aggregate, or plan another one'
    [(code, _)] = number.most_common(1)
    hosts = [
        host for host, reason in card.excluded.items() if reason.code is code
    ]
    words = f'{code.remedy[:1].lower()}{code.remedy[1:]}'.rstrip('.')
    return f'{words} ({wording.some(hosts)})'
