# SPDX-License-Identifier: Apache-2.0
"""Is a plan written whole or not at all, and are only empty ones deleted?"""

import contextlib
import threading
import types

import fixtures
import sqlalchemy
from oslo_config import cfg
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import enginefacade
from oslo_utils import timeutils
from watcher import objects
from watcher.common import context, exception

from kronos.planners import kronos
from kronos.watcher_db import publishing
from tests.watcher_tests import db_base as base
from tests.watcher_tests import object_utils as utils

CONF = cfg.CONF
State = objects.action_plan.State
LOCK = 'kronos.watcher_db.lock'
GROUP = 'watcher_workflow_engines.taskflow'


class Strategy:
    """What the planner uses of one; it never looks again."""

    name = 'kronos_spread'

    def __init__(self, audit, parents, pace):
        self.audit = audit
        self.parents = parents
        self.basis = publishing.Basis(frozenset(), frozenset())
        self.pace = pace
        self.settled = []

    def settle(self, is_written):
        self.settled.append(is_written)


class PlannerTestCase(base.DbTestCase):
    def setUp(self):
        super().setUp()
        self.goal = utils.create_test_goal(self.context, name='kronos_balance')
        self.strategy = utils.create_test_strategy(
            self.context, name='kronos_spread', goal_id=self.goal.id
        )
        self.audit = self.make_audit(1)
        self.planner = kronos.Kronos(config=None)
        self.scopes = {}
        """By number of the move, where it is not alpha."""
        self.pace = {}
        self.logged = self.useFixture(
            fixtures.FakeLogger('kronos.planners.kronos', level=20)
        )

    def make_audit(self, number, **fields):
        return utils.create_test_audit(
            self.context,
            id=number,
            uuid=f'{number:08d}-2222-2222-2222-222222222222',
            name=f'audit {number}',
            goal_id=self.goal.id,
            strategy_id=self.strategy.id,
            **fields,
        )

    def make_plan(self, number, state, audit=None, **fields):
        return utils.create_test_action_plan(
            self.context,
            id=number,
            uuid=f'{number:08d}-3333-3333-3333-333333333333',
            audit_id=(audit or self.audit).id,
            strategy_id=self.strategy.id,
            state=state,
            **fields,
        )

    def solution(self, parents, indicators=()):
        return types.SimpleNamespace(
            strategy=Strategy(self.audit, parents, self.pace),
            actions=[
                {
                    'action_type': 'kronos_live_migrate',
                    'input_parameters': {
                        'sequence': number,
                        'aggregate': self.scopes.get(number, 'alpha'),
                        'source_node': f'h{number}',
                        'destination_node': 'h0',
                    },
                }
                for number, _ in enumerate(parents, start=1)
            ],
            global_efficacy=[],
            efficacy_indicators=[
                types.SimpleNamespace(
                    name=name, description=name, unit=None, value=value
                )
                for name, value in indicators
            ],
        )

    def schedule(self, *parents, **fields):
        solution = self.solution(list(parents), **fields)
        self.settled = solution.strategy.settled
        return self.planner.schedule(self.context, self.audit.id, solution)

    @contextlib.contextmanager
    def losing(self, what):
        """Let the database be gone when it comes to such a statement."""

        def lose(connection, cursor, statement, values, *_):
            if what in statement:
                raise db_exception.DBConnectionError('the database is gone')

        event = enginefacade.writer.get_engine(), 'before_cursor_execute', lose
        sqlalchemy.event.listen(*event)
        try:
            yield
        finally:
            sqlalchemy.event.remove(*event)

    def plans(self, audit=None):
        found = objects.ActionPlan.list(
            self.context, filters={'audit_id': (audit or self.audit).id}
        )
        return {plan.uuid for plan in found}

    def test_parents_and_uuids(self):
        plan = self.schedule([], [0], [0, 1])
        self.assertEqual(State.RECOMMENDED, plan.state)
        self.assertEqual([True], self.settled)
        rows = objects.Action.list(
            self.context, filters={'action_plan_id': plan.id}
        )
        rows.sort(key=lambda row: row.input_parameters['sequence'])
        first, second, third = rows
        self.assertEqual([], first.parents)
        self.assertEqual([first.uuid], second.parents)
        self.assertEqual([first.uuid, second.uuid], third.parents)
        for row in rows:
            told = row.input_parameters
            self.assertEqual('PENDING', row.state)
            self.assertEqual(row.uuid, told['action_uuid'])
            self.assertEqual(plan.uuid, told['action_plan_uuid'])
            self.assertEqual(self.audit.uuid, told['audit_uuid'])

    def set(self, group, **options):
        for name, value in options.items():
            CONF.set_override(name, value, group)
            self.addCleanup(CONF.clear_override, name, group)

    def rows(self, plan):
        found = objects.Action.list(
            self.context, filters={'action_plan_id': plan.id}
        )
        found.sort(key=lambda row: row.input_parameters['sequence'])
        return [row.input_parameters for row in found]

    def test_no_stagger_no_time(self):
        """Only who asks for it waits."""
        for told in self.rows(self.schedule([], [0])):
            self.assertNotIn('not_before', told)

    def test_stagger_in_the_order_of_the_starts(self):
        """Per scope, as the graph starts them."""
        self.set('kronos', stagger_seconds=7.5)
        self.scopes[4] = 'beta'
        began = timeutils.utcnow(with_timezone=True)
        plan = self.schedule([2], [0], [], [])
        told = [row['not_before'] for row in self.rows(plan)]
        self.assertEqual({'Z'}, {text[-1] for text in told})
        moments = [timeutils.parse_isotime(text) for text in told]
        first = min(moments)
        self.assertEqual(
            [7.5, 15, 0, 0],
            [(moment - first).total_seconds() for moment in moments],
        )
        # In UTC, whatever the clock on the wall says.
        self.assertLess((began - first).total_seconds(), 60)
        self.assertLessEqual(first, timeutils.utcnow(with_timezone=True))

    def test_the_log_tells_what_to_expect(self):
        """What caps the plan can be seen before it starts."""
        self.set('kronos', max_concurrent_migrations=3)
        self.configured('max_workers = 1')
        plan = self.schedule([], [], [], [], [])
        self.assertEqual(
            f'Action plan {plan.uuid}: 5 moves; one after another at least '
            '3 by the limits, 3 as laid out; at most 2 can run side by side '
            '([kronos] max_concurrent_migrations = 3 per scope)\n'
            f'Action plan {plan.uuid}: [{GROUP}] max_workers = 1 allows 1, '
            'so that it takes 5; [watcher_applier] workers = 1 allows 1 plan '
            "at a time. These values come from the decision engine's own "
            'configuration; the applier uses its own\n',
            self.logged.output,
        )

    def test_the_log_tells_how_long_it_takes(self):
        """Where the moves of its scope are known to have taken some time."""
        self.pace = {'alpha': 25.0}
        plan = self.schedule([], [0], [])
        self.assertIn(
            f'Action plan {plan.uuid}: about 50 s as laid out, by the median '
            'of what moves have taken: 25 s in alpha\n',
            self.logged.output,
        )

    def test_an_order_beyond_the_limits_is_explained(self):
        plan = self.schedule([], [0], [1], [2])
        self.assertIn(
            f'{plan.uuid}: 4 moves; one after another at least 2 by the '
            'limits, 4 as laid out; at most 1 can run',
            self.logged.output,
        )
        self.assertIn('server groups', self.logged.output)

    def configured(self, line):
        """Let the process have read a file; nobody registered the option."""
        folder = self.useFixture(fixtures.TempDir()).path
        with open(f'{folder}/watcher.conf', 'w') as file:
            file.write(f'[{GROUP}]\n{line}\n')
        CONF.set_override('config_file', [file.name])
        self.addCleanup(CONF.clear_override, 'config_file')

    def test_a_mistake_in_the_setting_fails_no_plan(self):
        self.configured('max_workers = many')
        self.schedule([])
        self.assertIn('max_workers is not known here', self.logged.output)

    def test_another_workflow_engine(self):
        self.set('watcher_applier', workflow_engine='other')
        self.schedule([])
        self.assertIn('max_workers is not known here', self.logged.output)

    def test_an_empty_plan_is_not_told(self):
        self.schedule()
        self.assertEqual('', self.logged.output)

    def test_indicators_are_numbers(self):
        plan = self.schedule([], indicators=[('migrations', 0.25)])
        (row,) = objects.EfficacyIndicator.list(
            self.context, filters={'action_plan_id': plan.id}
        )
        self.assertEqual(('migrations', 0.25), (row.name, row.value))

    def test_a_foreign_strategy_leaves_nothing_behind(self):
        solution = self.solution([[]])
        del solution.strategy.basis
        self.assertRaises(
            exception.WatcherException,
            self.planner.schedule,
            self.context,
            self.audit.id,
            solution,
        )
        self.assertEqual(set(), self.plans())

    def test_a_continuous_audit_survives_a_lost_database(self):
        """Watcher only ends its run; a failed one could never run again."""
        for kind, error in (
            ('ONESHOT', exception.WatcherException),
            ('CONTINUOUS', exception.ActionPlanIsOngoing),
        ):
            self.audit.audit_type = kind
            self.audit.save()
            with self.losing('INSERT INTO actions'):
                raised = self.assertRaises(error, self.schedule, [])
            self.assertIs(error, type(raised))
            self.assertIn('cannot be written', str(raised))
            self.audit.refresh()
            self.assertEqual(str(raised), self.audit.status_message)
            self.assertEqual(set(), self.plans())

    def test_a_broken_row_leaves_no_plan_to_start(self):
        solution = self.solution([[]], indicators=[('ok', 1), ('bad', 2)])
        solution.efficacy_indicators[1].name = 'x', 'y'
        self.assertRaises(
            exception.WatcherException,
            self.planner.schedule,
            self.context,
            self.audit.id,
            solution,
        )
        self.assertEqual(set(), self.plans())

    def test_only_this_audits_older_empty_plans_go(self):
        other = self.make_audit(2)
        kept = {
            self.make_plan(1, State.RECOMMENDED).uuid,
            self.make_plan(2, State.ONGOING).uuid,
            self.make_plan(3, State.FAILED).uuid,
            self.make_plan(4, State.CANCELLED).uuid,
        }
        full = self.make_plan(5, State.SUCCEEDED)
        utils.create_test_action(self.context, action_plan_id=full.id)
        self.make_plan(6, State.SUCCEEDED)
        self.make_plan(7, State.SUCCEEDED)
        theirs = self.make_plan(8, State.SUCCEEDED, audit=other)
        new = self.schedule()
        self.assertEqual(State.SUCCEEDED, new.state)
        self.assertEqual(kept | {full.uuid, new.uuid}, self.plans())
        self.assertEqual({theirs.uuid}, self.plans(other))

    def test_a_database_that_is_lost_meanwhile(self):
        """The older plans are cosmetic; the new one is not."""

        older = self.make_plan(1, State.SUCCEEDED)
        with self.losing('UPDATE action_plans'):
            new = self.schedule()
        self.assertEqual({older.uuid, new.uuid}, self.plans())
        newer = self.schedule()
        self.assertEqual({newer.uuid}, self.plans())

    def test_a_plan_with_moves_deletes_nothing(self):
        empty = self.make_plan(1, State.SUCCEEDED)
        new = self.schedule([])
        self.assertEqual({empty.uuid, new.uuid}, self.plans())

    def test_a_plan_that_no_applier_has_taken_yet_stays(self):
        self.audit.auto_trigger = True
        self.audit.save()
        waiting = self.schedule()
        taken = self.make_plan(9, State.SUCCEEDED, hostname='applier')
        self.assertEqual(taken.uuid, self.schedule().uuid)
        self.assertEqual({waiting.uuid, taken.uuid}, self.plans())

    def test_an_idle_audit_has_one_plan(self):
        """It tells of the newest run; nothing is left behind, deleted."""
        first = self.schedule(indicators=[('migrations', 1)])
        again = self.schedule(indicators=[('migrations', 2)])
        self.assertEqual(first.uuid, again.uuid)
        everything = context.make_context(show_deleted=True)
        self.assertEqual(1, len(objects.ActionPlan.list(everything)))
        (row,) = objects.EfficacyIndicator.list(everything)
        self.assertEqual(2, row.value)

    def test_a_bad_option_that_is_read_anew(self):
        """A continuous audit plans again when it is mended."""
        self.audit.audit_type = 'CONTINUOUS'
        self.audit.save()
        folder = self.useFixture(fixtures.TempDir()).path
        with open(f'{folder}/watcher.conf', 'w') as file:
            file.write('[kronos]\nstagger_seconds = s3cret\n')
        CONF([], default_config_files=[file.name])
        self.addCleanup(CONF.reset)
        raised = self.assertRaises(
            exception.ActionPlanIsOngoing, self.schedule, []
        )
        self.assertIn('Bad configuration: option stagger_', str(raised))
        self.assertNotIn('s3cret', str(raised))
        self.audit.refresh()
        self.assertEqual(str(raised), self.audit.status_message)
        self.assertEqual(set(), self.plans())

    def test_the_database_is_lost_at_any_statement(self):
        self.audit.audit_type = 'CONTINUOUS'
        self.audit.save()
        for what in ('FROM strategies', 'INTO action_plans', 'UPDATE action_'):
            with self.losing(what):
                self.assertRaises(
                    exception.ActionPlanIsOngoing, self.schedule, []
                )
            self.assertEqual([False], self.settled)
            found = objects.ActionPlan.list(self.context)
            self.assertEqual([], [p for p in found if p.state != 'CANCELLED'])

    def test_a_lock_that_is_held_for_ever(self):
        """Whoever holds it is dead, and the database does not know."""
        self.useFixture(fixtures.MonkeyPatch(f'{LOCK}.PATIENCE', 0.1))
        released = threading.Event()
        self.addCleanup(released.set)
        self.useFixture(
            fixtures.MonkeyPatch(f'{LOCK}._lock', lambda _: released.wait(60))
        )
        raised = self.assertRaises(
            exception.WatcherException, self.schedule, []
        )
        self.assertIn('locked action_descriptions for 0.1 s', str(raised))
        self.assertIn('KILL it', str(raised))
        self.assertEqual(set(), self.plans())
