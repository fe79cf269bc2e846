# SPDX-License-Identifier: Apache-2.0
"""Does a strategy refuse to be a stage of a pipeline of audits?"""

import types

from watcher import objects
from watcher.common import exception

from kronos.strategies import pipeline, spread
from tests.watcher_tests import db_base
from tests.watcher_tests import object_utils as utils


class Injectable(spread.Spread):
    """As a later Watcher has it: a model can be set."""

    @property
    def compute_model(self):
        return self._compute_model

    @compute_model.setter
    def compute_model(self, model):
        self._compute_model = model


class TestPipeline(db_base.DbTestCase):
    def audit(self, kind):
        goal = utils.create_test_goal(self.context, name='kronos_balance')
        strategy = utils.create_test_strategy(
            self.context, name='kronos_spread', goal_id=goal.id
        )
        return utils.create_test_audit(
            self.context,
            goal_id=goal.id,
            strategy_id=strategy.id,
            audit_type=kind,
            state='ONGOING',
        )

    def message(self, audit):
        row = objects.Audit.get_by_uuid(self.context, audit.uuid)
        return row.status_message

    def refused(self, strategy, audit):
        error = self.assertRaises(
            exception.WatcherException, strategy.do_execute, audit
        )
        self.assertEqual(pipeline.REFUSAL, str(error))
        self.assertEqual([], strategy.solution.actions)

    def test_a_stage_without_an_audit(self):
        for audit in (
            None,
            types.SimpleNamespace(uuid='u'),
            types.SimpleNamespace(uuid='u', audit_type=None),
            objects.Audit(self.context),
        ):
            self.refused(spread.Spread(None), audit)

    def test_an_attribute_that_was_set(self):
        audit, strategy = self.audit('ONESHOT'), spread.Spread(None)
        strategy._compute_model = object()
        self.refused(strategy, audit)
        self.assertEqual(pipeline.REFUSAL, self.message(audit))

    def test_a_model_that_was_injected(self):
        audit, strategy = self.audit('ONESHOT'), Injectable(None)
        strategy.compute_model = object()
        self.refused(strategy, audit)
        self.assertEqual(pipeline.REFUSAL, self.message(audit))

    def test_a_continuous_audit_goes_on(self):
        audit, strategy = self.audit('CONTINUOUS'), Injectable(None)
        strategy.compute_model = object()
        strategy.do_execute(audit)
        self.assertEqual([], strategy.solution.actions)
        self.assertEqual(pipeline.REFUSAL, self.message(audit))

    def test_without_a_pipeline(self):
        """It gets on to what else is wrong: there are no policies."""
        audit = self.audit('ONESHOT')
        error = self.assertRaises(
            exception.WatcherException,
            Injectable(None).do_execute,
            audit,
        )
        self.assertNotIn('pipeline', str(error))
