# SPDX-License-Identifier: Apache-2.0
"""What moves of the past forbid, at t = 1000 s."""

import copy
import itertools
from typing import Any

from oslotest import base

from kronos.engine import faults
from kronos.engine.eligibility import cooldown, quarantine
from kronos.engine.eligibility.cooldown import Cooldowns
from kronos.engine.settings import Settings
from kronos.engine.types import Event, Origin, Outcome
from tests.builders import policies

QUARANTINE = {'quarantine_seconds': 3600.0}
WEEK = 604800


def event(
    outcome: Outcome = Outcome.MOVED, at: float = 880.0, **more: Any
) -> Event:
    """Of instance u1, by default 120 s ago and told by Watcher."""
    values = {
        'instance': 'u1',
        'source': 'a',
        'destination': 'b',
        'origin': Origin.WATCHER,
        **more,
    }
    return Event(outcome=outcome, at=at, **values)


def failed(error_type: str, at: float = 880.0, **more: Any) -> Event:
    return event(Outcome.FAILED, at, error_type=error_type, **more)


def by_hand(outcome: Outcome = Outcome.MOVED, **more: Any) -> Event:
    return event(outcome, **{'origin': Origin.NOVA, **more})


def remember(*events: Event, on: str = 'b', **settings: Any) -> Cooldowns:
    """In the aggregate gpu: u1 on b unless told otherwise, u2 on a."""
    snapshot = policies.snapshot(
        {'cpu': {'a': 0.1, 'b': 0.2}},
        instances=[policies.instance('u1', on), policies.instance('u2', 'a')],
        events=list(events),
    )
    snapshot.scope, snapshot.taken_at = 'gpu', 1000.0
    before = copy.deepcopy(snapshot)
    cooldowns = cooldown.remember(snapshot, Settings(**settings))
    assert snapshot == before
    return cooldowns


def standstill(*events: Event, seconds: float = 600.0) -> str:
    return remember(*events, cooldown_seconds=seconds).standstill


class TestAggregate(base.BaseTestCase):
    def test_nothing_happened(self) -> None:
        self.assertEqual(Cooldowns(), remember(cooldown_seconds=600.0))

    def test_the_numbers_are_said(self) -> None:
        self.assertEqual(
            'aggregate gpu cools down for 8 min: u1 moved a -> b 2 min ago',
            standstill(event()),
        )

    def test_until_it_is_over(self) -> None:
        for at, rests in [(400, False), (400.5, True), (399, False)]:
            self.assertEqual(rests, bool(standstill(event(at=at))), at)
        self.assertIn('for 1 s: ', standstill(event(at=400.5)))

    def test_zero_switches_it_off(self) -> None:
        for outcome in Outcome:
            one = event(outcome, 1000)
            self.assertIsNone(standstill(one, seconds=0))

    def test_the_newest_counts(self) -> None:
        events = [
            event(at=700, instance='old'),
            event(at=900, instance='new'),
            event(at=800, instance='middle'),
        ]
        for order in itertools.permutations(events):
            self.assertEqual(
                'aggregate gpu cools down for 8 min: new moved a -> b 100 s '
                'ago',
                standstill(*order),
            )

    def test_one_side_in_the_scope_is_enough(self) -> None:
        for source, destination, rests in [
            ('a', 'x', True),
            ('x', 'b', True),
            ('x', 'y', False),
        ]:
            text = standstill(event(source=source, destination=destination))
            self.assertEqual(rests, bool(text))

    def test_not_over_counts_as_of_now(self) -> None:
        """However long it has been so."""
        for outcome, told in [
            (
                Outcome.PLANNED,
                'u1 is in a plan that is under way (action plan p is PENDING)',
            ),
            (Outcome.UNDER_WAY, 'u1 is being migrated a -> b'),
        ]:
            self.assertEqual(
                f'aggregate gpu cools down for 10 min: {told}',
                standstill(event(outcome, -5000, plan='p', status='PENDING')),
            )

    def test_a_plan_that_no_applier_has_begun(self) -> None:
        """Its trigger may be lost; that does not pass by itself."""
        one = event(Outcome.PLANNED, 905, plan='p', status='RECOMMENDED')
        told = (
            'no applier has started for 95 s; if that lasts, "openstack '
            'optimize actionplan start p", or cancel the plan: its trigger '
            'was lost'
        )
        self.assertEqual(
            f'aggregate gpu waits for a plan that {told}', standstill(one)
        )
        cooldowns = remember(one, instance_cooldown_seconds=900.0)
        self.assertEqual(
            f'it is in a plan that {told}', cooldowns.unavailable['u1']
        )

    def test_what_is_stuck_holds_back_itself_alone(self) -> None:
        """And every audit says so."""
        for at, rests in ((-86400 + 1000, True), (-86400 + 999, False)):
            one = by_hand(Outcome.UNDER_WAY, at=at)
            cooldowns = remember(one, cooldown_seconds=600.0)
            self.assertEqual(rests, bool(cooldowns.standstill), at)
            self.assertIn('u1', cooldowns.unavailable)
            self.assertEqual(rests, not cooldowns.notes)
        self.assertEqual(
            [
                'the migration of instance u1 a -> b is stuck: Nova has '
                'reported no change of it for 1 day 1 s (stuck_after is 1 '
                'day); end it by hand; until then it blocks its instance and '
                'counts against the limits of its hosts'
            ],
            cooldowns.notes,
        )
        planned = event(Outcome.PLANNED, -99999, plan='p', status='PENDING')
        self.assertTrue(standstill(planned))

    def test_a_started_plan_that_failed(self) -> None:
        self.assertEqual(
            'aggregate gpu cools down for 8 min: a move of u1 a -> b failed '
            '(NovaClientError) 2 min ago',
            standstill(failed('NovaClientError')),
        )

    def test_a_failure_that_only_nova_tells_of(self) -> None:
        self.assertIsNone(standstill(by_hand(Outcome.FAILED)))

    def test_a_resize_is_the_instances_own_matter(self) -> None:
        """Tenants resize all the time; the aggregate would always rest."""
        for outcome in Outcome:
            one = by_hand(outcome, is_resize=True)
            cooldowns = remember(
                one, cooldown_seconds=600.0, instance_cooldown_seconds=600.0
            )
            self.assertIsNone(cooldowns.standstill)
            self.assertIn('u1', cooldowns.unavailable)

    def test_clock_that_runs_ahead(self) -> None:
        self.assertIn('for 10 min: ', standstill(event(at=1030)))
        self.assertIn('0 s ago', standstill(event(at=1030)))


class TestInstance(base.BaseTestCase):
    def reason(self, *events: Event, seconds: float = 900.0) -> str | None:
        cooldowns = remember(*events, instance_cooldown_seconds=seconds)
        self.assertIsNone(cooldowns.standstill)
        self.assertNotIn('u2', cooldowns.unavailable)
        return cooldowns.unavailable.get('u1')

    def test_any_outcome_told_by_anyone(self) -> None:
        moved = 'it cools down for 13 min: it moved a -> b 2 min ago'
        self.assertEqual(moved, self.reason(event()))
        self.assertEqual(moved, self.reason(by_hand()))
        self.assertEqual(
            'it cools down for 13 min: a move of it a -> ? failed 2 min ago',
            self.reason(by_hand(Outcome.FAILED, destination='')),
        )
        self.assertIn('(X) 2 min', self.reason(failed('X')))

    def test_until_it_is_over(self) -> None:
        self.assertIsNone(self.reason(event(at=100)))
        self.assertIn('for 1 s', self.reason(event(at=100.1)))
        self.assertIsNone(self.reason(event(), seconds=0))

    def test_long_for_spread_and_pack_alone(self) -> None:
        """Drains and repairs wait for a quarter of an hour at most."""
        cooldowns = remember(event(), instance_cooldown_seconds=3600)
        self.assertEqual(
            'it cools down for 58 min, for drains and repairs 13 min: '
            'it moved a -> b 2 min ago',
            cooldowns.unavailable['u1'],
        )
        self.assertEqual({}, cooldowns.resting)
        cooldowns = remember(event(at=100), instance_cooldown_seconds=3600)
        self.assertEqual({}, cooldowns.unavailable)
        self.assertEqual(
            {'u1': 'it cools down for 45 min: it moved a -> b 15 min ago'},
            cooldowns.resting,
        )

    def test_on_its_way_whatever_the_cooldown(self) -> None:
        for outcome, told in [
            (
                Outcome.PLANNED,
                'it is in a plan that is under way (action plan p is PENDING)',
            ),
            (Outcome.UNDER_WAY, 'it is being migrated a -> b'),
        ]:
            one = event(outcome, -5000, plan='p', status='PENDING')
            for seconds in (0, 900):
                self.assertEqual(told, self.reason(one, seconds=seconds))

    def test_others_are_not_touched(self) -> None:
        cooldowns = remember(
            event(instance='elsewhere'), instance_cooldown_seconds=900.0
        )
        self.assertEqual({}, cooldowns.unavailable)


class TestQuarantine(base.BaseTestCase):
    """Quarantines; u1 is on a, where it was when its move failed."""

    def reason(self, *events: Event, on: str = 'a', **settings: Any) -> str:
        cooldowns = remember(*events, on=on, **{**QUARANTINE, **settings})
        return cooldowns.unavailable.get('u1')

    def test_by_error_type(self) -> None:
        for error_type, quarantined in [
            ('PreFlightError', False),
            ('MigrationFailed', True),
            ('MigrationTimeout', True),
            ('NovaClientError', False),
            ('MigrationCancelled', False),
        ]:
            reason = self.reason(failed(error_type))
            self.assertEqual(quarantined, bool(reason), error_type)

    def test_by_fault(self) -> None:
        """Only what is the instance's own; the type says less than that."""
        for fault, row in faults.TABLE.items():
            reason = self.reason(failed('MigrationFailed', fault=fault))
            self.assertEqual(row.quarantines, bool(reason), fault)
        own = {fault for fault, row in faults.TABLE.items() if row.quarantines}
        self.assertEqual(
            {
                'instance_refused',
                'migration_failed',
                'migration_stalled',
                'inconsistent',
                'too_slow',
                'cell_check_failed',
                'cell_copy_left',
                'cell_stuck',
                'cell_not_reverted',
                'unknown',
            },
            own,
        )

    def test_where_it_should_have_gone_it_has_arrived(self) -> None:
        """Nova brought it there all the same, or somebody did."""
        cause = failed('MigrationTimeout')
        for on, quarantined in [('a', True), ('b', False)]:
            reason = self.reason(cause, by_hand(at=890), on=on)
            self.assertEqual(quarantined, bool(reason), on)

    def test_who_was_not_asked_to_move_need_not_rest(self) -> None:
        for fault, row in faults.TABLE.items():
            reason = self.reason(
                failed('PreFlightError', fault=fault),
                instance_cooldown_seconds=900,
                quarantine_seconds=0,
            )
            rests = row.rests is faults.CooldownScope.BOTH
            self.assertEqual(rests, 'cools down' in (reason or ''), fault)

    def test_the_numbers_are_said(self) -> None:
        ends = (
            ' (The migration ran for migration_timeout, and Kronos '
            'aborted it); a successful migration by hand ends the quarantine'
        )
        told = 'MigrationFailed, too_slow at its move a -> b, 2 min ago'
        one = failed('MigrationFailed', fault='too_slow')
        self.assertEqual(
            f'it is in quarantine for 58 min: {told}{ends}', self.reason(one)
        )
        self.assertEqual(
            f'it is in quarantine for ever: {told}{ends}',
            self.reason(one, quarantine_seconds=-1),
        )
        one.status = quarantine.DELETED
        self.assertIn('counted from the deletion', self.reason(one))
        self.assertIsNone(remember(one, cooldown_seconds=1e9).standstill)

    def test_how_long(self) -> None:
        for at, limit, quarantined in [
            (-2600, 3600, False),
            (-2599.5, 3600, True),
            (1000, 0, False),
            (-1e9, -1, True),
        ]:
            one = failed('MigrationFailed', at=at)
            reason = self.reason(one, quarantine_seconds=limit)
            self.assertEqual(quarantined, bool(reason), (at, limit))

    def test_unknown_error_type(self) -> None:
        """As a precaution, and said."""
        for error_type, told in [('Odd', 'Odd'), ('', 'none')]:
            cooldowns = remember(failed(error_type), on='a', **QUARANTINE)
            self.assertIn('in quarantine', cooldowns.unavailable['u1'])
            (note,) = cooldowns.notes
            self.assertIn('u1 is in quarantine as a precaution', note)
            self.assertTrue(note.endswith(f'an unknown type: {told}'), note)
            self.assertEqual([], remember(failed(error_type)).notes)
        self.assertEqual([], remember(failed('MigrationFailed')).notes)

    def test_a_failure_that_only_nova_tells_of(self) -> None:
        self.assertIsNone(self.reason(by_hand(Outcome.FAILED)))

    def test_a_later_move_ends_it(self) -> None:
        for limit in (3600, -1):
            for at, quarantined in [(879, True), (880, True), (881, False)]:
                reason = self.reason(
                    by_hand(at=at, destination='c'),
                    failed('MigrationFailed'),
                    quarantine_seconds=limit,
                )
                self.assertEqual(quarantined, bool(reason), at)

    def test_the_same_move_by_a_clock_that_runs_ahead(self) -> None:
        """It failed for Watcher and arrived for Nova: that heals nothing."""
        cause = failed('MigrationTimeout')
        for at, quarantined in [(881, True), (1180, True), (1181, False)]:
            reason = self.reason(by_hand(at=at), cause)
            self.assertEqual(quarantined, bool(reason), at)
        # Another move is another one, whatever came after it.
        back = by_hand(source='b', destination='a', at=890)
        self.assertIsNone(self.reason(cause, back, by_hand(at=900)))

    def deleted(self, began: float, at: float) -> Event:
        return failed(
            'MigrationFailed', at=at, began=began, status=quarantine.DELETED
        )

    def test_a_deleted_plan_revives_nothing(self) -> None:
        """Planned at 100, moved by hand, deleted at 900."""
        cause = self.deleted(100, 900)
        for limit in (3600, -1):
            for at, quarantined in [
                (100, True),
                (400, True),
                (401, False),
                (800, False),
                (990, False),
            ]:
                reason = self.reason(
                    by_hand(at=at), cause, quarantine_seconds=limit
                )
                self.assertEqual(quarantined, bool(reason), (limit, at))
        # It counts from the deletion, as its own time is lost.
        self.assertIn('for 58 min', self.reason(cause))

    def test_a_deleted_plan_hides_no_later_failure(self) -> None:
        events = [
            self.deleted(100, 900),
            by_hand(at=450),
            failed('MigrationTimeout', at=500),
        ]
        for order in itertools.permutations(events):
            self.assertIn('for 52 min: MigrationT', self.reason(*order))

    def test_the_newest_failure_counts(self) -> None:
        old, new = (
            failed('MigrationFailed', at=100),
            failed('MigrationTimeout', at=900),
        )
        moved = by_hand(at=500)
        for order in itertools.permutations([old, moved, new]):
            self.assertIn('MigrationTimeout', self.reason(*order))

    def test_the_longer_rest_is_told(self) -> None:
        one = failed('MigrationFailed')
        for cooldown_seconds, told in [
            (900, 'quarantine'),
            (3600, 'quarantine'),
            (9000, 'cools down for 2 h 28 min'),
        ]:
            reason = self.reason(
                one, instance_cooldown_seconds=cooldown_seconds
            )
            self.assertIn(told, reason)


class TestCompleted(base.BaseTestCase):
    def test_it_is_no_state_of_its_own(self) -> None:
        """Only the cooldowns and the guard, which count any move."""
        for one in (event(), by_hand()):
            self.assertEqual(Cooldowns(), remember(one, **QUARANTINE))
            self.assertEqual(Cooldowns(), remember(one, quarantine_seconds=-1))


class TestReturns(base.BaseTestCase):
    def returns(self, *events: Event, seconds: float = 600.0) -> Any:
        return remember(*events, return_guard_seconds=seconds).returns

    def test_the_host_that_it_left(self) -> None:
        self.assertEqual(
            {
                'u1': {
                    'a': 'it was moved away from there 2 min ago '
                    '(return_guard is 10 min)'
                }
            },
            self.returns(by_hand()),
        )

    def test_not_the_host_that_it_is_on(self) -> None:
        there_and_back = [
            event(source='b', destination='a', at=700),
            event(source='a', destination='b', at=800),
        ]
        self.assertEqual(['a'], list(self.returns(*there_and_back)['u1']))

    def test_the_newest_leave_counts(self) -> None:
        events = [event(at=700), event(at=900), event(at=500)]
        for order in itertools.permutations(events):
            self.assertIn('100 s ago', self.returns(*order)['u1']['a'])

    def test_for_so_long(self) -> None:
        for at, guarded in [(400, False), (401, True)]:
            self.assertEqual(guarded, bool(self.returns(event(at=at))))
        self.assertEqual({}, self.returns(event(), seconds=0))

    def test_what_moved_nothing(self) -> None:
        for outcome in (Outcome.PLANNED, Outcome.UNDER_WAY, Outcome.FAILED):
            self.assertEqual({}, self.returns(event(outcome)))
        self.assertEqual({}, self.returns(by_hand(source='')))


class TestTwoTellOfOne(base.BaseTestCase):
    """Watcher's row and Nova's migration are one move."""

    SETTINGS: dict[str, Any] = {
        'cooldown_seconds': 600.0,
        'instance_cooldown_seconds': 900.0,
        'return_guard_seconds': 6000.0,
        **QUARANTINE,
    }

    def same(self, *events: Event, on: str = 'b') -> Cooldowns:
        first = remember(events[0], on=on, **self.SETTINGS)
        for order in itertools.permutations(events):
            self.assertEqual(first, remember(*order, on=on, **self.SETTINGS))
        return first

    def test_a_move(self) -> None:
        cooldowns = self.same(event(), by_hand(), by_hand(at=879.0))
        self.assertIn('8 min', cooldowns.standstill)

    def test_a_failure(self) -> None:
        told = failed('MigrationFailed', at=881.0)
        cooldowns = self.same(told, by_hand(Outcome.FAILED), on='a')
        self.assertIn('quarantine', cooldowns.unavailable['u1'])

    def test_on_its_way(self) -> None:
        self.same(
            event(Outcome.UNDER_WAY), by_hand(Outcome.UNDER_WAY, at=400.0)
        )


class TestHowFarBack(base.BaseTestCase):
    def test_the_longest_rest(self) -> None:
        for name in (
            'cooldown_seconds',
            'instance_cooldown_seconds',
            'quarantine_seconds',
            'return_guard_seconds',
        ):
            settings = Settings(**{name: 300.0})
            self.assertEqual(
                cooldown.Since(700, 1000 - WEEK),
                cooldown.watcher_since(settings, 1000.0),
            )
            self.assertEqual(700, self.nova(settings))
        self.assertEqual(
            cooldown.Since(1000, 1000 - WEEK),
            cooldown.watcher_since(Settings(), 1000.0),
        )

    def nova(self, settings: Settings, *events: Event) -> float:
        """While u1 and u2 exist, at 1000."""
        return cooldown.nova_since(settings, 1000.0, events, {'u1', 'u2'})

    def test_a_quarantine_for_ever(self) -> None:
        """Nova is asked for what may have ended it, and no further."""
        settings = Settings(quarantine_seconds=-1, cooldown_seconds=100.0)
        # Of moves Nova tells, so Watcher's matter no longer than others.
        self.assertEqual(
            cooldown.Since(moves=900, failures=None),
            cooldown.watcher_since(settings, 1000.0),
        )
        for events, since in [
            ([], 900),
            ([failed('MigrationFailed', at=950)], 900),
            # The newest failure of an instance is what has to be ended.
            ([failed('MigrationFailed', at=5), failed('Odd', at=9)], 9),
            ([failed('Odd', at=9), failed('Odd', at=7, instance='u2')], 7),
            # What does not exist any more rests no more.
            ([failed('Odd', at=9), failed('Odd', at=7, instance='u3')], 9),
            ([failed('NovaClientError', at=5), event(at=7)], 900),
        ]:
            self.assertEqual(since, self.nova(settings, *events), events)

    def test_a_deleted_plan(self) -> None:
        """What ended its quarantine may be older than the deletion."""
        told: dict[str, Any] = {'began': 5.0, 'status': quarantine.DELETED}
        cause = failed('MigrationFailed', at=950, **told)
        for limit, since in [(-1, 5), (100, 5), (50, 950), (0, 1000)]:
            settings = Settings(quarantine_seconds=limit)
            self.assertEqual(since, self.nova(settings, cause), limit)
