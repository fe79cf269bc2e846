# SPDX-License-Identifier: Apache-2.0
"""The base of all strategies: how a Watcher audit runs Kronos.

The whole adapter: gather, call the engine, translate. What needs more than
Watcher itself is imported when an audit runs: a plugin that cannot be
imported is taken for uninstalled, and Watcher then cancels its audits.

An audit ends with a sentence in its ``status_message`` in every case. An
error fails a ONESHOT audit. A CONTINUOUS or EVENT audit could never run
again after that, so there the solution is empty and the next run tries
again.

Whether an audit runs while some plan is under way is Watcher's decision:
unless the audit was created with ``force``, a ONESHOT audit is CANCELLED
then and a run of a CONTINUOUS one is left out, whatever the plan is about.
"""

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tenacity
from oslo_config import cfg
from oslo_log import log as logging
from watcher import conf, objects
from watcher.common import exception
from watcher.decision_engine.solution import default
from watcher.decision_engine.strategy.strategies import base

from kronos.common import exceptions, status
from kronos.conf import opts, validation
from kronos.engine import types
from kronos.engine.settings import ModePhases, PlanMode, Settings
from kronos.strategies import (
    audit_scheduler,
    goals,
    parameters,
    pipeline,
)
from kronos.strategies.outcome import (
    additions,
    audit_log,
    audit_metrics,
    effect_metrics,
    planned_actions,
    status_messages,
)
from kronos.watcher_db import lock

if TYPE_CHECKING:
    from kronos.clients.connection import HostProcess
    from kronos.snapshots.reader import Reader
    from kronos.strategies import audit as kronos_audit
    from kronos.watcher_db import publishing

LOG = logging.getLogger(__name__)
CONF = conf.CONF
opts.register_opts(CONF)

PLANNER = 'kronos'
DATABASE_SECONDS = 60.0
"""For so long an audit waits for Watcher's database at its end."""


class KronosStrategy(goals.Named, base.BaseStrategy):
    """What all strategies of Kronos share.

    A strategy declares what it is: the names, what is planned, what its audits
    may ask for, and how a plan is told in a few words.

    One class, since Watcher calls its hooks on one object.

    For the planner, ``parents`` holds, for every action of the solution, the
    indices of the actions that must end before it; ``basis`` is what the
    solution was made from, and ``audit`` the audit that asked for it.
    """

    PLAN_MODE: PlanMode | ModePhases
    """What is planned: by ``settings.PHASES_OF_MODE``, or a row of its own."""
    GOAL: type[goals.Goal]
    PARAMETERS: Sequence[str]
    """Those that not every strategy takes, of :mod:`.parameters`."""
    ADDITIONS = additions.PLAIN
    """What it does and says beside the plan, where it is an extension's."""

    def __init__(self, config: Any, osc: Any = None) -> None:
        super().__init__(config, osc)
        self._planner = PLANNER
        self.audit: Any = None
        self.parents: list[list[int]] = []
        self.basis: publishing.Basis | None = None
        self.pace: dict[str, float] = {}
        self._unwritten: types.CycleReport | None = None
        """What was planned, until it is clear whether it comes to a plan."""

    @classmethod
    def get_goal_name(cls) -> str:
        return cls.GOAL.NAME

    @classmethod
    def get_config_opts(cls) -> list[Any]:
        """None of its own: see the groups kronos and kronos_prometheus."""
        return []

    @classmethod
    def get_schema(cls) -> dict[str, Any]:
        return parameters.schema(cls.PARAMETERS)

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> parameters.Parameters:
        """What an audit was asked for.

        :raises ConfigurationError: a parameter is wrong
        """
        return parameters.parse(raw, cls.PARAMETERS)

    @classmethod
    def reader(
        cls, settings: Settings, conf: Any, clients: 'HostProcess'
    ) -> 'Reader | None':
        """What reads on in a cloud, where it is a strategy of an extension.

        :param settings: of the audit
        :param conf: Watcher's configuration with the options of Kronos
        """
        return None

    @classmethod
    def policies_file(cls, kronos: Any) -> str:
        path: str = kronos.policies_file
        return path

    @classmethod
    def indicators(cls, report: types.CycleReport) -> dict[str, float]:
        """The efficacy indicators of its goal."""
        return cls.GOAL.indicators(report)

    @staticmethod
    @abc.abstractmethod
    def summary(scope: types.AggregateResult) -> str:
        """What the plan of a scope does for its goal, in a few words."""

    def pre_execute(self) -> None:
        """Nothing: Watcher's cluster model is not used."""

    def post_execute(self) -> None:
        """Nothing: do_execute has told it all."""

    def do_execute(self, audit: Any = None) -> None:
        """Plan, fill the solution and leave the outcome in the audit.

        :raises watcher.common.exception.WatcherException: with the reason,
            if a ONESHOT audit could not be carried out, or it is none
        """
        self.audit = audit
        if not pipeline.is_audit(audit):
            LOG.error('%s: %s', self.get_name(), pipeline.REFUSAL)
            audit_metrics.begin(CONF)
            self._end('failed')
            raise exception.WatcherException(pipeline.REFUSAL)
        if audit.audit_type == objects.audit.AuditType.CONTINUOUS.value:
            audit_scheduler.watch()
        _refresh(audit)
        message, failed = self._attempt(audit)
        message = self._report(audit, message)
        outcome = self._outcome(failed)
        if outcome != 'planned':
            self._end(outcome)
        if (
            failed
            and audit.audit_type == objects.audit.AuditType.ONESHOT.value
        ):
            raise exception.WatcherException(message)

    def settle(self, is_written: bool) -> None:
        """Count the run, once it is clear what its plan has come to.

        :param is_written: whether the plan is there to be started
        """
        report = self._unwritten
        if report is None:
            return
        self._end('planned' if is_written else 'failed')
        if is_written:
            audit_metrics.written(report)

    def _end(self, outcome: str) -> None:
        self._unwritten = None
        audit_metrics.ended(self.get_name(), outcome)

    def look_again(self) -> Any:
        """Plan anew, from the cloud and the past as they are now.

        :returns: the new solution
        :raises watcher.common.exception.WatcherException: see
            :meth:`do_execute`
        """
        self._clear()
        return self.execute(self.audit)

    def stand_back(self, reason: str) -> Any:
        """Plan nothing after all, and leave the reason in the audit.

        :returns: an empty solution
        """
        self._clear()
        self._end('overtaken')
        self._report(self.audit, f'Nothing is planned: {reason}')
        self.solution.compute_global_efficacy()
        return self.solution

    def _outcome(self, failed: bool) -> str:
        if failed:
            return 'failed' if self.basis is None else 'blind'
        return 'planned' if self.solution.actions else 'empty'

    def _clear(self) -> None:
        self.solution = default.DefaultSolution(goal=self.goal, strategy=self)
        self.parents, self.basis, self.pace = [], None, {}
        self._unwritten = None

    def _attempt(self, audit: Any) -> tuple[str, bool]:
        """Returns the message and if it failed; then nothing is planned."""
        try:
            return self._plan(audit)
        except exceptions.KronosException as error:
            LOG.error('Audit %s: %s', audit.uuid, error)
            message = str(error)
        except cfg.Error as error:
            # Without a traceback: it may hold a secret.
            message = f'Bad configuration: {validation.told(error)}'
            LOG.error('Audit %s: %s', audit.uuid, message)
        except ImportError as error:
            LOG.exception('Audit %s: a package is missing', audit.uuid)
            message = f'Kronos is not completely installed: {error}'
        except Exception as error:
            # Its text may hold anything, so it is only for the log.
            LOG.exception('Audit %s failed unexpectedly', audit.uuid)
            message = (
                f'Unexpected {type(error).__name__}; see the log of '
                'watcher-decision-engine.'
            )
        return message, True

    def _plan(self, audit: Any) -> tuple[str, bool]:
        """Plan and fill the solution; returns the message and if it failed."""
        from kronos.strategies import audit as kronos_audit
        from kronos.strategies.outcome import artifacts

        CONF.reload_config_files()
        # First: an audit that fails has to be counted, too.
        audit_metrics.begin(CONF)
        pipeline.require_no_model(self._compute_model)
        validation.require_valid(CONF)
        for warning in validation.old_groups(CONF):
            LOG.warning('Audit %s: %s', audit.uuid, warning)
        kronos, name = CONF.kronos, self.get_name()
        record = None
        if kronos.record_dir:
            record = artifacts.recorder(audit, name, kronos)
        request = kronos_audit.AuditRequest(
            policies_file=self.policies_file(kronos),
            additions=self.ADDITIONS,
            plan_mode=self.PLAN_MODE,
            requested=self.parse(dict(self.input_parameters)),
            audit=audit.uuid,
            strategy=name,
            record=record,
            reader=self.reader,
        )
        result = kronos_audit.run(request, audit.scope or [], CONF, self.osc)
        report = result.report
        message = self._told(audit, result)
        if kronos.report_dir:
            artifacts.keep(result, request, audit, name, kronos)
        # Last: an audit that fails must not leave a plan to be started.
        self._fill_solution(result)
        return message, status_messages.is_blind(report, self.ADDITIONS)

    def _told(self, audit: Any, result: 'kronos_audit.AuditResult') -> str:
        """Tell the log and the metrics; returns the message."""
        report = result.report
        for level, line in audit_log.lines(report, self.ADDITIONS):
            LOG.log(level, 'Audit %s: %s', audit.uuid, line)
        distrust = {
            scope: effect.distrust for scope, effect in result.effects.items()
        }
        for scope, text in distrust.items():
            if text:
                LOG.warning('Audit %s: scope %s: %s', audit.uuid, scope, text)
        audit_metrics.planned(
            report,
            result.snapshots,
            result.settings,
            result.timings,
            CONF.kronos.watched_flavors,
            self.ADDITIONS,
        )
        effect_metrics.show(result.effects)
        return status_messages.summary(
            report, self.summary, self.ADDITIONS, distrust
        )

    def _fill_solution(self, result: 'kronos_audit.AuditResult') -> None:
        """All that may fail comes before the first action is there."""
        written = planned_actions.of(
            result.report, result.parents, result.order, self.ADDITIONS
        )
        indicators = self.indicators(result.report)
        self.solution.set_efficacy_indicators(**indicators)
        specification = self.goal.efficacy_specification
        specification.beside = self.GOAL.beside(result.report)
        self.parents = [action.parents for action in written]
        self.basis, self.pace = result.basis, result.pace
        self._unwritten = result.report
        for action in written:
            self.solution.add_action(
                action.action_type, action.parameters, action.resource
            )

    def _report(self, audit: Any, message: str) -> str:
        """Write the outcome where ``openstack optimize audit show`` has it.

        A continuous audit comes as it was when it was scheduled; only a
        fresh copy tells whether the message is already there. If the
        database is away, it is waited for: what Watcher does next would
        fail, and with it a continuous audit, for ever. After that the
        outcome is in the log alone.
        """
        text = status.fit(message)
        LOG.info('Audit %s: %s', audit.uuid, text)
        try:
            _patiently(self._write, audit.uuid, text)
        except lock.FAILURES as error:
            LOG.error(
                'The status message of audit %s cannot be written: %s',
                audit.uuid,
                type(error).__name__,
            )
        except Exception:
            LOG.exception(
                'The status message of audit %s cannot be written', audit.uuid
            )
        return text

    def _write(self, uuid: str, text: str) -> None:
        fresh = objects.Audit.get_by_uuid(self.ctx, uuid, eager=True)
        if fresh.status_message != text:
            fresh.status_message = text
            fresh.save()


def _refresh(audit: Any) -> None:
    """Let an EVENT audit know that it runs.

    Watcher 17 sets another copy of it to ONGOING, and at the end leaves an
    audit alone that says SUCCEEDED from the run before: it would stay ONGOING
    for ever, and refuse every later trigger.
    """
    states, types_ = objects.audit.State, objects.audit.AuditType
    if audit.audit_type != types_.EVENT.value or audit.state == states.ONGOING:
        return
    _patiently(audit.refresh)


def _patiently(work: Callable[..., object], *args: Any) -> None:
    """Do some work in Watcher's database, which may be away for a while."""
    tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(lock.FAILURES),
        stop=tenacity.stop_after_delay(DATABASE_SECONDS),
        wait=tenacity.wait_fixed(1),
        reraise=True,
    )(work, *args)
