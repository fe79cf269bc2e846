# SPDX-License-Identifier: Apache-2.0
"""Is it told what a restart would do to what the database has?"""

from typing import Any

from oslo_upgradecheck.upgradecheck import Code, Result
from oslotest import base

from kronos.cmd.checks.subprocess_probe import InspectionError
from kronos.cmd.config_files import Paths
from kronos.cmd.upgrade_checks import database, services

CHECKS = (
    database.strategies,
    database.plans,
    database.parameters,
    database.hosts,
)
AUDIT = {'uuid': 'u1', 'name': 'nightly', 'state': 'ONGOING'}
STALE = {'name': 'kronos_spread', 'differs': ['its parameters aggregates']}


def up(service: str, host: str, is_up: bool = True) -> dict[str, Any]:
    return {'name': service, 'host': host, 'up': is_up}


class DatabaseTestCase(base.BaseTestCase):
    """All is well; a test changes what a service's process reads."""

    def setUp(self) -> None:
        super().setUp()
        self.stored: dict[str, Any] = {
            'goals': [],
            'strategies': [],
            'known': 6,
            'new': [],
            'audits': [],
            'finished_audits': 0,
            'waiting_plans': 0,
        }
        self.read: dict[str, Any] = {
            'host': 'here',
            'stored': self.stored,
            'plans': [],
            'services': [
                up(services.ENGINE, 'here'),
                up(services.APPLIER, 'here'),
            ],
            'actions': {'waiting': 3, 'unreadable': [], 'unannounced': []},
            'unread': {},
        }
        self.answer: Any = {'database': self.read}
        self.asked = services.LocalServices(
            self.inspect, Paths(), Paths(), Paths()
        )

    def inspect(self, *_: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def assert_told(self, result: Result, code: Code, *texts: str) -> None:
        self.assertEqual(code, result.code, result.details)
        for text in texts:
            self.assertIn(text, result.details)


class TestUnread(DatabaseTestCase):
    def test_each(self) -> None:
        for check in CHECKS:
            for answer in (
                {'database_error': 'DBConnectionError'},
                InspectionError('DBConnectionError'),
            ):
                self.asked.__dict__.pop('engine', None)
                self.asked.__dict__.pop('applier', None)
                self.answer = answer
                self.assert_told(
                    check(self.asked),
                    Code.WARNING,
                    "Watcher's database was not read: DBConnectionError. "
                    'Remedy: run "kronos-status upgrade check --watcher-',
                )

    def test_one_part(self) -> None:
        """A row that nobody can read spoils the check of its table alone."""
        del self.read['services']
        self.read['unread'] = {'services': 'ValueError'}
        self.assert_told(
            database.hosts(self.asked),
            Code.WARNING,
            "in Watcher's database, services could not be read: ValueError: "
            'a row does not have the format of Watcher. Remedy: find the row',
        )
        for check in CHECKS[:-1]:
            self.assertEqual(Code.SUCCESS, check(self.asked).code)

    def test_no_watcher(self) -> None:
        self.asked.has_watcher = False
        self.answer = InspectionError('nobody asks')
        for check in CHECKS:
            self.assert_told(
                check(self.asked), Code.WARNING, 'Watcher is not installed'
            )


class TestStrategies(DatabaseTestCase):
    def told(self, code: Code, *texts: str) -> None:
        result = database.strategies(self.asked)
        self.assert_told(result, code, *texts)

    def test_equal(self) -> None:
        self.told(Code.SUCCESS, '6 strategies and their goals match')

    def test_none_yet(self) -> None:
        self.stored['known'] = 0
        self.told(Code.SUCCESS, 'has no strategy of Kronos yet')

    def test_new_ones(self) -> None:
        self.stored['new'] = ['kronos_later']
        self.told(Code.SUCCESS, 'new: kronos_later')

    def test_audits_under_way(self) -> None:
        self.stored |= {
            'strategies': [STALE],
            'goals': [{'name': 'kronos_x', 'differs': ['its display name']}],
            'audits': [AUDIT, AUDIT | {'name': '', 'uuid': 'u2'}],
            'waiting_plans': 1,
        }
        result = database.strategies(self.asked)
        self.assert_told(
            result,
            Code.FAILURE,
            'cancels these audits: nightly (u1, ONGOING), (u2, ONGOING); and '
            '1 waiting or running action plans; the code differs from '
            'the database in: goal kronos_x (its display name), strategy '
            'kronos_spread (its parameters aggregates)',
        )
        self.assertNotIn('ended audits', result.details)

    def test_a_plan_alone(self) -> None:
        """Of an audit that is over; it may still be carried out."""
        self.stored |= {
            'strategies': [STALE],
            'finished_audits': 2,
            'waiting_plans': 1,
        }
        self.told(
            Code.FAILURE,
            'no audit; and 1 waiting or running action plans; 2 ended '
            'audits will also be shown as CANCELLED',
        )

    def test_nothing_under_way(self) -> None:
        self.stored |= {'strategies': [STALE]}
        self.told(
            Code.WARNING,
            'the next start of a decision engine would cancel no running',
        )


class TestPlans(DatabaseTestCase):
    def test_none(self) -> None:
        self.assert_told(database.plans(self.asked), Code.SUCCESS, 'no action')

    def test_some(self) -> None:
        """The first of very many."""
        self.read['plans'] = [
            {'uuid': f'p{number}', 'state': 'ONGOING', 'host': 'h'}
            for number in range(database.MOST + 2)
        ] + [{'uuid': 'q', 'state': 'PENDING', 'host': ''}]
        result = database.plans(self.asked)
        self.assert_told(
            result, Code.WARNING, 'p0 (ONGOING on h), p1 (', ' and 3 more. Rem'
        )
        self.read['plans'] = self.read['plans'][-1:]
        result = database.plans(self.asked)
        self.assert_told(result, Code.WARNING, 'running: q (PENDING). Remedy')


class TestParameters(DatabaseTestCase):
    def test_good(self) -> None:
        result = database.parameters(self.asked)
        self.assert_told(
            result, Code.SUCCESS, '3 actions wait, and this applier supports'
        )

    def test_what_cannot_be_read_here(self) -> None:
        self.read['actions']['unreadable'] = [
            {'uuid': 'a', 'type': 'kronos_x', 'plan': 'p', 'why': 'no b'}
        ]
        result = database.parameters(self.asked)
        self.assert_told(
            result,
            Code.FAILURE,
            'does not support the actions a (kronos_x, plan p): no b',
        )

    def test_what_no_applier_knows_yet(self) -> None:
        self.read['actions']['unannounced'] = ['kronos_x', 'kronos_y']
        result = database.parameters(self.asked)
        self.assert_told(
            result, Code.WARNING, 'with the code for kronos_x, kronos_y: an'
        )


class TestHosts(DatabaseTestCase):
    def test_this_one_alone(self) -> None:
        result = database.hosts(self.asked)
        self.assert_told(result, Code.SUCCESS, 'here has all of them')

    def test_others(self) -> None:
        self.read['services'] += [
            up(services.ENGINE, 'there'),
            up(services.APPLIER, 'far', is_up=False),
        ]
        result = database.hosts(self.asked)
        self.assert_told(
            result,
            Code.WARNING,
            'watcher-decision-engine on there; watcher-applier on far (no '
            'recent heartbeat). Remedy: run "kronos-status upgrade check" '
            'on each',
        )

    def test_no_service(self) -> None:
        """As of a database that nobody uses."""
        self.read['services'] = [up(services.ENGINE, 'here')]
        result = database.hosts(self.asked)
        self.assert_told(
            result, Code.WARNING, 'the database has no watcher-applier'
        )
