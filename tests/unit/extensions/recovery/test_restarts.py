# SPDX-License-Identifier: Apache-2.0
"""When is a server started again, and where?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, PastRestart
from kronos.extensions.recovery import restarts
from kronos.extensions.recovery.options import RecoveryOptions

NOW = 10_000.0
SETTINGS = Settings(beside=[RecoveryOptions(restart_servers=True)])


def crashed(**fields: Any) -> Instance:
    """Off for its crash, as Nova found a minute ago."""
    given = {
        'status': 'SHUTOFF',
        'power_state': 4,
        'failure': 'crash',
        'failed_at': NOW - 5,
        'stopped_by': 'nova',
    }
    return Instance('v', 'a', **{**given, **fields})


def paused(**fields: Any) -> Instance:
    given = {'status': 'ACTIVE', 'guest': 'off', 'failure': 'io_error'}
    return crashed(**{**given, 'stopped_by': '', **fields})


def past(age: float, **fields: Any) -> PastRestart:
    return PastRestart(NOW - age, **{'state': 'SUCCEEDED', 'acted': True,
                                     **fields})  # fmt: skip


class DecideTestCase(base.BaseTestCase):
    def decided(self, one: Instance) -> tuple[int, bool]:
        found = restarts.decide(one, SETTINGS, NOW)
        assert isinstance(found, restarts.RestartDecision), found
        return found.attempt, found.is_elsewhere

    def refused(self, code: Code, one: Instance) -> str:
        found = restarts.decide(one, SETTINGS, NOW)
        assert isinstance(found, Reason), found
        self.assertIs(code, found.code)
        return str(found)


class TestWhere(DecideTestCase):
    def test_first_here(self) -> None:
        self.assertEqual((1, False), self.decided(crashed()))
        active = crashed(status='ACTIVE', guest='off', stopped_by='')
        self.assertEqual((1, False), self.decided(active))

    def test_an_i_o_error_elsewhere(self) -> None:
        self.assertEqual((1, True), self.decided(paused()))

    def test_then_elsewhere_then_not_at_all(self) -> None:
        one = crashed(restarts=[past(300)])
        self.assertEqual((2, True), self.decided(one))
        one = crashed(restarts=[past(300), past(100)])
        self.refused(Code.INSTANCE_RESTARTED, one)

    def test_a_failure_that_was_long_ago_does_not_count(self) -> None:
        one = crashed(restarts=[past(601), past(700)])
        self.assertEqual((1, False), self.decided(one))

    def test_what_never_began_does_not_count(self) -> None:
        one = crashed(restarts=[past(9, state='FAILED', acted=False)])
        self.assertEqual((1, False), self.decided(one))

    def test_failed_ones_count(self) -> None:
        one = crashed(restarts=[past(300, state='FAILED')])
        self.assertEqual((2, True), self.decided(one))


class TestWhyNot(DecideTestCase):
    def test_what_somebody_forbids(self) -> None:
        for code, fields in (
            (Code.INSTANCE_LOCKED, {'locked': True}),
            (Code.INSTANCE_BUSY, {'task_state': 'powering-off'}),
            (Code.INSTANCE_UNMOVABLE, {'unmovable': 'excluded'}),
            (Code.INSTANCE_STOPPED, {'stopped_by': 'user'}),
            (Code.INSTANCE_STOPPED, {'stopped_by': ''}),
            (Code.INSTANCE_STOPPED, {'stopped_by': 'kronos'}),
            (Code.INSTANCE_NOT_ACTIVE, {'status': 'ERROR'}),
        ):
            self.refused(code, crashed(**fields))
        for value in ('false', 'False', ' FALSE '):
            one = crashed(metadata={'kronos:recover': value})
            self.refused(Code.INSTANCE_RECOVERY_OFF, one)
        self.decided(crashed(metadata={'kronos:recover': 'true'}))

    def test_its_guest(self) -> None:
        self.refused(Code.INSTANCE_RUNS, paused(guest='running'))
        self.refused(Code.INSTANCE_GUEST_UNKNOWN, paused(guest=''))

    def test_an_old_failure(self) -> None:
        """Before the restart, or nobody has said it for long."""
        one = crashed(restarts=[past(2)])
        self.refused(Code.INSTANCE_FAILURE_OLD, one)
        text = self.refused(
            Code.INSTANCE_FAILURE_OLD, crashed(failed_at=NOW - 301)
        )
        self.assertIn('5 min ago', text)

    def test_under_way(self) -> None:
        for state in ('PENDING', 'ONGOING'):
            one = crashed(restarts=[past(20, state=state, acted=False)])
            self.refused(Code.INSTANCE_ON_ITS_WAY, one)
        # Nobody has written its row for long.
        one = crashed(restarts=[past(301, state='ONGOING', acted=False)])
        self.assertEqual((1, False), self.decided(one))


class TestHalfDone(DecideTestCase):
    def left(self, **fields: Any) -> Instance:
        """Stopped by a restart whose applier died."""
        row = past(400, state='ONGOING', stop='req-1')
        return crashed(
            **{'failure': '', 'failed_at': 0.0, 'stopped_by': 'kronos',
               'restarts': [row], **fields}
        )  # fmt: skip

    def test_it_is_started_where_it_is(self) -> None:
        found = restarts.decide(self.left(), SETTINGS, NOW)
        self.assertEqual(restarts.RestartDecision(1, False, 'req-1'), found)
        self.assertTrue(restarts.concerned(self.left()))

    def test_migrated_and_not_confirmed(self) -> None:
        row = past(400, state='FAILED', stop='req-1', migrate='req-2')
        one = self.left(status='VERIFY_RESIZE', restarts=[row])
        found = restarts.decide(one, SETTINGS, NOW)
        self.assertEqual(restarts.RestartDecision(1, False, 'req-2'), found)

    def test_not_one_that_somebody_else_resizes(self) -> None:
        """It is named all the same."""
        for who in ('user', ''):
            one = self.left(status='VERIFY_RESIZE', stopped_by=who)
            self.assertTrue(restarts.concerned(one))
            text = self.refused(Code.INSTANCE_NOT_ACTIVE, one)
            self.assertIn('"openstack server resize confirm v"', text)

    def test_one_that_did_not_come_up(self) -> None:
        row = past(100, state='FAILED', stop='req-1')
        found = restarts.decide(self.left(restarts=[row]), SETTINGS, NOW)
        self.assertEqual(restarts.RestartDecision(1, True, 'req-1'), found)

    def test_one_that_was_to_go_elsewhere(self) -> None:
        """Its applier died before."""
        row = past(
            400, state='ONGOING', stop='req-1', source='a', destination='b'
        )
        found = restarts.decide(self.left(restarts=[row]), SETTINGS, NOW)
        self.assertEqual(restarts.RestartDecision(1, True, 'req-1'), found)

    def test_not_one_that_a_user_stopped_later(self) -> None:
        one = self.left(stopped_by='user')
        self.assertFalse(restarts.concerned(one))
        self.refused(Code.INSTANCE_STOPPED, one)

    def test_not_for_ever(self) -> None:
        row = past(100, state='FAILED', stop='req-1')
        rows = [dataclasses.replace(row, at=NOW - age) for age in (90, 60, 30)]
        self.refused(Code.INSTANCE_RESTARTED, self.left(restarts=rows))

    def test_not_one_that_was_started(self) -> None:
        self.assertFalse(
            restarts.concerned(self.left(restarts=[past(400, stop='req-1')]))
        )


class TestAvoided(base.BaseTestCase):
    def test_where_it_failed(self) -> None:
        rows = [
            past(900, source='z', destination='z'),
            past(500, source='a', destination='a'),
            past(300, source='a', destination='b'),
            past(100, source='b', destination='c', state='FAILED'),
            past(50, source='y', destination='x', acted=False),
        ]
        found = restarts.avoided(crashed(restarts=rows), SETTINGS, NOW)
        self.assertEqual(
            {
                'a': 'the server has failed there',
                'b': 'the server has failed there',
                'c': 'its restart has failed there',
            },
            found,
        )
