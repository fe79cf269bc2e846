# SPDX-License-Identifier: Apache-2.0
"""The command ``run`` on a terminal and in a pipe, to each of its ends."""

from labkit import settings

from tests.lab import base, groups, packing, runs
from tests.lab.base import Wanted
from tests.lab.moves import HELD
from tests.lab.runs import QUESTION, WHOLE, WITHOUT_QUESTION
from tests.lab.terminal_client import CTRL_C, TerminalClient

DONE, REFUSED, USAGE, NOTHING_PLANNED, NOT_STARTED = range(5)
PLAN_FAILED, NO_SERVICE, INTERRUPTED = 5, 6, 130
APPLIER, ENGINE = 'watcher-applier', 'watcher-decision-engine'
CORES, MEMORY_MB = 0.9, 2600


class PileTestCase(runs.RunTestCase):
    def pile(self, number: int) -> None:
        self.boot(
            Wanted(f'server-{n}', 'cmp1', CORES, MEMORY_MB)
            for n in range(number)
        )


class TestSpread(PileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.pile(12)

    def spread(self, more: str, **env: str) -> TerminalClient:
        return self.terminal(f'spread {more} --param max_migrations=2', **env)

    def test_to_the_end(self) -> None:
        self.cloud.set_migrations({'default': {'seconds': 8}})
        client = self.spread(WHOLE)
        client.expect('Combined imbalance: ')
        client.expect(QUESTION)
        client.type('y\n')
        client.expect('of 2 actions done')
        client.expect(' %')
        client.expect('2 of 2 actions succeeded')
        self.check_end(client, DONE)

        words = 'spread --aggregate alpha --param max_migrations=2'
        self.wait_for_metrics()
        out, err = self.piped(f'{words} {WITHOUT_QUESTION}', DONE)
        self.assertIn('2 of 2 actions succeeded', out)
        self.assertIn('of 2 actions done', err)

        self.wait_for_metrics()
        _, err = self.piped(f'{words} {WHOLE}', NOT_STARTED)
        self.assertIn('use --yes', err)
        self.assertEqual('RECOMMENDED', self.newest_plan()['state'])
        self.piped(words, DONE)
        self.piped(f'{words} --wait', USAGE)

    def test_not_started(self) -> None:
        client = self.spread('')
        client.expect('was not started. To start it: ')
        self.check_end(client, DONE)
        for answer, status in (
            ('n\n', NOT_STARTED),
            ('\n', NOT_STARTED),
            ('\x04', NOT_STARTED),
            (CTRL_C, INTERRUPTED),
        ):
            client = self.spread(WHOLE)
            client.expect(QUESTION)
            client.type(answer)
            client.expect('was not started. To start it: ')
            self.check_end(client, status)
            self.assertEqual('RECOMMENDED', self.newest_plan()['state'])

    def under_way(self) -> TerminalClient:
        """Moves run and do not end."""
        self.cloud.set_migrations({'default': HELD})
        client = self.spread(WITHOUT_QUESTION)
        client.expect(' under way')
        client.expect(' %')
        client.type(CTRL_C)
        client.expect('Cancel the plan ')
        client.expect(QUESTION)
        return client

    def test_ctrl_c(self) -> None:
        client = self.under_way()
        client.type('y\n')
        client.expect('is being cancelled.')
        client.expect('is CANCELLED: 0 of 2 actions succeeded')
        self.check_end(client, INTERRUPTED)
        self.assertEqual('CANCELLED', self.newest_plan()['state'])

        for answer in ('\n', CTRL_C):
            self.wait_for_metrics()
            client = self.under_way()
            client.type(answer)
            client.expect('goes on. To cancel it: ')
            self.check_end(client, INTERRUPTED)
            plan = self.newest_plan()
            self.assertEqual('ONGOING', plan['state'])
            self.cloud.set_migrations({})
            self.assertEqual('SUCCEEDED', self.executed(plan)['state'])

    def test_no_applier(self) -> None:
        self.lab.stop(APPLIER)
        self.addCleanup(self.lab.start, APPLIER)
        client = self.spread(f'{WITHOUT_QUESTION} --pickup-timeout 4')
        client.expect('no applier has taken it')
        self.check_end(client, NO_SERVICE)
        plan = self.newest_plan()
        self.assertEqual('PENDING', plan['state'])
        self.openstack(f'optimize actionplan cancel {plan["uuid"]}')

        client = self.spread(WITHOUT_QUESTION)
        client.expect('is PENDING')
        client.type(CTRL_C)
        client.expect(QUESTION)
        client.type('y\n')
        client.expect('is CANCELLED')
        self.check_end(client, INTERRUPTED)
        self.assertEqual('CANCELLED', self.newest_plan()['state'])

    def test_no_decision_engine(self) -> None:
        self.lab.stop(ENGINE)
        self.addCleanup(self.lab.start, ENGINE)
        client = self.spread('--pickup-timeout 4')
        client.expect('no decision engine has taken it')
        self.check_end(client, NO_SERVICE)
        for answer, text in (
            ('y\n', ' was cancelled.'),
            ('\n', ' goes on, and starts no move.'),
        ):
            client = self.spread(WHOLE)
            client.expect(' is PENDING')
            client.type(CTRL_C)
            client.expect('Cancel the audit ')
            client.expect(QUESTION)
            client.type(answer)
            client.expect(text)
            self.check_end(client, INTERRUPTED)

    def test_failures(self) -> None:
        """A move, an audit, and rights that are missing."""
        self.cloud.set_migrations({'default': {'fail': 'pre'}})
        client = self.spread(WITHOUT_QUESTION)
        client.expect(' actions succeeded; ')
        self.check_end(client, PLAN_FAILED)
        _, err = self.piped('spread --aggregate nowhere', REFUSED)
        self.assertIn('nowhere', err)
        _, err = self.piped('sprad', REFUSED)
        self.assertIn('spread', err)
        identity = self.lab.connection().identity
        user = identity.create_user(
            name='onlooker', password=settings.password(), domain_id='default'
        )
        self.addCleanup(identity.delete_user, user)
        identity.assign_project_role_to_user(
            identity.find_project('admin'), user, identity.find_role('reader')
        )
        _, err = self.piped(
            'spread --aggregate alpha', REFUSED, OS_USERNAME='onlooker'
        )
        self.assertIn("requires the role of Watcher's administrator", err)


class TestEvacuate(PileTestCase):
    def test_to_the_end(self) -> None:
        self.pile(3)
        self.cloud.set_host('cmp1', False, 'maintenance')
        client = self.terminal(f'evacuate {WITHOUT_QUESTION}')
        client.expect('3 of 3 actions succeeded')
        self.check_end(client, DONE)
        client = self.terminal(f'evacuate {WITHOUT_QUESTION}')
        self.check_end(client, NOTHING_PLANNED)


class TestRecover(PileTestCase):
    def test_to_the_end(self) -> None:
        self.pile(2)
        query = 'label_replace(vector(1), "host", "cmp1", "", "")'
        self.configure(host_fault_query=query)
        client = self.terminal(f'recover {WITHOUT_QUESTION}')
        client.expect('3 of 3 actions succeeded')
        self.check_end(client, DONE)
        self.assertEqual({'cmp1'}, self.cloud.disabled())


class TestAffinity(runs.RunTestCase, groups.GroupsTestCase):
    def test_to_the_end(self) -> None:
        self.no_checks(['cmp1'])
        self.forced('apart', 'anti-affinity', ['cmp1', 'cmp1'])
        self.wait_for_metrics()
        client = self.terminal(f'affinity {WITHOUT_QUESTION}')
        client.expect('1 of 1 action succeeded')
        self.check_end(client, DONE)
        client = self.terminal(f'affinity {WITHOUT_QUESTION}')
        client.expect('no server group is broken')
        self.check_end(client, NOTHING_PLANNED)


class TestPack(runs.RunTestCase, packing.PackTestCase):
    def test_to_the_end(self) -> None:
        self.boot(
            Wanted(f'{host}-{n}', host, 2.0, MEMORY_MB)
            for host in base.ALPHA
            if host != packing.FULL
            for n in range(2)
        )
        self.wait(self.has_forgotten, 'the readings to be of now')
        client = self.terminal(f'pack {WITHOUT_QUESTION}')
        client.expect(' actions succeeded')
        self.check_end(client, DONE)
