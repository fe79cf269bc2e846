# SPDX-License-Identifier: Apache-2.0
"""Does the agent lose nothing, and go on whatever happens?"""

import contextlib
import datetime
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import threading
from collections import defaultdict
from typing import Any
from unittest import mock

from kronos.monitor.domains import State
from kronos.monitor.events import Event
from kronos.monitor.rules import parser
from tests.unit.monitor import agents
from tests.unit.monitor.certificates import Authority
from tests.unit.monitor.hypervisor import ONE, TWO, until
from tests.unit.monitor.receiver import Receiver

KILLS = 8
"""Of the agent, at random moments."""
GUESTS = 40
MANY = 10_000


class TestIncidents(agents.AgentTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.hook = self.receiver()

    def test_a_crash(self) -> None:
        agent = self.agent(self.hook.url).ready()
        self.host.start(ONE)
        self.host.kill(ONE)
        until(lambda: self.hook.bodies)
        (body,) = self.hook.bodies
        self.assertEqual(
            ('crash', ONE, 'node1', 'synthetic', False),
            (
                body['kind'],
                body['instance']['uuid'],
                body['host'],
                body['hypervisor'],
                body['inferred'],
            ),
        )
        labels = {'host': 'node1', 'instance_uuid': ONE, 'kind': 'crash'}
        until(lambda: agent.value('kronos_vm_failed', **labels) == 1.0)
        self.host.start(ONE)
        until(lambda: agent.value('kronos_vm_failed', **labels) is None)

    def test_what_users_do(self) -> None:
        """A hundred times: no message."""
        agent = self.agent(self.hook.url).ready()
        for _ in range(100):
            self.host.start(ONE)
            self.host.become(ONE, 'PAUSED', 'USER', 'SUSPENDED_PAUSED')
            self.host.become(ONE, 'RUNNING', '', 'RESUMED_UNPAUSED')
            self.host.become(ONE, 'SHUTOFF', 'DESTROYED', 'STOPPED_DESTROYED')
        self.host.start(TWO)
        self.host.kill(TWO)
        until(lambda: self.hook.bodies)
        self.assertEqual(
            [TWO], [b['instance']['uuid'] for b in self.hook.bodies]
        )
        ignored = {'host': 'node1', 'kind': 'none', 'decision': 'ignored'}
        self.assertEqual(
            401.0, agent.value('kronos_vm_events_total', **ignored)
        )

    def test_a_storm_beside_a_crash(self) -> None:
        agent = self.agent(self.hook.url).ready()
        self.host.start(ONE)
        self.host.start(TWO)
        storm = {'instance': ONE, 'event': 'IO_ERROR', 'detail': 'REPORT'}
        self.host.tell(*[storm] * 20_000)
        self.host.kill(TWO)
        until(lambda: len(self.hook.bodies) == 2)
        self.assertEqual(
            [('crash', TWO), ('io_error', ONE)],
            sorted(
                (body['kind'], body['instance']['uuid'])
                for body in self.hook.bodies
            ),
        )
        told = {'host': 'node1', 'kind': 'io_error'}
        until(
            lambda: (
                agent.value(
                    'kronos_vm_events_total', decision='grouped', **told
                )
                == 19_999.0
            )
        )

    def test_each_crash_of_a_server_that_is_started_again(self) -> None:
        """By the rules that hold by default: else nobody starts it twice."""
        self.rules.write_text(parser.DEFAULT)
        self.agent(self.hook.url).ready()
        for _ in range(3):
            self.host.start(ONE)
            self.host.kill(ONE)
        until(lambda: len(self.hook.bodies) == 3)

    def test_killed_in_the_last_moment_of_a_migration(self) -> None:
        """Of two servers one has arrived: its domain is gone."""
        self.agent(self.hook.url).ready()
        with mock.patch('kronos.monitor.incidents.ARRIVAL', 2.5):
            for one in (ONE, TWO):
                self.host.start(one)
                self.host.become(
                    one, 'PAUSED', 'MIGRATION', 'SUSPENDED_MIGRATED'
                )
            self.host.kill(ONE)
            self.host.tell(
                {
                    'instance': TWO,
                    'gone': True,
                    'event': 'LIFECYCLE',
                    'detail': 'STOPPED_FAILED',
                }
            )
            until(lambda: self.hook.bodies)
            self.host.start(TWO)
            self.host.kill(TWO)
            until(lambda: len(self.hook.bodies) == 2)
        self.assertEqual(
            [ONE, TWO],
            [body['instance']['uuid'] for body in self.hook.bodies],
        )

    def test_dedup(self) -> None:
        self.rules.write_text(
            'rules: [{name: a, action: send, dedup_seconds: 9999}]'
        )
        agent = self.agent(self.hook.url).ready()
        for _ in range(3):
            self.host.start(ONE)
            self.host.kill(ONE)
        labels = {'host': 'node1', 'kind': 'crash', 'decision': 'deduplicated'}
        until(lambda: agent.value('kronos_vm_events_total', **labels) == 2.0)
        until(lambda: self.hook.bodies)
        self.assertEqual(1, len(self.hook.bodies))


class TestGaps(agents.AgentTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.hook = self.receiver()

    def happen(self) -> None:
        """What happens in the gap."""
        names = ['killed', 'panic', 'full', 'hangs', 'off']
        for name in names:
            self.host.start(name)

    def fail(self) -> None:  # type: ignore[override]
        self.host.kill('killed')
        self.host.become('panic', 'CRASHED', 'PANICKED', 'CRASHED_PANICKED')
        self.host.become('full', 'PAUSED', 'IOERROR', 'SUSPENDED_IOERROR')
        self.host.become('hangs', 'PAUSED', 'WATCHDOG', 'SUSPENDED_WATCHDOG')
        self.host.become('off', 'SHUTOFF', 'SHUTDOWN', 'STOPPED_SHUTDOWN')

    def check(self) -> None:
        until(lambda: len(self.hook.bodies) >= 4)
        self.assertEqual(
            {
                ('killed', 'crash'),
                ('panic', 'panic'),
                ('full', 'io_error'),
                ('hangs', 'hang'),
            },
            {(b['instance']['uuid'], b['kind']) for b in self.hook.bodies},
        )
        self.assertEqual(4, len(self.hook.bodies))
        for body in self.hook.bodies:
            self.assertTrue(body['inferred'])
            self.assertLessEqual(body['gap']['began'], body['gap']['ended'])

    def test_of_the_hypervisor(self) -> None:
        agent = self.agent(self.hook.url).ready()
        self.happen()
        self.host.tell({'away': 'it fell over'})
        until(lambda: agent.value('kronos_monitor_libvirt_up') == 0.0)
        self.fail()
        self.host.tell({'back': 1})
        self.check()
        self.assertEqual(1.0, agent.value('kronos_monitor_gaps_total'))

    def test_of_the_agent(self) -> None:
        agent = self.agent(self.hook.url).ready()
        self.happen()
        known = agent.agent._memory.rows
        until(lambda: len(known) == 5)
        agent.end()
        self.fail()
        self.agent(self.hook.url)
        self.check()

    def test_of_a_hypervisor_that_looks_later(self) -> None:
        """It is back, and shows the last state that it saw for a while."""
        agent = self.agent(self.hook.url).ready()
        self.happen()
        self.host.start(ONE)
        self.host.tell(
            {'away': 'it fell over'},
            *(
                {**line, 'instance': name, 'current': False}
                for name, line in self.running().items()
            ),
            {'back': 1},
        )
        outdated = agent.agent._outdated
        until(lambda: len(outdated.instances) == 6)
        # No event of what it sees.
        self.host.tell(
            {'instance': 'killed', 'state': 'SHUTOFF', 'reason': 'CRASHED'},
            {'instance': 'panic', 'state': 'CRASHED', 'reason': 'PANICKED'},
            {'instance': 'full', 'state': 'PAUSED', 'reason': 'IOERROR'},
            {'instance': 'hangs', 'state': 'PAUSED', 'reason': 'WATCHDOG'},
            {'instance': 'off', 'gone': True},
        )
        self.check()
        gone = 'servers were running and no longer exist: off'
        until(lambda: gone in self.log.output)
        self.assertEqual({ONE}, outdated.instances)
        self.host.kill(ONE)
        until(lambda: len(self.hook.bodies) == 5)
        self.assertFalse(self.hook.bodies[-1]['inferred'])
        self.assertEqual(set(), outdated.instances)
        self.assertEqual(1.0, agent.value('kronos_monitor_gaps_total'))

    def running(self) -> dict[str, dict[str, Any]]:
        return {
            name: {'state': 'RUNNING', 'run': run}
            for name, run in self.host.runs.items()
        }

    def test_a_first_start(self) -> None:
        self.happen()
        self.fail()
        self.agent(self.hook.url).ready()
        self.host.start('new')
        self.host.kill('new')
        until(lambda: self.hook.bodies)
        (body,) = self.hook.bodies
        self.assertEqual('new', body['instance']['uuid'])


class TestKilled(agents.AgentTestCase):
    """By -9, while guests are killed and the agent is kept busy."""

    def test_none_is_missing_and_none_has_two_ids(self) -> None:
        hook = self.receiver()
        chance = random.Random(16)
        guests = [self.host.start() for _ in range(GUESTS)]
        agent = self.begun(hook.url)
        self.watching()
        left = list(guests)
        for number in range(KILLS):
            for _ in range(GUESTS // KILLS):
                self.host.kill(left.pop())
                threading.Event().wait(chance.uniform(0.0, 0.1))
            threading.Event().wait(chance.uniform(0.0, 0.4))
            agent.send_signal(signal.SIGKILL)
            agent.wait()
            # Some are killed before they have begun.
            start = self.process if number % 4 == 3 else self.begun
            agent = start(hook.url)
        until(
            lambda: {b['instance']['uuid'] for b in hook.bodies} == {*guests}
        )
        agent.send_signal(signal.SIGKILL)
        agent.wait()
        agent = self.begun(hook.url)
        agent.send_signal(signal.SIGTERM)
        self.assertEqual(0, agent.wait())
        ids = defaultdict(set)
        for body in hook.bodies:
            ids[body['instance']['uuid']].add(body['id'])
            self.assertEqual('crash', body['kind'])
        self.assertEqual([], [one for one in ids.values() if len(one) != 1])

    def begun(self, url: str) -> 'subprocess.Popen[str]':
        log = self.folder / 'log'
        before = log.stat().st_size if log.exists() else 0
        process = self.process(url)
        until(lambda: 'starts' in log.read_text()[before:])
        return process

    def watching(self) -> None:
        """All guests are remembered on disk."""

        def count() -> int:
            path = f'file:{self.state}?mode=ro'
            with (
                contextlib.suppress(sqlite3.Error),
                contextlib.closing(sqlite3.connect(path, uri=True)) as reader,
            ):
                return int(
                    reader.execute('SELECT count(*) FROM domains').fetchone()[
                        0
                    ]
                )
            return 0

        until(lambda: count() == GUESTS)


class TestSinksAway(agents.AgentTestCase):
    SPOOL_MB = 64

    def test_all_are_delivered_in_order(self) -> None:
        gone = Receiver()
        gone.close()
        agent = self.agent(gone.url).ready()
        guests = [self.host.start(f'guest-{n}') for n in range(100)]
        for _ in range(MANY // len(guests)):
            for guest in guests:
                self.host.kill(guest)
                self.host.start(guest)
        labels = {'host': 'node1', 'kind': 'crash', 'decision': 'sent'}
        until(lambda: agent.value('kronos_vm_events_total', **labels) == MANY)
        spool = agent.agent._spool
        self.assertLessEqual(spool.size(), self.SPOOL_MB * 2**20)
        self.assertEqual(0.0, agent.value('kronos_monitor_dropped_total'))
        hook = self.receiver(port=gone.port)
        until(lambda: len(hook.bodies) >= MANY)
        self.assertEqual(MANY, len({*hook.ids}))
        seen = defaultdict(list)
        for body in hook.bodies:
            moment = datetime.datetime.fromisoformat(body['seen'])
            seen[body['instance']['uuid']].append(moment)
        self.assertEqual(100, len(seen))
        for times in seen.values():
            self.assertEqual(sorted(times), times)
        until(lambda: spool.oldest() is None)


class TestFull(agents.AgentTestCase):
    def test_the_least_severe_go(self) -> None:
        self.rules.write_text(
            'rules: [{name: a, action: send, match: {kind: crash}, '
            'severity: critical}, {name: b, action: send}]'
        )
        gone = Receiver()
        gone.close()
        agent = self.agent(gone.url).ready()
        spool = agent.agent._spool
        dropped = 'kronos_monitor_dropped_total'
        self.host.start(ONE)
        self.host.start(TWO)
        self.host.kill(TWO)
        about = 'x' * 250
        while not agent.value(dropped):
            for _ in range(500):
                for number in range(15):
                    self.host.tell(
                        {
                            'instance': ONE,
                            'event': 'IO_ERROR',
                            'detail': 'PAUSE',
                            'about': f'{number}{about}',
                        }
                    )
                self.host.become(ONE, 'RUNNING', '', 'RESUMED_UNPAUSED')
                self.host.start(ONE)
            self.assertLessEqual(spool.size(), self.SPOOL_MB * 2**20)
        self.assertIn('are let go undelivered', self.log.output)
        hook = self.receiver(port=gone.port)
        until(lambda: TWO in [b['instance']['uuid'] for b in hook.bodies])

    def test_the_disk(self) -> None:
        """Files may not grow: it lives, counts, and recovers."""
        hook = self.receiver()
        agent = self.agent(hook.url).ready()
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, before)
        self.host.start(ONE)
        until(lambda: ONE in agent.agent._memory.rows)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        # The writer of the events is limited, too.
        for event in (
            Event(ONE, 'guest', 'LIFECYCLE', 'STOPPED_FAILED', 1000.0),
            Event(TWO, 'guest', 'LIFECYCLE', 'STOPPED_FAILED', 1000.0),
        ):
            agent.agent._news.append(event)
        errors = 'kronos_monitor_spool_errors_total'
        until(lambda: agent.value(errors))
        self.assertEqual([], hook.bodies)
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        until(lambda: len(hook.bodies) == 2)
        self.assertEqual(2, len({*hook.ids}))


class TestMutualTls(agents.AgentTestCase):
    """Whatever is wrong, the message is kept, and comes once it is mended."""

    def setUp(self) -> None:
        super().setUp()
        self.authority = Authority(self.folder)
        self.other = Authority(self.folder, 'other')
        self.ca = str(self.folder / 'trusted.pem')
        self.trust(self.authority)
        self.server = self.authority.issue('server')
        self.client = self.authority.issue('client')

    def trust(self, one: Authority) -> None:
        """The file that the agent reads has another CA from now on."""
        new = self.folder / 'trusted.new'
        new.write_bytes(pathlib.Path(one.path).read_bytes())
        new.replace(self.ca)

    def kept(self, *lines: str) -> 'agents.Running':
        """An agent whose message does not come."""
        self.hook = self.receiver(self.server, self.authority.path)
        given = [f'certfile = {self.client[0]}', f'keyfile = {self.client[1]}']
        agent = self.agent(
            self.hook.url, f'cafile = {self.ca}', *(lines or given)
        ).ready()
        self.host.start(ONE)
        self.host.kill(ONE)
        away = {'sink': 'hook', 'result': 'away'}
        name = 'kronos_monitor_deliveries_total'
        until(lambda: (agent.value(name, **away) or 0.0) >= 2.0)
        self.assertEqual([], self.hook.bodies)
        return agent

    def check(self) -> None:
        """It comes, once."""
        until(lambda: self.hook.bodies)
        self.assertEqual(1, len(self.hook.bodies))

    def test_a_wrong_authority(self) -> None:
        self.trust(self.other)
        self.kept()
        self.trust(self.authority)
        self.check()

    def test_a_wrong_name(self) -> None:
        self.server = self.authority.issue('server', host='example.org')
        self.kept()
        self.hook.rotate(self.authority.issue('server'))
        self.check()

    def test_expired(self) -> None:
        self.server = self.authority.issue('server', expired=True)
        self.kept()
        self.hook.rotate(self.authority.issue('server'))
        self.check()

    def test_no_client_certificate(self) -> None:
        """To name one takes a start; the message waits on disk."""
        self.kept('# none').end()
        self.agent(
            self.hook.url,
            f'cafile = {self.ca}',
            f'certfile = {self.client[0]}',
            f'keyfile = {self.client[1]}',
        )
        self.check()


class TestTrouble(agents.AgentTestCase):
    def test_the_state_file_breaks(self) -> None:
        hook = self.receiver()
        agent = self.agent(hook.url).ready()
        self.host.start(ONE)
        self.host.start(TWO)
        until(lambda: len(agent.agent._memory.rows) == 2)
        until(lambda: not agent.agent._memory.changed)
        with self.state.open('r+b') as file:
            file.truncate(0)
            file.write(b'\xa5' * 9999)
        with (self.folder / 'monitor.db-wal').open('r+b') as file:
            file.truncate(0)
        self.host.kill(ONE)
        until(lambda: hook.bodies)
        until(lambda: (self.folder / 'monitor.db.broken').exists())
        until(lambda: 'is broken and was moved' in self.log.output)
        agent.end()
        # What was remembered is in the new file.
        self.host.kill(TWO)
        self.agent(hook.url)
        until(lambda: len(hook.bodies) == 2)
        self.assertTrue(hook.bodies[-1]['inferred'])

    def test_values_of_the_state_file_that_cannot_be_read(self) -> None:
        agent = self.agent().ready()
        self.host.start(ONE)
        until(lambda: ONE in agent.agent._memory.rows)
        agent.end()
        connection = sqlite3.connect(self.state)
        with contextlib.closing(connection), connection:
            connection.execute(
                "REPLACE INTO meta VALUES ('alive', '1795675905.x')"
            )
            connection.execute('UPDATE domains SET row = ?', ['[' * 20_000])
        hook = self.receiver()
        self.agent(hook.url).ready()
        self.assertIn('2 rows cannot be read', self.log.output)
        self.host.kill(ONE)
        until(lambda: hook.bodies)

    def test_another_file_takes_the_place(self) -> None:
        agent = self.agent().ready()
        other = self.folder / 'other.db'
        connection = sqlite3.connect(other)
        with contextlib.closing(connection), connection:
            connection.execute('CREATE TABLE album (name)')
        agent.agent._spool._disconnect()
        for part in self.folder.glob('monitor.db-*'):
            part.unlink()
        other.replace(self.state)
        until(lambda: 'of another application' in self.log.output)
        errors = 'kronos_monitor_spool_errors_total'
        until(lambda: agent.value(errors))
        self.assertEqual(0.0, agent.value('kronos_monitor_errors_total'))
        self.assertNotIn('Traceback', self.log.output)

    def test_something_odd(self) -> None:
        hook = self.receiver()
        agent = self.agent(hook.url).ready()
        odd: Any = [None, 7, Event(7, None, None, None, None)]  # type: ignore[arg-type]
        agent.agent._news.extend(odd)
        self.host.start(ONE)
        self.host.kill(ONE)
        until(lambda: hook.bodies)
        self.assertEqual(3.0, agent.value('kronos_monitor_errors_total'))

    def test_rules_that_break_later(self) -> None:
        agent = self.agent().ready()
        self.rules.write_text('rules: 7')
        valid = 'kronos_monitor_rules_valid'
        until(lambda: agent.value(valid) == 0.0)
        self.rules.write_text('rules: [{name: b, action: drop}]')
        until(lambda: agent.value(valid) == 1.0)
        self.host.start(ONE)
        self.host.kill(ONE)
        labels = {'host': 'node1', 'kind': 'crash', 'decision': 'dropped'}
        until(lambda: agent.value('kronos_vm_events_total', **labels) == 1.0)

    def test_a_sink_whose_certificates_are_wrong(self) -> None:
        authority = Authority(self.folder)
        server = authority.issue('server')
        client = authority.issue('client', expired=True)
        hook = self.receiver(server, authority.path)
        agent = self.agent(
            hook.url,
            f'cafile = {authority.path}',
            f'certfile = {client[0]}',
            f'keyfile = {client[1]}',
        ).ready()
        self.host.start(ONE)
        self.host.kill(ONE)
        away = {'sink': 'hook', 'result': 'away'}
        until(lambda: agent.value('kronos_monitor_deliveries_total', **away))
        self.assertEqual([], hook.bodies)
        authority.issue('client')
        until(lambda: hook.bodies)

    def test_states_of_rows(self) -> None:
        agent = self.agent().ready()
        self.host.start(ONE)
        self.host.become(ONE, 'SHUTOFF', 'SAVED', 'STOPPED_SAVED')
        rows = agent.agent._memory.rows
        until(lambda: ONE in rows and rows[ONE].state is State.SHUTOFF)
