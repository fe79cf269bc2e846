# SPDX-License-Identifier: Apache-2.0
"""Does the sentinel command let kured reboot a host that is handed over?"""

import os
import shutil
import subprocess

import yaml

from tests.functional.rebooting import base

COMMAND = base.EXAMPLES / 'kured' / 'kronos-handed-over'


class TestSentinel(base.RebootingTestCase):
    def setUp(self) -> None:
        super().setUp()
        if not shutil.which('curl'):
            self.skipTest('curl is not installed')

    def status(self, url: str, **more: str) -> int:
        config = self.folder / 'config'
        config.write_text(
            f'PROMETHEUS_URL={url}\nREBOOT_REQUIRED={self.required}\n'
        )
        return subprocess.run(
            [str(COMMAND)],
            env={'PATH': os.environ['PATH'], 'CONFIG': str(config), **more},
            stderr=subprocess.DEVNULL,
            timeout=120,
        ).returncode

    def test_handed_over(self) -> None:
        source = self.prometheus((200, 1))
        self.assertEqual(0, self.status(source.url))
        (query,) = source.queries
        self.assertIn(f'host="{base.NODE}",state="handed-over"', query)
        self.assertEqual(0, self.status(source.url, NOVA_HOST='cmp1.lan'))
        self.assertIn('host="cmp1.lan"', source.queries[1])

    def test_not_yet(self) -> None:
        self.assertEqual(1, self.status(self.prometheus((200, 0)).url))

    def test_done(self) -> None:
        """Prometheus is not even asked."""
        self.required.unlink()
        source = self.prometheus((200, 1))
        self.assertEqual(1, self.status(source.url))
        self.assertEqual([], source.queries)

    def test_no_answer(self) -> None:
        source = self.prometheus((503, 1))
        self.assertEqual(1, self.status(source.url))
        self.assertEqual(1, len(source.queries))
        self.assertEqual(1, self.status('http://127.0.0.1:1'))
        self.assertNotEqual(0, self.status(''))

    def test_values(self) -> None:
        values = yaml.safe_load((COMMAND.parent / 'values.yaml').read_text())
        command = values['configuration']['rebootSentinelCommand']
        self.assertEqual(f'/usr/local/bin/{COMMAND.name}', command)
        self.assertTrue(os.access(COMMAND, os.X_OK))
