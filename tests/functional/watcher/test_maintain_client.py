# SPDX-License-Identifier: Apache-2.0
"""Does ``maintenance`` start, follow and end a run, each with its status?

Watcher's API, decision engine and applier are real; the audit runs when a
test says so.
"""

import json
import re
import shlex

import fixtures
from watcher import objects

from tests.functional.watcher import client_api, maintained

HOSTS = ['h1', 'h2', 'h3']
ROW = 'host', 'servers', 'staying', 'can_be_emptied'
STATUS = {
    'reached': 0,
    'error': 1,
    'usage': 2,
    'not yet': 3,
    'blocked': 4,
    'paused': 5,
    'late': 6,
}


class TestMaintainClient(maintained.MaintainTestCase):
    """Three hosts with a server each; all are maintained."""

    CAST_AS_CALL = False
    SERVERS = dict.fromkeys(HOSTS, 1)

    def setUp(self):
        super().setUp()
        for name in (
            'kronos.osc.run.polling.SECONDS',
            'kronos.extensions.maintenance.client.commands.POLL_SECONDS',
        ):
            self.useFixture(fixtures.MonkeyPatch(name, 0.05))
        self.api = self.useFixture(client_api.ClientApi())

    def given(self, *words):
        client = self.useFixture(
            self.api.client(
                'of-an-admin', compute_endpoint_override=self.cloud.nova_url
            )
        )
        return client.run('optimize', 'kronos', 'maintenance', *words)

    def check(self, word, *words):
        """What a command prints, as JSON; with the exit status of a word."""
        code, out, err = self.given(*words, '-f', 'json')
        self.assertEqual(STATUS[word], code, f'{words}: {out}\n{err}')
        return json.loads(out) if out else err

    def check_state(self, word, host, state):
        return self.check(word, 'status', '--host', host, '--state', state)

    def plan_next(self):
        """Let the audit run once, and its plan end."""
        [audit] = objects.Audit.list(
            self.context, filters={'audit_type': 'CONTINUOUS'}, eager=True
        )
        self.execute(audit)
        for plan in self.plans({'uuid': audit.uuid}):
            self.wait_for('action_plans', plan['uuid'])

    def check_refused(self):
        """Bad input."""
        for word, words, line in (
            ('usage', ('--run', 'a b', '--host', 'h1'), 'parameter run'),
            ('usage', ('--run', 'r', '--host', 'h1', '--at-once', '0'), 'at_'),
            ('usage', ('--run', 'r'), 'parameter hosts'),
            ('usage', ('--run', 'r', '--hosts-file', '/none'), 'No such file'),
            ('error', ('--run', 'r', '--host', 'h9'), 'on a host h9; '),
        ):
            text = self.check(word, 'start', *words)
            # Watcher's API logs to the same stream.
            self.assertIn(line, text.splitlines()[-1])
        self.assertEqual([], objects.Audit.list(self.context))

    def test_nothing_is_started(self):
        self.check_refused()
        start = ('start', '--run', 'r1', '--check', '--host')
        look = self.check('reached', *start, *HOSTS)
        self.assertEqual(1, len(look['closes_first']), look)
        self.assertIn('run r1: 0 of 3 hosts done', look['answer'])
        self.assertLessEqual(3, look['moves_at_least'])
        self.assertLess(0, look['expected_seconds'])
        self.assertRegex(look['eta'], r'^\d{4}-.*Z$')
        [row] = look['hints']
        self.assertIn('names no host of the run', row['hint'])
        self.assertEqual(
            [(host, 1, [], True) for host in HOSTS],
            [tuple(row[name] for name in ROW) for row in look['hosts']],
        )
        [plan] = objects.ActionPlan.list(self.context)
        self.assertEqual('CANCELLED', plan.state)
        self.cloud.services['h2'].update(status='disabled', reason='disks')
        look = self.check('blocked', *start, *HOSTS)
        self.assertEqual(
            [{'host': 'h2', 'reason': 'disks'}], look['closed_by_others']
        )

    def test_every_status(self):
        self.assertIn('no maintenance run', self.check('error', 'status'))
        started = self.check(
            'reached', 'start', '--run', 'r1', '--host', *HOSTS
        )
        self.assertEqual(('r1', 'PENDING'), (started['run'], started['state']))
        for other, line in (('r1', 'is live in'), ('r2', 'has h1, too')):
            text = self.check('error', 'start', '--run', other, '--host', 'h1')
            self.assertIn(line, text)
        _, _, _, *words = shlex.split(started['follow'])
        self.assertEqual('maintenance', words[0])
        status = self.check('not yet', *words[1:])
        self.assertEqual('waiting', status['state'])
        self.assertIn('is PENDING', self.check('error', 'pause'))
        self.assertIn(
            'has no host h9', self.check_state('error', 'h9', 'done')
        )

        self.plan_next()
        host = self.closed_host()
        status = self.check('not yet', 'status')
        self.assertEqual(
            ('r1', 'running', 1, 1),
            tuple(status[x] for x in ('run', 'state', 'k', 'closed')),
        )
        [row] = self.check_state('reached', host, 'handed-over')['hosts']
        self.assertEqual(
            ('handed over', 0, 0, 1),
            tuple(row[x] for x in ('state', 'running', 'stopped', 'moves')),
        )
        self.assertRegex(row['since'], r'^\d{4}-.*Z$')
        self.check(
            'not yet', 'status', '--wait', '--timeout', '1', '--host', host
        )
        other = next(name for name in HOSTS if name != host)
        self.check_state('reached', other, 'to-do')

        self.check('reached', 'pause')
        self.assertEqual('paused', self.check('paused', 'status')['state'])
        self.check_state('paused', host, 'done')
        self.check('reached', 'resume')

        service = self.cloud.services[host]
        own = service['reason']
        service['reason'] = re.sub(r'since \d{4}', 'since 2001', own)
        self.check_state('late', host, 'done')
        self.check_state('not yet', other, 'done')
        service['reason'] = 'mine'
        [row] = self.check_state('blocked', host, 'done')['hosts']
        self.assertEqual(
            ('foreign', 'host_taken_over', 'mine'),
            tuple(row[x] for x in ('state', 'reason_code', 'reason')),
        )
        service['reason'] = own

        self.cloud.faulty[host] = 1.0
        self.plan_next()
        [row] = self.check_state('reached', host, 'done')['hosts']
        self.assertEqual(('done', 1), (row['state'], row['moves']))
        self.check_state('reached', host, 'handed-over')

        self.plan_next()
        host = self.closed_host()
        code, out, err = self.given('finish', '-f', 'json')
        self.assertEqual(STATUS['blocked'], code, err)
        self.assertEqual('ended', json.loads(out)['state'])
        self.check('blocked', 'status')
        self.assertIn('has ended', self.check('error', 'resume'))
        report = self.check('reached', 'report')
        self.assertEqual(
            (1, 0, []),
            tuple(
                report[x]
                for x in ('servers_moved_twice', 'moves_failed', 'hosts_late')
            ),
        )
        self.assertIn(f'"openstack compute service set --enable {host}', err)
        for name in HOSTS:
            self.cloud.faulty[name] = 1.0
        start = shlex.split(f'start --run r1 --host {" ".join(HOSTS)}')
        self.check('reached', *start)
