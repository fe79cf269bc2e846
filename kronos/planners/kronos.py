# SPDX-License-Identifier: Apache-2.0
"""How does a solution become an action plan that runs in the right order?

Everything is computed before the first database row is written. A plan is
CANCELLED until its last row is written, so that nobody can start a part of
it, whatever becomes of the database or of this process meanwhile.
"""

import datetime
from collections import Counter
from collections.abc import Iterator
from typing import Any

from oslo_log import log as logging
from oslo_utils import timeutils
from watcher import conf, objects
from watcher.common import exception, utils
from watcher.decision_engine.planner import base

from kronos.common import config, status
from kronos.planners import outlook

LOG = logging.getLogger(__name__)
CONF = conf.CONF
config.register_opts(CONF)
State = objects.action_plan.State

_UNFINISHED = (
    'KRONOS: not all actions of this plan were written, so it cannot be '
    'started.'
)

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
            is not of a Kronos strategy, or the plan cannot be written
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
            state=State.CANCELLED if solution.actions else State.SUCCEEDED,
            status_message=_UNFINISHED if solution.actions else None,
            global_efficacy=solution.global_efficacy,
        )
        actions = self._actions(context, audit, plan, solution)
        rows = self._indicators(context, solution) + actions
        if not actions:
            self._drop_empty_plans(context, audit)
        try:
            self._write(plan, rows)
        except Exception as error:
            self._discard(plan)
            raise _not_written(context, audit, error) from error
        return plan

    def _actions(
        self, context: Any, audit: Any, plan: Any, solution: Any
    ) -> list[objects.Action]:
        parents = getattr(solution.strategy, 'parents', None)
        if parents is None or len(parents) != len(solution.actions):
            raise exception.WatcherException(
                'The planner kronos only serves the strategies of Kronos.'
            )
        uuids = [utils.generate_uuid() for _ in solution.actions]
        told = self._told(plan, solution, parents)
        return [
            objects.Action(
                context,
                uuid=uuid,
                action_type=action['action_type'],
                input_parameters={
                    **parameters,
                    'action_uuid': uuid,
                    'action_plan_uuid': plan.uuid,
                    'audit_uuid': audit.uuid,
                },
                parents=[uuids[parent] for parent in after],
                state=objects.action.State.PENDING,
            )
            for uuid, action, parameters, after in zip(
                uuids, solution.actions, told, parents, strict=True
            )
        ]

    @staticmethod
    def _told(
        plan: Any, solution: Any, parents: list[list[int]]
    ) -> list[dict[str, Any]]:
        """The input parameters, with the time before which none starts.

        What is to be expected of the plan goes into the log.
        """
        told = [dict(one['input_parameters']) for one in solution.actions]
        if not told:
            return told
        trips = [outlook.Trip.of(one) for one in told]
        found = outlook.Outlook(trips, parents)
        for line in found.lines():
            LOG.info('Action plan %s: %s', plan.uuid, line)
        if CONF.kronos.stagger_seconds > 0:
            _stagger([told[move] for move in found.order])
        return told

    @staticmethod
    def _write(plan: Any, rows: list[Any]) -> None:
        plan.create()
        for row in rows:
            row.action_plan_id = plan.id
            row.create()
        if plan.state == State.CANCELLED:
            plan.state = State.RECOMMENDED
            plan.status_message = None
            plan.save()

    @staticmethod
    def _discard(plan: Any) -> None:
        """Delete what was written of a plan; it cannot be started anyway."""
        if not plan.obj_attr_is_set('id'):
            return
        try:
            plan.soft_delete()
        except Exception as error:
            LOG.warning(
                'Action plan %s was not written whole. It stays %s: %s',
                plan.uuid,
                State.CANCELLED,
                error,
            )

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


def _stagger(told: list[dict[str, Any]]) -> None:
    """Tell each move of a scope to wait a little longer than the last (K2).

    :param told: the input parameters, in the order of their starts
    """
    now = timeutils.utcnow().replace(microsecond=0)
    before: Counter[str] = Counter()
    for one in told:
        scope = one['aggregate']
        seconds = before[scope] * CONF.kronos.stagger_seconds
        moment = now + datetime.timedelta(seconds=seconds)
        one['not_before'] = f'{moment.isoformat()}Z'
        before[scope] += 1


def _not_written(
    context: Any, audit: Any, error: Exception
) -> exception.WatcherException:
    """The error with which an audit ends whose plan could not be written.

    A continuous audit that failed could never run again, and this one error
    only ends the run.
    """
    text = status.fit(
        'KRONOS: the action plan cannot be written to the database of '
        f'Watcher ({type(error).__name__}); the log of '
        'watcher-decision-engine has the rest.'
    )
    LOG.error('Audit %s: %s %s', audit.uuid, text, error)
    try:
        fresh = objects.Audit.get_by_id(context, audit.id, eager=True)
        fresh.status_message = text
        fresh.save()
    except Exception as other:
        LOG.warning('Audit %s does not tell so: %s', audit.uuid, other)
    if audit.audit_type == objects.audit.AuditType.CONTINUOUS.value:
        return exception.ActionPlanIsOngoing(text)
    return exception.WatcherException(text)


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
