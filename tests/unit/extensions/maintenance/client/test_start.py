# SPDX-License-Identifier: Apache-2.0
"""Does ``start`` create the audit, or refuse in one sentence?"""

from typing import Any

from tests.unit.extensions.maintenance.client import maintained
from tests.unit.osc import clouds


class TestStart(maintained.MaintainedTestCase):
    def refused(self, code: int, *words: str) -> Any:
        """The sentence; nothing is created."""
        text = self.ended(code, 'start', *words)
        self.assertEqual(1, len(text.splitlines()), text)
        posts = [
            request
            for request in self.keystone.requests('/audits')
            if request.method == 'POST'
        ]
        self.assertEqual([], posts)
        return text

    def test_start(self) -> None:
        result = self.ended(
            0,
            *('start', '--run', 'r1', '--host', 'h1', 'h2', '--host', 'h3'),
            *('--at-once', '2', '--no-reopen', '--interval', '30'),
        )
        self.assertEqual(
            ('r1', 'PENDING', 2, ['h1', 'h2', 'h3']),
            tuple(result[name] for name in ('run', 'state', 'k', 'hosts')),
        )
        audit = self.watcher.audits[result['audit_name']]
        self.assertEqual(
            ('CONTINUOUS', '30', False),
            (
                audit['audit_type'],
                audit['interval'],
                audit['parameters']['reopen'],
            ),
        )

    def test_bad_input(self) -> None:
        host = ('--host', 'h1')
        for words, expected in (
            (('--run', 'a b', *host), 'parameter run: '),
            (('--run', 'r1'), 'parameter hosts: '),
            (('--run', 'r1', *host, '--at-once', '0'), 'at_once: '),
            (('--run', 'r1', *host, '--host-timeout', 'x'), 'host_timeout: '),
            (('--run', 'r1', *host, '--stopped', 'go'), 'stopped: '),
            (('--run', 'r1', '--hosts-file', '/none'), '--hosts-file /none'),
        ):
            self.assertIn(expected, self.refused(2, *words))

    def test_unknown_hosts(self) -> None:
        self.assertIn(
            'no nova-compute on a host h4; ',
            self.refused(1, '--run', 'r1', '--host', 'h1', 'h4'),
        )

    def test_an_old_engine(self) -> None:
        self.strategies.remove('kronos_maintain')
        self.assertIn(
            'no strategy kronos_maintain; upgrade',
            self.refused(1, '--run', 'r1', '--host', 'h1'),
        )

    def test_another_run(self) -> None:
        self.begin()
        self.assertIn(
            'is live', self.refused(1, '--run', 'r1', '--host', 'h9')
        )
        self.assertIn(
            'has h1, too', self.refused(1, '--run', 'r2', '--host', 'h1')
        )

    def test_a_run_that_goes_on(self) -> None:
        """A host that has gone from Nova meanwhile does not matter."""
        self.begin('CANCELLED')
        del self.services['h3']
        self.ended(0, 'start', '--run', 'r1', '--host', 'h1', 'h3')

    def test_check(self) -> None:
        self.close_by_hand('h2')
        self.migrations.append(
            {
                'id': 1,
                'uuid': clouds.uuid(900),
                'instance_uuid': clouds.uuid(901),
                'status': 'finished',
                'migration_type': 'resize',
                'source_compute': 'h1',
                'dest_compute': 'h3',
                'created_at': '2026-08-01T10:00:00.000000',
                'updated_at': '2026-08-01T10:00:00.000000',
            }
        )
        words = ('start', '--check', '--run', 'r1', '--host', 'h1', 'h2')
        code, out, _ = self.run_client('maintenance', *words, '-f', 'yaml')
        self.assertEqual(4, code)
        self.assertIn("answer: 'alpha: sentence 1'", out)
        self.assertIn('reason: mine', out)
        self.assertIn(clouds.uuid(901), out)
        [audit] = {row['uuid']: row for row in self.watcher.audits.values()}
        self.assertEqual('ONESHOT', self.watcher.audits[audit]['audit_type'])
