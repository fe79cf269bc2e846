# SPDX-License-Identifier: Apache-2.0
"""Two decision engines over one scope, whichever is killed, and their lock."""

import collections
import itertools
import random
import time
from typing import Any, ClassVar

from testtools import content

from tests import lock_holder
from tests.lab import base, rivals

from labkit import database, ports  # isort: skip

ROUNDS, KILLS, SEED = 20, 10, 43
THRESHOLD = 0.15
INSTANCE_COOLDOWN = 30
APPLIER_KILLS = 2
ENGINES = ('watcher-decision-engine', base.services.SECOND_ENGINE)


class TestTwoEngines(rivals.RivalsTestCase):
    options: ClassVar = {
        'cooldown': rivals.COOLDOWN,
        'instance_cooldown': INSTANCE_COOLDOWN,
    }

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self.lab.start, ENGINES[0])
        self.second_engine()
        self.fill(*base.ALPHA)
        self.wait_for_metrics()

    def audits(self) -> list[dict[str, Any]]:
        return [self.going_on('aggregates=alpha', 5, '--force') for _ in 'ab']

    def are_even(self) -> bool:
        values = self.imbalances(base.ALPHA).values()
        return all(value <= THRESHOLD for value in values)

    def test_killed_in_between(self):
        """Every host that becomes busy is relieved, by moves of one plan.

        Engines are killed, and the applier, too.
        """
        audits = self.audits()
        chance = random.Random(SEED)
        kills = {*chance.sample(range(ROUNDS), KILLS)}
        others = sorted({*range(ROUNDS)} - kills)
        applier_kills = {*chance.sample(others, APPLIER_KILLS)}
        hosts = itertools.cycle(base.ALPHA)
        for number, hot in zip(range(ROUNDS), hosts, strict=False):
            self.make_busy(hot)
            engine = chance.choice(ENGINES)
            if number in kills:
                self.kill_for_a_while(engine, chance)
            elif number in applier_kills:
                self.kill_for_a_while('watcher-applier', chance)
            self.wait(self.are_even, f'{hot} to be relieved')
        plans = self.started(audits)
        self.assertGreater(len(plans), 0)
        self.check_plans(plans)
        self.check_cooldown(plans)
        self.check_servers(plans)
        for audit in audits:
            self.assertEqual('ONGOING', self.shown(audit)['State'])

    def kill_for_a_while(self, service: str, chance: random.Random) -> None:
        time.sleep(chance.uniform(0, 10))
        self.lab.stop(service, kill=True)
        time.sleep(chance.uniform(0, 5))
        self.lab.start(service)

    def check_servers(self, plans: list[dict[str, Any]]) -> None:
        """No server left within its cooldown, by Nova's own records."""
        times = collections.defaultdict(list)
        for row in self.migrations(migration_type='live-migration'):
            times[row['instance_uuid']].append(
                (rivals.moment(row['created_at']), row)
            )
        for uuid, moves in times.items():
            moves.sort(key=lambda move: move[0])
            for (_, before), (begun, _) in itertools.pairwise(moves):
                self.assertGreaterEqual(
                    begun - rivals.moment(before['updated_at']),
                    INSTANCE_COOLDOWN - 1,
                    uuid,
                )

    def test_never_back(self):
        """The other engine goes on with the audit of one that is dead."""
        audit = self.going_on('aggregates=alpha', 5, '--force')
        self.make_busy(base.ALPHA[0])
        self.wait(self.are_even, 'the first host to be relieved')
        owner = self.cloud.watcher(f'/v1/audits/{audit["UUID"]}')['hostname']
        dead = owner == base.services.SECOND_HOST
        self.lab.stop(ENGINES[dead], kill=True)
        began = time.monotonic()
        self.make_busy(base.ALPHA[1])
        self.wait(self.are_even, 'the other engine to plan')
        seconds = time.monotonic() - began
        detail = f'{seconds:.0f} s, from {owner}'
        self.addDetail('failover', content.text_content(detail))
        after = self.cloud.watcher(f'/v1/audits/{audit["UUID"]}')
        self.assertNotEqual(owner, after['hostname'])
        self.assertEqual('ONGOING', after['state'])


class TestLock(base.LabTestCase):
    """Who holds the lock of Watcher's database dies, or the database does."""

    def setUp(self) -> None:
        super().setUp()
        port = ports.load()['mariadb']
        self.url = f'mysql+pymysql://root@127.0.0.1:{port}/watcher'

    def holder(self) -> lock_holder.Holder:
        return self.useContext(lock_holder.Holder(self.url))

    def useContext(self, context: Any) -> Any:  # noqa: N802
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def waits(self) -> bool:
        """Whether somebody waits for a lock of the database."""
        with (
            database.connect(ports.load()['mariadb']) as link,
            link.cursor() as cursor,
        ):
            cursor.execute(
                'SELECT COUNT(*) FROM information_schema.innodb_trx '
                "WHERE trx_state = 'LOCK WAIT'"
            )
            return bool(cursor.fetchone()[0])

    def test_the_holder_is_killed(self):
        first = self.holder()
        self.assertIn('has it', first.answer())
        second = self.holder()
        self.wait(self.waits, 'the second one to wait')
        first.kill()
        self.assertIn('has it', second.answer())
        second.give_back()
        self.assertEqual('gave it back', second.answer())

    def test_the_database_is_restarted(self):
        """Who waits has the lock soon after, or says that it failed."""
        first = self.holder()
        self.assertIn('has it', first.answer())
        second = self.holder()
        self.wait(self.waits, 'the second one to wait')
        self.lab.stop('mariadb', kill=True)
        self.lab.start('mariadb')
        first.give_back()
        self.assertIn('failed', first.answer())
        answer = second.answer()
        self.assertRegex(answer, 'has it|failed')
        second.kill()
        third = self.holder()
        self.assertIn('has it', third.answer())
        third.give_back()
        self.assertEqual('gave it back', third.answer())
