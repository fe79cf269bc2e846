# SPDX-License-Identifier: Apache-2.0
"""The Watcher planner: a solution becomes an action plan in its order.

Everything is computed before the first database row is written. A plan is
CANCELLED until its last row is written, so that nobody can start a part of
it, whatever becomes of the database or of this process meanwhile; and then
only if no other plan for its hosts came up since its audit read the past.
"""

import contextlib
import datetime
from collections import Counter
from collections.abc import Iterator
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from oslo_utils import timeutils
from watcher import conf, objects
from watcher.common import exception, utils
from watcher.decision_engine.planner import base

from kronos.common import exceptions, status
from kronos.conf import opts, validation
from kronos.planners import forecast
from kronos.snapshots import watcher_actions
from kronos.watcher_db import publishing

LOG = logging.getLogger(__name__)
CONF = conf.CONF
opts.register_opts(CONF)

_UNFINISHED = (
    'KRONOS: not all actions of this plan were written, so it cannot be '
    'started.'
)

# A plan that auto_trigger has just handed to the applier must not vanish
# on its way there.
_HAND_OVER = datetime.timedelta(minutes=10)


class Kronos(base.BasePlanner):
    """Write the actions with the parents that the strategy computed.

    It needs no configuration. Each action of Kronos learns its own, its
    plan's and its audit's uuid through its input parameters, since Watcher
    tells an action none of them.

    Watcher's objects are named in no signature: they are there once a service
    has registered them, and the options of plugins are listed by programs
    that have not.

    One class, since Watcher asks one object for the plan: whole, or discarded.
    """

    def schedule(self, context: Any, audit_uuid: Any, solution: Any) -> Any:
        """Write a plan, or an empty one if another plan came first.

        :param audit_uuid: the audit's integer id, whatever Watcher names it
        :returns: the plan: RECOMMENDED, or SUCCEEDED if it is empty
        :raises watcher.common.exception.WatcherException: if the solution
            is not of a Kronos strategy, or the plan cannot be written; of a
            class that does not end a continuous audit for ever
        """
        strategy = solution.strategy
        if not hasattr(strategy, 'basis'):
            raise exception.WatcherException(
                'The planner kronos only serves the strategies of Kronos.'
            )
        is_written = False
        try:
            plan = self._schedule(context, solution)
            is_written = True
            return plan
        except exception.WatcherException:
            raise
        except Exception as error:
            raise _not_written(context, strategy.audit, error) from error
        finally:
            strategy.settle(is_written)

    def _schedule(self, context: Any, solution: Any) -> Any:
        """Write the solution, or the one of a second look, or nothing."""
        strategy = solution.strategy
        plan, rival = self._publish(context, solution)
        if rival:
            LOG.warning('Audit %s looks again: %s', strategy.audit.uuid, rival)
            plan, rival = self._publish(context, strategy.look_again())
        if rival:
            plan, _ = self._publish(context, strategy.stand_back(rival))
        return plan

    def _publish(self, context: Any, solution: Any) -> tuple[Any, str]:
        """Write a plan that may be started, or an empty one.

        :returns: it, and why it was deleted again, if another came first
        """
        audit = solution.strategy.audit
        if not solution.actions:
            return self._empty(context, audit, solution), ''
        plan = self._plan(context, audit, solution)
        rows = self._indicators(context, solution)
        rows += self._actions(context, audit, plan, solution)
        try:
            self._write(plan, rows)
            rival = publishing.publish(plan.uuid, solution.strategy.basis)
        except Exception:
            self._discard(plan)
            raise
        if rival:
            # All of it was written.
            plan.status_message = status.fit(
                f'KRONOS: {rival}, so this plan was deleted.'
            )
            self._discard(plan)
        else:
            self._announce(plan)
        return plan, rival

    def _empty(self, context: Any, audit: Any, solution: Any) -> Any:
        """The audit's empty plan of an earlier run, or a new one.

        An idle continuous audit would leave one per run.
        """
        older = self._older_empty_plan(context, audit)
        if older is not None:
            self._update(context, older, solution)
            return older
        plan = self._plan(context, audit, solution)
        try:
            self._write(plan, self._indicators(context, solution))
        except Exception:
            self._discard(plan)
            raise
        return plan

    @staticmethod
    def _plan(context: Any, audit: Any, solution: Any) -> Any:
        state = objects.action_plan.State
        strategy = objects.Strategy.get_by_name(
            context, solution.strategy.name
        )
        return objects.ActionPlan(
            context,
            uuid=utils.generate_uuid(),
            audit_id=audit.id,
            strategy_id=strategy.id,
            state=state.CANCELLED if solution.actions else state.SUCCEEDED,
            status_message=_UNFINISHED if solution.actions else None,
            global_efficacy=solution.global_efficacy,
        )

    def _actions(
        self, context: Any, audit: Any, plan: Any, solution: Any
    ) -> list[Any]:
        parents = solution.strategy.parents
        uuids = [utils.generate_uuid() for _ in solution.actions]
        inputs = self._input_parameters(plan, solution, parents)
        return [
            objects.Action(
                context,
                uuid=uuid,
                action_type=action['action_type'],
                input_parameters={
                    **parameters,
                    **_uuids(action['action_type'], uuid, plan, audit),
                },
                parents=[uuids[parent] for parent in after],
                state=objects.action.State.PENDING,
            )
            for uuid, action, parameters, after in zip(
                uuids, solution.actions, inputs, parents, strict=True
            )
        ]

    @staticmethod
    def _input_parameters(
        plan: Any, solution: Any, parents: list[list[int]]
    ) -> list[dict[str, Any]]:
        """The input parameters, with the time before which none starts.

        What is to be expected of the plan goes into the log.
        """
        inputs = [
            dict(action['input_parameters']) for action in solution.actions
        ]
        moves = [
            position
            for position, parameters in enumerate(inputs)
            if forecast.is_move(parameters)
        ]
        if not moves:
            return inputs
        prediction = forecast.Forecast(
            [forecast.ActionTrip.of(inputs[position]) for position in moves],
            forecast.among(moves, parents),
            solution.strategy.pace,
        )
        for line in prediction.lines():
            LOG.info('Action plan %s: %s', plan.uuid, line)
        if CONF.kronos.stagger_seconds > 0:
            _stagger([inputs[moves[move]] for move in prediction.order])
        return inputs

    @staticmethod
    def _write(plan: Any, rows: list[Any]) -> None:
        plan.create()
        for row in rows:
            row.action_plan_id = plan.id
            row.create()

    @staticmethod
    def _announce(plan: Any) -> None:
        """Publish Watcher's notification that the plan may be started."""
        plan.state = objects.action_plan.State.RECOMMENDED
        plan.status_message = None
        # It is so in the database already.
        with _logged(
            f'No notification was sent about action plan {plan.uuid}'
        ):
            plan.save()

    @staticmethod
    def _discard(plan: Any) -> None:
        """Delete what was written of a plan; it cannot be started anyway."""
        if not plan.obj_attr_is_set('id'):
            return
        state = objects.action_plan.State.CANCELLED
        with _logged(
            f'Action plan {plan.uuid} could not be deleted. It stays {state}'
        ):
            plan.soft_delete()

    @staticmethod
    def _indicators(context: Any, solution: Any) -> list[Any]:
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
    def _older_empty_plan(context: Any, audit: Any) -> Any:
        """The newest of the audit's empty plans; None if there is none.

        The others say nothing and are deleted. What goes wrong is logged: a
        new plan is written then.
        """
        with _logged(
            f'The older empty plans of audit {audit.uuid} could not be reused'
        ):
            newest, *others = sorted(
                _empty_plans(context, audit),
                key=lambda plan: plan.id,
                reverse=True,
            ) or [None]
            for plan in others:
                LOG.debug('Deleting the older empty plan %s', plan.uuid)
                plan.soft_delete()
            return newest
        return None

    def _update(self, context: Any, plan: Any, solution: Any) -> None:
        """Update an empty plan to the newest run.

        What goes wrong is logged: the audit itself reports what matters.
        """
        with _logged(f'The empty plan {plan.uuid} could not be updated'):
            plan.global_efficacy = solution.global_efficacy
            plan.save()
            for row in objects.EfficacyIndicator.list(
                context, filters={'action_plan_id': plan.id}
            ):
                row.destroy()
            for row in self._indicators(context, solution):
                row.action_plan_id = plan.id
                row.create()


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    """Go on whatever happens; the log has its type, and no secret."""
    try:
        yield
    except Exception as error:
        LOG.warning('%s: %s', what, type(error).__name__)


def _stagger(inputs: list[dict[str, Any]]) -> None:
    """Let each move of a scope start a little later than the last.

    :param inputs: the input parameters, in the order of their starts
    """
    now = timeutils.utcnow().replace(microsecond=0)
    before: Counter[str] = Counter()
    for parameters in inputs:
        scope = parameters['aggregate']
        seconds = before[scope] * CONF.kronos.stagger_seconds
        moment = now + datetime.timedelta(seconds=seconds)
        parameters['not_before'] = f'{moment.isoformat()}Z'
        before[scope] += 1


def _uuids(kind: str, uuid: str, plan: Any, audit: Any) -> dict[str, str]:
    """The uuids of an action, its plan and its audit, for its parameters."""
    if not watcher_actions.is_ours(kind):
        return {}
    return {
        'action_uuid': uuid,
        'action_plan_uuid': plan.uuid,
        'audit_uuid': audit.uuid,
    }


def _not_written(
    context: Any, audit: Any, error: Exception
) -> exception.WatcherException:
    """The error with which an audit ends whose plan could not be written.

    A continuous audit that failed could never run again, and this one error
    only ends the run.
    """
    text = status.fit(f'KRONOS: {_why_not_written(error)}')
    LOG.error('Audit %s: %s', audit.uuid, text)
    if not isinstance(error, cfg.Error):
        LOG.debug('Audit %s: %s', audit.uuid, error)
    with _logged(f'The message could not be written to audit {audit.uuid}'):
        fresh = objects.Audit.get_by_id(context, audit.id, eager=True)
        fresh.status_message = text
        fresh.save()
    if audit.audit_type == objects.audit.AuditType.CONTINUOUS.value:
        return exception.ActionPlanIsOngoing(text)
    return exception.WatcherException(text)


def _why_not_written(error: Exception) -> str:
    if isinstance(error, cfg.Error):
        # Without its own text: it may hold a secret.
        return f'Bad configuration: {validation.told(error)}'
    if isinstance(error, exceptions.KronosException):
        return f'the action plan cannot be written: {error}'
    return (
        'the action plan cannot be written to the database of Watcher '
        f'({type(error).__name__}); the log of watcher-decision-engine has '
        'the rest.'
    )


def _empty_plans(context: Any, audit: Any) -> Iterator[Any]:
    """Those that succeeded, have no actions and are not on their way."""
    state = objects.action_plan.State.SUCCEEDED
    older = objects.ActionPlan.list(
        context, filters={'audit_id': audit.id, 'state': state}, eager=True
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
