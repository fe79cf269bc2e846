# SPDX-License-Identifier: Apache-2.0
"""How does a solution become an action plan that runs in the right order?

Everything is computed before the first database row is written, so that an
error leaves no half plan behind.
"""

import datetime
from collections.abc import Iterator
from typing import Any

from oslo_log import log as logging
from oslo_utils import timeutils
from watcher import objects
from watcher.common import exception, utils
from watcher.decision_engine.planner import base

LOG = logging.getLogger(__name__)
State = objects.action_plan.State

# A plan that auto_trigger has just handed to the applier must not vanish
# on its way there.
_HAND_OVER = datetime.timedelta(minutes=10)


class Kronos(base.BasePlanner):
    """Write the actions with the parents that the strategy computed.

    It needs no configuration. Each action learns its own, its plan's and
    its audit's uuid through its input parameters, since Watcher tells an
    action none of them.
    """

    def schedule(
        self, context: Any, audit_uuid: Any, solution: Any
    ) -> objects.ActionPlan:
        """Write a plan.

        :param audit_uuid: the audit's integer id, whatever Watcher names it
        :returns: the plan: RECOMMENDED, or SUCCEEDED if it is empty
        :raises watcher.common.exception.WatcherException: if the solution
            is not of a Kronos strategy
        """
        audit = objects.Audit.get_by_id(context, audit_uuid)
        strategy = objects.Strategy.get_by_name(
            context, solution.strategy.name
        )
        plan = objects.ActionPlan(
            context,
            uuid=utils.generate_uuid(),
            audit_id=audit.id,
            strategy_id=strategy.id,
            state=State.RECOMMENDED if solution.actions else State.SUCCEEDED,
            global_efficacy=solution.global_efficacy,
        )
        actions = self._actions(context, audit, plan, solution)
        indicators = self._indicators(context, solution)
        if not actions:
            self._drop_empty_plans(context, audit)
        plan.create()
        for row in indicators + actions:
            row.action_plan_id = plan.id
            row.create()
        return plan

    @staticmethod
    def _actions(
        context: Any, audit: Any, plan: Any, solution: Any
    ) -> list[objects.Action]:
        parents = getattr(solution.strategy, 'parents', None)
        if parents is None or len(parents) != len(solution.actions):
            raise exception.WatcherException(
                'The planner kronos only serves the strategies of Kronos.'
            )
        uuids = [utils.generate_uuid() for _ in solution.actions]
        return [
            objects.Action(
                context,
                uuid=uuid,
                action_type=action['action_type'],
                input_parameters={
                    **action['input_parameters'],
                    'action_uuid': uuid,
                    'action_plan_uuid': plan.uuid,
                    'audit_uuid': audit.uuid,
                },
                parents=[uuids[parent] for parent in after],
                state=objects.action.State.PENDING,
            )
            for uuid, action, after in zip(
                uuids, solution.actions, parents, strict=True
            )
        ]

    @staticmethod
    def _indicators(
        context: Any, solution: Any
    ) -> list[objects.EfficacyIndicator]:
        return [
            objects.EfficacyIndicator(
                context,
                uuid=utils.generate_uuid(),
                name=indicator.name,
                description=indicator.description,
                unit=indicator.unit,
                value=indicator.value,
            )
            for indicator in solution.efficacy_indicators
        ]

    @staticmethod
    def _drop_empty_plans(context: Any, audit: Any) -> None:
        """Delete the audit's older empty plans: they say nothing.

        An idle continuous audit would leave one per run. Only plans that
        succeeded and have no actions go. What goes wrong is logged: they
        are deleted at the next run, or somebody has done it.
        """
        try:
            for plan in _older_empty_plans(context, audit):
                LOG.debug('Deleting the older empty plan %s', plan.uuid)
                plan.soft_delete()
        except Exception as error:
            LOG.warning(
                'The older empty plans of audit %s are not all deleted: %s',
                audit.uuid,
                error,
            )


def _older_empty_plans(context: Any, audit: Any) -> Iterator[Any]:
    older = objects.ActionPlan.list(
        context,
        filters={'audit_id': audit.id, 'state': State.SUCCEEDED},
        eager=True,
    )
    for plan in older:
        if audit.auto_trigger and _on_its_way(plan):
            continue
        if not objects.Action.list(
            context, limit=1, filters={'action_plan_id': plan.id}
        ):
            yield plan


def _on_its_way(plan: Any) -> bool:
    """Whether no applier has picked the plan up yet, and one may still."""
    age = timeutils.utcnow(with_timezone=True) - plan.created_at
    return plan.hostname is None and age < _HAND_OVER
