# SPDX-License-Identifier: Apache-2.0
"""Do the options become the parameters of the audit, and no others?"""

import argparse
import pathlib
from typing import Any

import fixtures
from oslotest import base

from kronos.common import exceptions
from kronos.extensions.maintenance.client import start_request


class TestStartRequest(base.BaseTestCase):
    def parameters(self, **chosen: Any) -> dict[str, Any]:
        options = dict.fromkeys(start_request.OPTIONS) | {
            'host': [],
            'hosts_file': None,
            'run': 'r1',
            'no_reopen': False,
        }
        return start_request.parameters(argparse.Namespace(**options | chosen))

    def file(self, text: str) -> str:
        folder = self.useFixture(fixtures.TempDir()).path
        path = pathlib.Path(folder) / 'hosts'
        path.write_text(text)
        return str(path)

    def test_what_is_not_chosen_is_not_sent(self) -> None:
        self.assertEqual(
            {'hosts': ['h1'], 'run': 'r1'}, self.parameters(host=['h1'])
        )

    def test_all(self) -> None:
        raw = self.parameters(
            host=['h2'],
            hosts_file=self.file('# all\n h1 # first\n\nh2\n'),
            at_once='2',
            stopped='block',
            no_reopen=True,
        )
        self.assertEqual(
            {
                'hosts': ['h2', 'h1'],
                'run': 'r1',
                'at_once': '2',
                'stopped': 'block',
                'reopen': False,
            },
            raw,
        )
        spec = start_request.parsed(raw)
        self.assertEqual(
            (('h1', 'h2'), 2, False),
            (spec.hosts, spec.at_once, spec.reopen),
        )

    def test_bad_files(self) -> None:
        for path, expected in (
            ('/nowhere', 'No such file'),
            (self.file('# none\n'), 'it names no host'),
        ):
            error = self.assertRaises(
                exceptions.KronosException, self.parameters, hosts_file=path
            )
            self.assertIn(expected, str(error))

    def test_requests(self) -> None:
        raw = self.parameters(host=['h1'])
        fields = start_request.of(raw, '30').fields
        self.assertEqual(
            ('CONTINUOUS', '30', True, True, 'kronos_maintain', raw),
            tuple(
                fields[name]
                for name in (
                    'audit_type',
                    'interval',
                    'auto_trigger',
                    'force',
                    'strategy',
                    'parameters',
                )
            ),
        )
        self.assertRegex(fields['name'], r'^maintenance-r1-[0-9a-f]{8}$')
        look = start_request.of(raw, None).fields
        self.assertEqual(
            ('ONESHOT', False), (look['audit_type'], look['auto_trigger'])
        )
        self.assertNotIn('interval', look)

    def test_a_long_name(self) -> None:
        """Watcher would cut off what makes it unique."""
        raw = {'hosts': ['h1'], 'run': 'r' * 64}
        names = {start_request.of(raw, '60').name for _ in range(2)}
        self.assertEqual([2, 63, 63], [len(names), *map(len, names)])
