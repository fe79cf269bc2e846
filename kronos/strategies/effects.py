# SPDX-License-Identifier: Apache-2.0
"""The effects of earlier plans, as an audit reads them.

From Watcher's database, not its API: the decision engine needs no right for
it. An audit goes on without them, whatever is wrong.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from oslo_log import log as logging
from watcher import objects
from watcher.common import context

from kronos.clients.nova.client import NovaClient
from kronos.engine.settings import EffectUse, Settings
from kronos.engine.types import Snapshot
from kronos.policies.models import Policy
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.past import effects, past_plans, scope_effects
from kronos.snapshots.past.effects import PastQueries
from kronos.snapshots.past.past_plans import PastPlan
from kronos.snapshots.past.scope_effects import ScopeEffect
from kronos.strategies import history

LOG = logging.getLogger(__name__)

OURS = 'kronos'
"""How the names of our strategies begin."""
_measured = effects.Measured()
"""By this process, whichever audit asked."""


def read(
    snapshots: Sequence[Snapshot],
    policies: Sequence[Policy],
    nova: Callable[[], NovaClient],
    prometheus: PastQueries,
    kronos: Any,
) -> dict[str, ScopeEffect]:
    """By scope what its newest plans changed; {} if that cannot be read.

    A scope without a plan is not among them.

    :param kronos: the options ``[kronos]``
    """
    try:
        plans = newest(kronos.effect_plans)
        _measured.forget({plan.uuid for plan in plans})
        hosts = {snapshot.scope: snapshot.hosts for snapshot in snapshots}
        plans = [plan for plan in plans if plan.scope in hosts]
        if not plans:
            return {}
        reader = effects.live(
            nova(), prometheus, hosts, policies, kronos, _measured
        )
        return scope_effects.by_scope(
            reader.read(plans, policies, time.time()),
            [policy.name for policy in policies],
        )
    except Exception as error:
        # Its text may hold anything.
        LOG.warning(
            'The effects of earlier plans cannot be read: %s',
            type(error).__name__,
        )
        return {}


def newest(most: int) -> list[PastPlan]:
    """The newest plans of each scope in Watcher's database, newest first.

    :param most: of one scope
    """
    return past_plans.of_each_scope(_plans(most * past_plans.LOOKED_AT), most)


def _plans(most: int) -> Iterator[PastPlan]:
    admin = context.make_context(is_admin=True)
    plans = [
        plan
        for plan in objects.ActionPlan.list(
            admin, limit=most, sort_key='id', sort_dir='desc', eager=True
        )
        if plan.strategy_id is not None and plan.strategy.name.startswith(OURS)
    ]
    rows = _rows(plan.id for plan in plans)
    for plan in plans:
        created = plan.created_at.timestamp()
        own = map(history.action_row, rows.get(plan.id, []))
        yield from past_plans.split(plan.uuid, plan.state, created, own)


def _rows(plans: Iterable[int]) -> Mapping[int, Sequence[Any]]:
    """The actions of plans, by their ids."""
    admin = context.make_context(is_admin=True)
    filters = {'action_plan_id__in': list(plans)}
    by_plan: dict[int, list[Any]] = {}
    if filters['action_plan_id__in']:
        for row in objects.Action.list(admin, filters=filters):
            by_plan.setdefault(row.action_plan_id, []).append(row)
    return by_plan


def use(
    past: Mapping[str, ScopeEffect],
    gathered: CloudInventory,
    snapshots: Sequence[Snapshot],
    settings: Settings,
) -> None:
    """Plan with what was measured, and record it, if the settings ask for it.

    :param past: by scope
    """
    if settings.use_effect is EffectUse.OFF:
        return
    gathered.effects = {
        scope: [*effect.ratios] for scope, effect in past.items()
    }
    for snapshot in snapshots:
        snapshot.effects = gathered.effects.get(snapshot.scope, [])
