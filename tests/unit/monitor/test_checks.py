# SPDX-License-Identifier: Apache-2.0
"""Does --check look at all that the agent needs, and change nothing?"""

import socket

from kronos.monitor import checks
from tests.unit.monitor import agents


class TestChecks(agents.AgentTestCase):
    def check(self, url: str = '') -> dict[str, str]:
        result = checks.run(self.settings(url))
        return {
            one.what.replace(str(self.folder), 'F'): one.fault
            for one in result
        }

    def test_good(self) -> None:
        before = sorted(self.folder.iterdir())
        self.assertEqual(
            {
                'event rules: 1 of F/event_rules.yaml': '',
                'state file F/monitor.db': '',
                'source synthetic': '',
            },
            self.check(),
        )
        after = sorted(self.folder.iterdir())
        self.assertEqual(
            {'kronos.conf'}, {p.name for p in {*after} - {*before}}
        )

    def test_bad(self) -> None:
        with socket.create_server(('127.0.0.1', 0)) as taken:
            port = taken.getsockname()[1]
        self.rules.write_text('rules: 7')
        self.state.write_text('no database')
        self.host.path.unlink()
        result = self.check(f'http://127.0.0.1:{port}/x')
        self.assertEqual(4, len(result))
        for what, reason in (
            ('event rules F/event_rules.yaml', 'must be a list'),
            ('state file F/monitor.db', 'not a database'),
            ('sink hook', 'Connection refused'),
            ('source synthetic', 'No such file'),
        ):
            self.assertIn(reason, result[what])
