# SPDX-License-Identifier: Apache-2.0
"""Does ``run`` bring strategies to their end, in a pipe and on a terminal?

Watcher's API, decision engine and applier are real, and serve one strategy
after another.
"""

import functools
import pathlib
import re
import shlex
import threading

import fixtures
import yaml
from watcher import objects
from watcher.common import policies, policy

from kronos.osc.run import polling
from tests import terminal
from tests.fakes.small_cloud import cloud
from tests.functional.watcher import base, client_api

FOLLOWED = ('--aggregate', 'alpha', '--start', '--wait')
WHOLE = (*FOLLOWED, '--yes')
FEW = ('--param', 'max_migrations=3')
ENDED = r'(?s)Plan .*The plan [0-9a-f-]+ is SUCCEEDED: {0} of {0} actions? '
PROMETHEUS = '/prometheus/'


class RunTestCase(base.KronosTestCase):
    CAST_AS_CALL = False

    def setUp(self):
        super().setUp()
        self.set('kronos', migration_timeout=30, queue_timeout=30)
        self.api = self.useFixture(client_api.ClientApi())
        self.interrupts = threading.Event()
        self.useFixture(
            fixtures.MonkeyPatch(
                'kronos.osc.run.polling.Polling',
                functools.partial(polling.Polling, wait=self.pause),
            )
        )
        self.useFixture(fixtures.EnvironmentVariable('TERM', 'xterm'))

    def pause(self, _):
        """Between two looks, and where Ctrl-C comes."""
        if self.interrupts.wait(0.05):
            self.interrupts.clear()
            raise KeyboardInterrupt

    def client(self, *words, token='of-an-admin', tty=None):
        client = self.useFixture(self.api.client(token))
        return client.run(*words, terminal=tty)

    def run_strategy(self, *words, **how):
        return self.client('optimize', 'kronos', 'run', *words, **how)

    def run_on_terminal(self, answer, *words):
        """Exit status, stdout, and what the terminal shows."""
        tty = self.useFixture(terminal.Terminal())
        tty.type(answer)
        code, out, _ = self.run_strategy(*words, tty=tty)
        return code, out, tty.shown()

    def finish_in_a_pipe(self, actions, *words):
        code, out, err = self.run_strategy(*words, *WHOLE)
        self.assertEqual(0, code, f'{out}\n{err}')
        self.assertRegex(out, ENDED.format(actions))
        self.assertRegex(
            err, r'(?m)^creating the audit run-[a-z-]+-[0-9a-f]{8}$'
        )
        self.assertNotIn('\x1b', out + err)

    def finish_on_a_terminal(self, actions, *words):
        """Nothing is asked but whether the plan is started."""
        code, out, shown = self.run_on_terminal('y\n', *words, *FOLLOWED)
        self.assertEqual(0, code, f'{out}\n{shown}')
        self.assertRegex(out, ENDED.format(actions))
        self.assertRegex(shown, r'Start the plan [0-9a-f-]+\? \[y/N\] ')
        self.assertEqual(1, shown.count('[y/N]'), shown)

    def line(self, pattern, text):
        """The line of a text; Watcher's services log to stderr, too."""
        lines = [row for row in text.splitlines() if re.search(pattern, row)]
        self.assertEqual(1, len(lines), text)
        return lines[0]

    def on(self, host):
        """Uuids of the servers of a host."""
        return [
            uuid
            for uuid, server in self.cloud.servers.items()
            if server.host == host
        ]


class TestStrategies(RunTestCase):
    """Each finds work in what the strategies before it leave."""

    def check(self, finish):
        finish(3, 'spread', *FEW)

        members = self.on('h1')[:2]
        self.cloud.groups.append(
            {
                'id': base.uuid(900),
                'name': 'apart',
                'policy': 'anti-affinity',
                'rules': {},
                'project_id': 'project',
                'user_id': 'user',
                'members': members,
            }
        )
        finish(1, 'affinity')
        hosts = {self.cloud.servers[uuid].host for uuid in members}
        self.assertEqual(2, len(hosts))

        self.cloud.services['h2'].update(status='disabled', reason='new disks')
        finish(len(self.on('h2')), 'evacuate')
        self.assertEqual([], self.on('h2'))

    def test_in_a_pipe(self):
        self.check(self.finish_in_a_pipe)


class TestPack(RunTestCase):
    @staticmethod
    def CLOUD():  # noqa: N802
        return cloud.Cloud(
            ['h1', 'h2', 'h3', 'h4', 'h5'],
            {'alpha': ['h1', 'h2', 'h3', 'h4']},
            base.servers('h1', 1, 4) + base.servers('h2', 11, 2),
        )

    def setUp(self):
        super().setUp()
        data = yaml.safe_load(base.POLICIES)
        for each in data['policies']:
            each.update(mode='pack', capacity_query=each['imbalance_query'])
        path = pathlib.Path(f'{self.policies_file}.pack')
        path.write_text(yaml.safe_dump(data))
        self.set('kronos', pack_policies_file=str(path))

    def test_both_ways(self):
        self.finish_in_a_pipe(2, 'pack')
        self.assertEqual([], self.on('h2'))
        for uuid in map(base.uuid, (1, 2)):
            self.cloud.servers[uuid].host = 'h3'
        self.finish_on_a_terminal(2, 'pack')
        self.assertEqual([], self.on('h3'))


class TestEnds(RunTestCase):
    def check(self, status, line, *words, token='of-an-admin'):
        """The exit status, and the line."""
        code, out, err = self.run_strategy(*words, token=token)
        self.assertEqual(status, code, f'{out}\n{err}')
        self.line(line, out or err)

    def test_one_clear_line(self):
        """By Watcher itself; whoever reads one line knows what to do."""
        self.check(3, '^alpha: there is no host to drain', 'evacuate', *WHOLE)
        for words, line in (
            (
                ('cell-drain',),
                'the audit needs the parameter source_cell: add --param '
                'source_cell=VALUE',
            ),
            (
                ('spread', '--param', 'max_migratons=3'),
                'the strategy kronos_spread has no parameter max_migratons: '
                'remove --param max_migratons=VALUE',
            ),
            (
                ('spread', '--param', 'max_migrations=[3]'),
                'the audit cannot use the parameter max_migrations: [3] is '
                "not of type 'integer', 'string'. Correct --param "
                'max_migrations=VALUE',
            ),
        ):
            self.check(1, f'^{re.escape(line)}$', *words)

        for server in self.cloud.servers.values():
            server.script = ('accepted', 'error')
            server.refusal = 'No valid host was found. '
        self.check(
            5,
            r'is FAILED: 0 of 3 actions succeeded; vm\d+ h\d -> h\d \(spread\)'
            ' is FAILED: destination refused: No valid host was found',
            *('spread', *WHOLE, *FEW),
        )

        # Watcher's tests allow everybody everything.
        defaults = {rule.name: rule.check for rule in policies.list_rules()}
        policy.init().set_rules(defaults)
        self.check(
            1,
            r"^this requires the role of Watcher's administrator \(.*HTTP 403",
            'spread',
            *WHOLE,
            token='of-a-reader',
        )


class InterruptTestCase(RunTestCase):
    def give(self, text):
        """Give the command that ends a text; what Watcher has afterwards."""
        program, *words = shlex.split(text[text.rindex('openstack ') :])
        self.assertEqual('openstack', program)
        code, _, err = self.client(*words)
        self.assertEqual(0, code, err)

    def newest_plan(self):
        [plan] = objects.ActionPlan.list(
            self.context, limit=1, sort_key='id', sort_dir='desc'
        )
        return plan.uuid


class TestInterrupts(InterruptTestCase):
    def setUp(self):
        super().setUp()
        for server in self.cloud.servers.values():
            server.script = ('accepted', *['running'] * 1000)

    def interrupt_moves(self):
        """Press Ctrl-C once the first is under way."""

        def interrupt(_):
            self.cloud.on_look = lambda migration: None
            self.interrupts.set()

        self.cloud.on_look = interrupt

    def interrupt_audit(self):
        """Press Ctrl-C while Prometheus has not answered.

        :returns: what lets it answer
        """
        answer, released = self.cloud.answer, threading.Event()

        def wait(method, path, query, body):
            if path.startswith(PROMETHEUS) and not released.is_set():
                self.interrupts.set()
                released.wait(base.PATIENCE_SECONDS)
            return answer(method, path, query, body)

        self.cloud.answer = wait
        self.addCleanup(released.set)
        return released

    def test_an_audit_is_cancelled(self):
        released = self.interrupt_audit()
        code, out, shown = self.run_on_terminal('y\n', 'spread', *FOLLOWED)
        self.assertEqual((130, ''), (code, out), shown)
        self.line(r'The audit run-spread-\w{8} was cancelled\.$', shown)
        [audit] = objects.Audit.list(self.context)
        self.assertEqual('CANCELLED', audit.state)
        released.set()
        # Watcher's decision engine does not stop on that account.
        self.wait_for('audits', audit.uuid, ('SUCCEEDED',))

    def test_moves_are_cancelled(self):
        self.interrupt_moves()
        code, out, shown = self.run_on_terminal('y\n', 'spread', *WHOLE, *FEW)
        self.assertEqual(130, code, shown)
        self.line('is CANCELLED: 0 of 3 actions succeeded; vm', out)

        self.interrupt_moves()
        code, _, err = self.run_strategy('spread', *WHOLE, *FEW)
        self.assertEqual(130, code, err)
        self.give(
            self.line(r'^The plan [0-9a-f-]+ goes on\. To cancel it: ', err)
        )
        plan = self.wait_for('action_plans', self.newest_plan())
        self.assertEqual('CANCELLED', plan['state'])


class TestNoApplier(InterruptTestCase):
    START_APPLIER = False
    is_impatient = False

    def pause(self, seconds):
        states = {plan.state for plan in objects.ActionPlan.list(self.context)}
        if self.is_impatient and 'PENDING' in states:
            raise KeyboardInterrupt
        super().pause(seconds)

    def test_a_plan_that_waits(self):
        code, _, err = self.run_strategy(
            'spread', *WHOLE, *FEW, '--pickup-timeout', '1'
        )
        self.assertEqual(6, code, err)
        self.give(self.line('^the plan .* no applier has taken it', err))
        row = objects.ActionPlan.get_by_uuid(self.context, self.newest_plan())
        self.assertEqual('CANCELLED', row.state)

        self.is_impatient = True
        code, out, shown = self.run_on_terminal('y\n', 'spread', *WHOLE, *FEW)
        self.assertEqual(130, code, shown)
        self.line('is CANCELLED: 0 of 3 actions succeeded; vm', out)
