# SPDX-License-Identifier: Apache-2.0
"""Is a budget used by what has moved, and free again when it is said?"""

from oslotest import base

from kronos.engine.eligibility import budgets
from kronos.engine.eligibility.budgets import Account, BudgetKind, Budgets
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import Disruption, Instance, ServerGroup
from tests.builders import scopes

NOW = 1_800_000_000.0
"""2027-01-15T08:00:00Z"""
SERVER = Instance('u', 'a', project_id='p')


def account(*moves: Disruption, server: Instance = SERVER, **options: object):
    """The only account of a server."""
    groups = [ServerGroup('g', 'affinity', ['u', 'v'])]
    every = Budgets(Settings(**options), moves, groups, NOW)
    [only] = every.of(server)
    return only


def moved(seconds: float, uuid: str = 'u', project: str = 'p') -> Disruption:
    return Disruption(uuid, project, NOW - seconds)


class TestAccount(base.BaseTestCase):
    def test_a_window_rolls(self) -> None:
        for seconds, free in ((0.0, 0), (3599.9, 0), (3600.0, 1), (-5.0, 0)):
            only = account(moved(seconds), instance_budget='1/3600')
            self.assertEqual(free, only.free, seconds)

    def test_what_waits_is_taken(self) -> None:
        waiting = Disruption('u', 'p')
        only = account(moved(60), waiting, project_budget='3/3600')
        self.assertEqual((2, 1), (only.used, only.free))

    def test_at_a_time(self) -> None:
        """What runs for longer than any window still counts."""
        running = Disruption('x', 'p', NOW - 9e5, is_under_way=True)
        only = account(running, moved(60), project_budget='1')
        self.assertEqual((1, 0), (only.used, only.free))
        self.assertFalse(only.window_is_full())
        only = account(running, moved(60), project_budget='2,5/3600')
        self.assertEqual(1, only.free)

    def test_free_at(self) -> None:
        only = account(
            moved(600), moved(3000), moved(60), project_budget='2/3600'
        )
        self.assertEqual(-1, only.free)
        self.assertEqual(NOW + 3000, only.free_at())
        self.assertEqual(NOW + 3540, only.free_at(1))
        self.assertEqual(NOW + 3600, only.free_at(2))
        self.assertEqual(NOW, account(project_budget='2/60').free_at(1))
        self.assertEqual(NOW, account(project_budget='2').free_at(9))

    def test_reasons(self) -> None:
        only = account(moved(600), project_budget='1/3600')
        reason = only.reason()
        self.assertEqual(
            'project_budget 1/3600 of its project is used up: 1 in 3600 s; '
            'it is free again at 2027-01-15T08:50:00Z',
            reason,
        )
        self.assertIs(Code.DISRUPTION_BUDGET, reason.code)
        self.assertEqual('project_budget', reason.about)
        only = account(Disruption('v', 'p'), group_budget='2/60')
        self.assertEqual(
            'group_budget 2/60 of its server group is used up: 0 in 60 s, 1 '
            'in started plans, 1 in this plan; it is free again at '
            '2027-01-15T08:01:00Z at the earliest',
            only.reason(1),
        )
        only = account(instance_budget='1')
        self.assertEqual(
            'instance_budget 1 of the server is used up: 0 under way, 1 in '
            'this plan; it is free again when one of them ends',
            only.reason(1),
        )


class TestBudgets(base.BaseTestCase):
    def test_whose_moves_count(self) -> None:
        moves = [moved(1), moved(1, 'v', 'q'), moved(1, 'gone', 'p')]
        for option, used in (
            ('project_budget', 2),
            ('group_budget', 2),
            ('instance_budget', 1),
        ):
            only = account(*moves, **{option: '9/60'})
            self.assertEqual(used, only.used, option)

    def test_a_project_of_its_own(self) -> None:
        options = {'project_budget': '1', 'project_budgets': {'p': '7'}}
        self.assertEqual(7, account(**options).free)
        other = Instance('w', 'a', project_id='q')
        self.assertEqual(1, account(server=other, **options).free)

    def test_none(self) -> None:
        every = Budgets(Settings(), [moved(1)], [], NOW)
        self.assertEqual([], every.of(SERVER))
        self.assertEqual([], every.limiting({'u': SERVER}, {'u': 0}))
        unknown = Instance('w', 'a')
        every = Budgets(Settings(project_budget='1/60'), [], [], NOW)
        self.assertEqual([], every.of(unknown))

    def test_used(self) -> None:
        every = Budgets(Settings(instance_budget='1/60'), [moved(1)], [], NOW)
        every.of(Instance('w', 'a'))
        [used] = every.used()
        self.assertEqual((BudgetKind.INSTANCE, 'u'), (used.kind, used.key))
        self.assertIsInstance(used, Account)


class TestOptions(base.BaseTestCase):
    def test_phases(self) -> None:
        settings = Settings()
        self.assertTrue(budgets.is_exempt(settings, 'spread'))
        settings.project_budgets = {'p': '1/60'}
        self.assertTrue(budgets.is_limited(settings))
        self.assertFalse(budgets.is_exempt(settings, 'spread'))
        self.assertTrue(budgets.is_exempt(settings, 'evacuate'))

    def test_longest_window(self) -> None:
        settings = Settings(
            project_budget='2',
            group_budget='1/60',
            project_budgets={'p': '2,5/600'},
        )
        self.assertEqual(600, budgets.longest_window(settings))
        self.assertEqual(0, budgets.longest_window(Settings()))

    def test_of_phase(self) -> None:
        snapshot = scopes.scope(
            [], {'a': []}, [scopes.vm(uuid, 'a', []) for uuid in 'uv']
        )
        snapshot.taken_at = NOW
        settings = Settings(instance_budget='1/60')
        self.assertEqual({}, budgets.of_phase(snapshot, settings, 'spread'))
        snapshot.disruptions = [moved(99, 'v')]
        self.assertEqual({}, budgets.of_phase(snapshot, settings, 'spread'))
        snapshot.disruptions = [moved(1, 'v')]
        stayed = budgets.of_phase(snapshot, settings, 'spread')
        self.assertEqual(['v'], list(stayed))
        self.assertEqual({}, budgets.of_phase(snapshot, settings, 'evacuate'))
