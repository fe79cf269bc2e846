# SPDX-License-Identifier: Apache-2.0
"""The effects of plans as rows of a document."""

from typing import TYPE_CHECKING, Any

from kronos.engine.effect.measurement import PolicyEffect
from kronos.engine.types import EffectRatio

if TYPE_CHECKING:
    # Who replays a recording needs no client of Nova.
    from kronos.snapshots.past.effects import PlanEffect
    from kronos.snapshots.past.scope_effects import ScopeEffect


def row(scope: 'ScopeEffect | None') -> dict[str, Any] | None:
    """What a report tells of a scope; None if nothing was measured."""
    if scope is None:
        return None
    return {
        'trust': scope.trust,
        'policies': [ratio(each) for each in scope.ratios],
        'plans': [plan(each) for each in scope.plans],
    }


def ratio(each: EffectRatio) -> dict[str, Any]:
    """A policy, over the plans of a scope."""
    return {
        'name': each.policy,
        'ratio': each.ratio,
        'trust': each.trust,
        'plans': each.plans,
        'former_plans': each.former,
    }


def plan(measured: 'PlanEffect', by_host: bool = False) -> dict[str, Any]:
    """A plan, with each policy.

    :param by_host: of each policy every host, too
    """
    about = measured.plan
    return {
        'uuid': about.uuid,
        'scope': about.scope,
        'state': about.state,
        'created': about.created,
        'started': about.is_started,
        'forecast_seconds': about.forecast_seconds,
        'taken_seconds': measured.taken_seconds,
        'policies': [
            _policy(effect) | (_hosts(effect) if by_host else {})
            for effect in measured.effects
        ],
    }


def _policy(effect: PolicyEffect) -> dict[str, Any]:
    reason = effect.unmeasured
    return {
        'name': effect.policy,
        'predicted': None if reason else effect.predicted,
        'realised': None if reason else effect.realised,
        'ratio': effect.ratio,
        'drift': effect.drift,
        'unmeasured_code': reason.value if reason else '',
        'unmeasured': reason.text if reason else '',
    }


def _hosts(effect: PolicyEffect) -> dict[str, Any]:
    return {
        'hosts': [
            {
                'host': change.host,
                'predicted': change.predicted,
                'realised': change.realised,
            }
            for change in effect.changes
        ]
    }
