# SPDX-License-Identifier: Apache-2.0
"""The metrics of the effect of earlier plans, scope by scope."""

from collections import Counter
from collections.abc import Iterator, Mapping

from kronos.metrics import process
from kronos.metrics.store import Gauge
from kronos.snapshots.past.effects import PlanEffect
from kronos.snapshots.past.scope_effects import ScopeEffect
from kronos.strategies.outcome import audit_metrics


def show(effects: Mapping[str, ScopeEffect]) -> None:
    """Show what the newest plans of each scope changed.

    Whatever is wrong with that, the audit goes on.
    """
    with audit_metrics.unharmed():
        store = process.of_process()
        if store.is_on:
            for scope, effect in effects.items():
                store.show('effect', _gauges(scope, effect), scope)


def _gauges(scope: str, effect: ScopeEffect) -> Iterator[Gauge]:
    for each in effect.ratios:
        own = {'scope': scope, 'policy': each.policy}
        yield Gauge('kronos_effect_ratio', each.ratio, own)
        yield Gauge('kronos_effect_trust_ratio', each.trust, own)
        yield Gauge('kronos_effect_measured_plans', each.plans, own)
        started, idle = 'kronos_effect', 'kronos_effect_not_started'
        yield from _newest(effect, started, own, is_started=True)
        yield from _newest(effect, idle, own, is_started=False)
    own = {'scope': scope}
    for reason, number in _reasons(effect).items():
        name = 'kronos_effect_unmeasured_plans'
        yield Gauge(name, number, {**own, 'reason': reason})
    plan = next(filter(_is_measured, effect.plans), None)
    if plan is not None:
        seconds = plan.plan.forecast_seconds
        yield Gauge('kronos_effect_forecast_seconds', seconds, own)
        yield Gauge('kronos_effect_taken_seconds', plan.taken_seconds, own)


def _newest(
    effect: ScopeEffect, prefix: str, own: Mapping[str, str], is_started: bool
) -> Iterator[Gauge]:
    """Of the newest plan that was measured by a policy."""
    for plan in effect.plans:
        for each in plan.effects:
            if (
                plan.plan.is_started is is_started
                and each.policy == own['policy']
                and each.unmeasured is None
            ):
                predicted, realised = each.predicted, each.realised
                yield Gauge(f'{prefix}_predicted_ratio', predicted, own)
                yield Gauge(f'{prefix}_realised_ratio', realised, own)
                return


def _reasons(effect: ScopeEffect) -> Counter[str]:
    """Plans by the reasons why they are not measurable by some policy."""
    return Counter(
        reason
        for plan in effect.plans
        for reason in {
            each.unmeasured.value for each in plan.effects if each.unmeasured
        }
    )


def _is_measured(plan: PlanEffect) -> bool:
    return plan.plan.is_started and any(
        each.unmeasured is None for each in plan.effects
    )
