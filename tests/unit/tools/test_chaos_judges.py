# SPDX-License-Identifier: Apache-2.0
"""Does each judge see what is wrong, and nothing else?"""

import dataclasses
import datetime
import pathlib
import sys

from oslotest import base

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tools'))

from chaoskit import arrivals, health, judges  # noqa: E402
from chaoskit.facts import (  # noqa: E402
    NEVER,
    Action,
    Audit,
    Group,
    Look,
    Migration,
    Outage,
    Outages,
    Plan,
    Server,
)

NOW = 1000.0
AGGREGATES = {'alpha': ['cmp1', 'cmp2', 'cmp3'], 'beta': ['cmp7', 'cmp8']}
COOLDOWN = 30.0


def server(uuid='s1', host='cmp2', **more):
    fields = {'vm_state': 'active', 'task_state': '', **more}
    return Server(uuid, f'vm-{uuid}', host, **fields)


def audit(**more):
    fields = {
        'name': 'mine',
        'strategy': 'kronos_spread',
        'state': 'ONGOING',
        'next_run': 0.0,
        'updated_at': NOW,
        'status_message': 'why',
        **more,
    }
    return Audit('a1', **fields)


def migration(number=1, **more):
    fields = {
        'uuid': f'm{number}',
        'server': 's1',
        'kind': 'live-migration',
        'source': 'cmp1',
        'destination': 'cmp2',
        'status': 'completed',
        'created_at': 905.0,
        'updated_at': 910.0,
        **more,
    }
    return Migration(number, **fields)


def plan(uuid='p1', **more):
    fields = {
        'audit': 'a1',
        'strategy': 'kronos_spread',
        'state': 'SUCCEEDED',
        'applier': 'controller',
        'created_at': 900.0,
        'updated_at': 910.0,
        **more,
    }
    return Plan(uuid, **fields)


def action(uuid='x1', of='p1', **more):
    fields = {
        'state': 'SUCCEEDED',
        'server': 's1',
        'source': 'cmp1',
        'destination': 'cmp2',
        'updated_at': 910.0,
        **more,
    }
    return Action(uuid, of, **fields)


def look(servers=(), migrations=(), plans=(), actions=(), groups=(), **more):
    return Look(
        NOW,
        servers={one.uuid: one for one in servers},
        migrations=tuple(migrations),
        plans={one.uuid: one for one in plans},
        actions=tuple(actions),
        groups=tuple(groups),
        **more,
    )


def well():
    """A server that a plan has moved, and all is in order."""
    return look(
        [server()],
        [migration()],
        [plan()],
        [action()],
        allocations={'s1': frozenset({'cmp2'})},
    )


def away(*names, since=0.0):
    found = Outages()
    for name in names:
        found.begin(name, since)
    return found


class JudgeTestCase(base.BaseTestCase):
    def one(self, found, *words, is_ours=True):
        [finding] = found
        for word in words:
            self.assertIn(word, finding.what)
        self.assertEqual(is_ours, finding.is_ours, finding)
        self.assertTrue(finding.look_at)

    def none(self, found):
        self.assertEqual([], list(found))


class TestWell(JudgeTestCase):
    def test_nobody_complains(self):
        seen = well()
        self.none(judges.twice(seen, Outages()))
        self.none(judges.rules(seen, Outages(), AGGREGATES))
        self.none(judges.cooldowns(seen, Outages(), AGGREGATES, COOLDOWN))
        self.none(judges.at_rest(seen, Outages()))
        self.none(judges.errors(seen))
        self.none(judges.placement(seen, Outages()))
        self.none(arrivals.of_actions(seen))


class TestArrivals(JudgeTestCase):
    """An action tells that it is done, and Nova has no such migration."""

    def test_none(self):
        seen = look([server()], [], [plan()], [action()])
        self.one(arrivals.of_actions(seen), 'x1 has SUCCEEDED', 's1 to cmp2')

    def test_failed(self):
        rows = [migration(status='error')]
        seen = look([server()], rows, [plan()], [action()])
        self.one(arrivals.of_actions(seen), 'x1 has SUCCEEDED')

    def test_of_an_earlier_plan(self):
        rows = [migration(created_at=700.0)]
        seen = look([server()], rows, [plan()], [action()])
        self.one(arrivals.of_actions(seen), 'x1 has SUCCEEDED')

    def test_not_told_as_done(self):
        seen = look([server()], [], [plan()], [action(state='FAILED')])
        self.none(arrivals.of_actions(seen))

    def test_the_server_is_gone(self):
        seen = look([], [], [plan()], [action()])
        self.none(arrivals.of_actions(seen))


class TestTwice(JudgeTestCase):
    def test_two_migrations(self):
        seen = look(
            [server()],
            [
                migration(1, status='running'),
                migration(2, status='preparing', destination='cmp3'),
            ],
        )
        self.one(judges.twice(seen, Outages()), 'vm-s1', '-> cmp3')

    def test_one_that_a_killed_host_has_left(self):
        seen = look(
            [server()],
            [
                migration(1, status='running', source='cmp3'),
                migration(2, status='running'),
            ],
        )
        self.none(judges.twice(seen, away('cmp3', since=950.0)))
        self.assertTrue([*judges.twice(seen, away('cmp9', since=950.0))])

    def test_one_after_another(self):
        seen = look([server()], [migration(1), migration(2, status='running')])
        self.none(judges.twice(seen, Outages()))

    def test_two_actions(self):
        seen = look(
            [server()],
            plans=[plan(), plan('p2', applier='controller-2')],
            actions=[
                action(state='ONGOING'),
                action('x2', 'p2', state='ONGOING', destination='cmp3'),
            ],
        )
        self.one(judges.twice(seen, Outages()), 'x1 of plan p1', 'to cmp3')
        # Its row stays until the applier is back.
        self.none(judges.twice(seen, away('watcher-applier', since=950.0)))

    def test_one_that_waits(self):
        seen = look(
            [server()],
            plans=[plan()],
            actions=[action(state='ONGOING'), action('x2', state='PENDING')],
        )
        self.none(judges.twice(seen, Outages()))


class TestRules(JudgeTestCase):
    def groups(self, policy, *hosts, ours=True, per_host=1):
        servers = [server(f's{n}', host) for n, host in enumerate(hosts, 1)]
        group = Group(
            'g', policy, per_host, tuple(one.uuid for one in servers)
        )
        moved = ([plan()], [action()]) if ours else ((), ())
        seen = look(servers, [migration()], *moved, groups=[group])
        return judges.rules(seen, Outages(), AGGREGATES)

    def test_anti_affinity(self):
        self.one(self.groups('anti-affinity', 'cmp2', 'cmp2'), 'vm-s1 on cmp2')
        self.none(self.groups('anti-affinity', 'cmp2', 'cmp3'))
        self.none(self.groups('anti-affinity', 'cmp2', 'cmp2', per_host=2))

    def test_affinity(self):
        self.one(self.groups('affinity', 'cmp2', 'cmp1'), 'affinity group g')
        self.none(self.groups('affinity', 'cmp2', 'cmp2'))

    def test_soft_ones_may_be_broken(self):
        self.none(self.groups('soft-anti-affinity', 'cmp2', 'cmp2'))
        self.none(self.groups('soft-affinity', 'cmp2', 'cmp1'))

    def test_by_somebody_else(self):
        found = self.groups('anti-affinity', 'cmp2', 'cmp2', ours=False)
        self.one(found, is_ours=False)

    def test_out_of_an_aggregate(self):
        seen = look(
            [server()], plans=[plan()], actions=[action(destination='cmp7')]
        )
        found = judges.rules(seen, Outages(), AGGREGATES)
        self.one(found, 'from cmp1 to cmp7')


class TestCooldowns(JudgeTestCase):
    def judged(self, created_at, strategy='kronos_spread', **more):
        fields = {'state': 'SUCCEEDED', 'updated_at': 990.0, **more}
        seen = look(
            plans=[
                plan(),
                plan('p2', created_at=created_at, strategy=strategy),
            ],
            actions=[action(), action('x2', 'p2', **fields)],
        )
        return judges.cooldowns(seen, Outages(), AGGREGATES, COOLDOWN)

    def test_too_soon(self):
        self.one(self.judged(920.0), 'p2', '10 s after', 'plan p1', '30 s')

    def test_after_a_long_plan(self):
        seen = [
            look(
                plans=[plan(), plan('p2', created_at=created_at)],
                actions=[
                    action(updated_at=950.0),
                    action('x2', 'p2', updated_at=990.0),
                ],
            )
            for created_at in (955.0, 965.0)
        ]
        soon, late = [
            judges.cooldowns(each, Outages(), AGGREGATES, COOLDOWN)
            for each in seen
        ]
        self.one(soon, '5 s after')
        self.none(late)

    def test_what_nobody_ends(self):
        """An action stays ONGOING, as its applier was away."""
        seen = look(
            plans=[plan(), plan('p2', created_at=950.0)],
            actions=[
                action(state='ONGOING'),
                action('x2', 'p2', updated_at=990.0),
            ],
        )
        self.one(
            judges.cooldowns(seen, Outages(), AGGREGATES, COOLDOWN), 'before'
        )
        outages = Outages()
        outages.begin('watcher-applier', 915.0)
        outages.end('watcher-applier', 920.0)
        self.none(judges.cooldowns(seen, outages, AGGREGATES, COOLDOWN))

    def test_while_the_other_one_runs(self):
        self.one(self.judged(905.0), '5 s before the last move')

    def test_late_enough(self):
        self.none(self.judged(941.0))

    def test_a_drain_waits_for_nobody(self):
        self.none(self.judged(905.0, 'kronos_evacuate'))

    def test_another_aggregate(self):
        self.none(self.judged(905.0, source='cmp7', destination='cmp8'))

    def test_one_that_did_nothing(self):
        for state in ('SKIPPED', 'CANCELLED', 'PENDING'):
            self.none(self.judged(905.0, state=state))


class TestAudits(JudgeTestCase):
    def test_failed(self):
        for state in ('FAILED', 'CANCELLED', 'SUCCEEDED'):
            row = audit(state=state)
            found = judges.audits(look(audits={'a1': row}), Outages(), ['a1'])
            self.one(found, f'mine is {state}: why')
        self.one(judges.audits(look(), Outages(), ['a1']), 'a1 is gone')

    def test_watcher_loses_its_database(self):
        """It fails the audit itself, when the database is back."""
        row = audit(state='FAILED', updated_at=NOW)
        for since, until, is_ours in (
            (-20, -4, False),
            (-20, NEVER, False),
            (-20, -6, True),
            (1, 2, True),
        ):
            away = Outages([Outage('mariadb', NOW + since, NOW + until)])
            found = judges.audits(look(audits={'a1': row}), away, ['a1'])
            self.one(found, 'mine is FAILED', is_ours=is_ours)

    def test_alive(self):
        seen = look(audits={'a1': audit()})
        self.none(judges.audits(seen, Outages(), ['a1']))


class TestAtRest(JudgeTestCase):
    def test_a_plan(self):
        for state in ('ONGOING', 'PENDING', 'CANCELLING'):
            seen = look(plans=[plan(state=state)], actions=[action()])
            found = judges.at_rest(seen, Outages())
            self.one(found, f'p1 of kronos_spread stays {state}')

    def test_a_plan_whose_applier_died(self):
        """Watcher leaves those that were being cancelled."""
        killed = away('watcher-applier', since=950.0)
        seen = look(plans=[plan(state='CANCELLING')], actions=[action()])
        self.one(judges.at_rest(seen, killed), is_ours=False)
        seen = look(plans=[plan(state='ONGOING')], actions=[action()])
        self.one(judges.at_rest(seen, killed))

    def test_an_empty_one_is_no_trouble(self):
        self.none(
            judges.at_rest(look(plans=[plan(state='RECOMMENDED')]), Outages())
        )

    def test_an_action(self):
        for state in ('ONGOING', 'PENDING'):
            seen = look([server()], (), [plan()], [action(state=state)])
            self.one(judges.at_rest(seen, Outages()), f'stays {state}')

    def test_an_action_whose_end_was_not_written(self):
        """Nor its begin: Watcher's applier fails with its database."""
        for state, away_since, message, is_ours in (
            ('PENDING', 907.0, '', False),
            ('PENDING', 907.0, 'tried', True),
            ('PENDING', 800.0, '', True),
            ('ONGOING', 907.0, '', False),
            ('ONGOING', 800.0, '', True),
        ):
            failed = plan(state='FAILED')
            row = action(state=state, status_message=message)
            seen = look([server()], (), [failed], [row])
            outages = away('mariadb', since=away_since)
            outages.end('mariadb', away_since + 2.0)
            self.one(judges.at_rest(seen, outages), is_ours=is_ours)

    def test_a_migration(self):
        seen = look([server()], [migration(status='running')])
        self.one(judges.at_rest(seen, Outages()), 'stays running')
        killed = away('cmp1', since=906.0)
        self.one(judges.at_rest(seen, killed), is_ours=False)

    def test_a_server(self):
        busy = server(task_state='migrating')
        seen = look([busy], [migration()], [plan()], [action()])
        self.one(judges.at_rest(seen, Outages()), 'vm-s1 stays migrating')
        killed = away('cmp1', since=906.0)
        self.one(judges.at_rest(seen, killed), is_ours=False)
        seen = look([busy], [migration()])
        self.one(judges.at_rest(seen, Outages()), is_ours=False)


class TestErrors(JudgeTestCase):
    def errors(self, fault, *migrations):
        servers = [server(vm_state='error', fault=fault)]
        return judges.errors(look(servers, migrations))

    def test_nova_says_why(self):
        self.one(self.errors('No valid host.'), 'No valid', is_ours=False)

    def test_nobody_says_why(self):
        self.one(self.errors(''), 'no fault')

    def test_the_driver_broke_its_migration(self):
        rows = migration(1), migration(2, status='error', created_at=950.0)
        self.one(self.errors('', *rows), 'no fault', is_ours=False)

    def test_it_had_arrived(self):
        rows = migration(1, status='error'), migration(2, created_at=950.0)
        self.one(self.errors('', *rows), 'no fault')

    def test_by_our_code(self):
        fault = 'TypeError\n  File ".../kronos/weighers/load.py", line 3'
        self.one(self.errors(fault), 'TypeError')


class TestPlacement(JudgeTestCase):
    def judged(self, told='', outages=None, ours=True, **held):
        changed = {
            'allocations': {
                name: frozenset(hosts) for name, hosts in held.items()
            },
            'actions': (action(status_message=told),) if ours else (),
        }
        seen = dataclasses.replace(well(), **changed)
        return judges.placement(seen, outages or Outages())

    def test_on_two_hosts(self):
        self.one(
            self.judged(s1=['cmp1', 'cmp2']), 'vm-s1 is on cmp2', 'cmp1, cmp2'
        )

    def test_on_none(self):
        self.one(self.judged(), 'on no host')

    def test_of_a_migration(self):
        found = self.judged(s1=['cmp2'], m1=['cmp1'])
        self.one(found, 'migration 1 (completed)', 'cmp1')

    def test_kronos_has_told_of_it(self):
        found = self.judged('its room in Placement stays', s1=['cmp1'])
        self.one(found, is_ours=False)

    def test_its_applier_died(self):
        killed = away('watcher-applier', since=905.0)
        self.one(self.judged('', killed, s1=['cmp1']), is_ours=False)
        later = away('watcher-applier', since=950.0)
        self.one(self.judged('', later, s1=['cmp1']), 'holds room on cmp1')

    def test_a_server_in_error(self):
        """Nova keeps what it has; whoever mends it mends that."""
        broken = server(vm_state='error', fault='x')
        held = {'s1': frozenset({'cmp1', 'cmp2'}), 'm1': frozenset({'cmp1'})}
        seen = look([broken], [migration()], allocations=held)
        self.none(judges.placement(seen, Outages()))

    def test_moved_by_somebody_else(self):
        self.one(self.judged(ours=False, s1=['cmp1']), is_ours=False)

    def test_of_nobody(self):
        found = self.judged(s1=['cmp2'], gone=['cmp3'])
        self.one(found, 'gone, which is no server', is_ours=False)


class TestMemory(JudgeTestCase):
    def judged(self, *mib, seconds=10.0):
        seen = [(n * seconds, value) for n, value in enumerate(mib)]
        return health.memory({('watcher-applier', 5): seen})

    def test_without_end(self):
        grows = [100.0 + 3 * n for n in range(60)]
        self.one(self.judged(*grows), 'watcher-applier (pid 5) grew')

    def test_up_to_a_level(self):
        self.none(self.judged(*([100.0] * 5 + [250.0] * 60)))

    def test_one_leap(self):
        """Modules that the first audit or action loads, whenever it comes."""
        for late in (22, 45):
            rises = [100.0 + 0.2 * n for n in range(late)]
            rises += [170.0 + 0.2 * n for n in range(late, 66)]
            self.none(self.judged(*rises))

    def test_at_its_start(self):
        self.none(self.judged(*[100.0 + 3 * n for n in range(20)]))

    def test_up_and_down(self):
        self.none(self.judged(*([100.0] * 20 + [300.0] * 20 + [120.0] * 26)))


class TestTracebacks(JudgeTestCase):
    PREFIX = '2026-11-22 17:04:20.1 77 ERROR watcher.x [-] '
    AT = datetime.datetime(2026, 11, 22, 17, 4, 20).timestamp()

    def judged(self, *frames, error='KeyError: 5', outages=()):
        lines = [health.BEGIN]
        for file in frames:
            lines += [f'  File "{file}", line 12, in f', '    raise E(x)']
        text = '\n'.join(self.PREFIX + one for one in [*lines, error, 'next'])
        return health.tracebacks(
            'applier',
            text + '\n' + text,
            '/src/kronos/',
            Outages(outages),
        )

    def test_through_our_code(self):
        found = self.judged('/lib/a.py', '/src/kronos/x/y.py', '/lib/b.py')
        self.one(found, 'applier: KeyError: 5 at x/y.py:12, 2 times')

    def test_of_others(self):
        self.none(self.judged('/lib/a.py', '/lib/b.py'))

    def test_what_an_action_tells(self):
        """Watcher logs the exception by which it says so."""
        told = 'watcher.common.exception.WatcherException: KRONOS:'
        chain = 'The above exception was the direct cause of the following'
        for error, number in (
            ('PreFlightError: the server is locked', 0),
            ("AttributeError: 'NoneType' object", 1),
        ):
            parts = [health.BEGIN, '  File "/src/kronos/a.py", line 1, in a']
            lines = [*parts, 'kronos.PreFlightError: x', '', chain, '']
            lines += [*parts, told + error, 'next']
            text = '\n'.join(self.PREFIX + one for one in lines)
            found = list(
                health.tracebacks('applier', text, '/src/kronos/', Outages())
            )
            self.assertEqual(number, len(found), found)

    def test_an_action_of_a_cancelled_plan(self):
        """What is logged next is none of it."""
        raised = 'watcher.common.exception.ActionPlanCancelled: by user'
        found = self.judged(
            '/src/kronos/z.py', error=f'{raised}\nkombu.Error: refused'
        )
        self.none(found)

    def test_an_error_with_a_path(self):
        found = self.judged('/src/kronos/z.py', error='oslo_db.DBError: (x)')
        self.one(found, 'oslo_db.DBError: (x) at z.py:12')

    def test_a_service_is_away(self):
        database = 'oslo_db.exception.DBConnectionError: (2003, "x")'
        broker = 'oslo_messaging.exceptions.MessagingTimeout: Timed out'
        for error, name, since, until, is_ours in (
            (database, 'mariadb', -20, -5, False),
            (database, 'mariadb', -20, NEVER, False),
            (database, 'mariadb', -600, -500, True),
            (database, 'mariadb', 20, 40, True),
            (database, 'rabbitmq', -20, -5, True),
            (broker, 'rabbitmq', -80, -60, False),
            (broker, 'mariadb', -20, -5, True),
            ('KeyError: 5', 'mariadb', -20, -5, True),
        ):
            away = Outage(name, self.AT + since, self.AT + until)
            found = self.judged(
                '/src/kronos/z.py', error=error, outages=[away]
            )
            self.one(found, 'at z.py:12', is_ours=is_ours)
