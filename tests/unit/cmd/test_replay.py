# SPDX-License-Identifier: Apache-2.0
"""Does the command plan a file, tell what it found, and exit rightly?"""

import csv
import io
import json
import re
import subprocess
import sys
from typing import Any

from kronos.cmd import replay
from tests import commands, golden, places

FIXTURES = places.CLUSTERS
METRIC = str(FIXTURES / 'metric-2.json')
EMPTY = str(FIXTURES / 'empty3q-0.json')


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout, stderr."""
    return commands.run(replay.main, arguments)


def plan(*arguments: str) -> dict[str, Any]:
    code, out, _ = run(*arguments, '--format', 'json')
    assert code == 0
    (scope,) = json.loads(out)['scopes']
    return dict(scope)


class TestReplay(golden.GoldenTestCase):
    def test_document(self) -> None:
        """Keys that programs read; they stay."""
        scope = plan(METRIC, '--max-migrations', '2')
        self.assertEqual('cluster', scope['name'])
        self.assertEqual('budget', scope['stopped'])
        self.assertIn('budget of 2 migrations', scope['reason'])
        self.assertLess(scope['combined_after'], scope['combined_before'])
        self.assertLess(scope['floor'], scope['combined_after'])
        self.assertEqual(2, len(scope['steps']))
        step = scope['steps'][0]
        self.assertLessEqual(
            {'instance', 'source', 'destination', 'phase', 'memory_mb'},
            set(step),
        )
        self.assertEqual('spread', step['phase'])
        self.assertEqual(
            sum(one['memory_mb'] for one in scope['steps']),
            scope['memory_mb'],
        )
        self.assertEqual(
            ['cpu', 'ram', 'net'],
            [policy['name'] for policy in scope['policies']],
        )
        self.assertEqual(
            len(scope['unmovable']), sum(scope['unmovable_reasons'].values())
        )

    def test_the_literal_rule(self) -> None:
        """Values of the literal greedy, found by another program."""
        table = [
            (METRIC, 5, 0.4530),
            (METRIC, 10, 0.4288),
            (EMPTY, 5, 0.7920),
            (EMPTY, 10, 0.3960),
        ]
        for path, number, expected in table:
            scope = plan(
                path, '--plain', '--exhaust', '--max-migrations', str(number)
            )
            with self.subTest(path=path, number=number):
                self.assertAlmostEqual(
                    expected, scope['combined_after'], delta=1e-4
                )

    def test_more_than_the_literal_rule(self) -> None:
        plain = plan(EMPTY, '--plain', '--max-migrations', '5')
        full = plan(EMPTY, '--max-migrations', '5')
        self.assertLess(full['combined_after'], 0.6 * plain['combined_after'])

    def test_default_budget(self) -> None:
        scope = plan(METRIC)
        self.assertEqual(3, len(scope['steps']))
        self.assertEqual(3, scope['certificate']['migrations'])

    def test_table(self) -> None:
        code, out, err = run(METRIC, '--max-migrations', '2')
        self.assertEqual((0, ''), (code, err))
        (proof,) = re.findall(r'(?m)^This plan removes at least .*\n', out)
        self.assertIn('that any plan of 2 migrations could remove', proof)
        # A solver may prove more where it has more time.
        self.assert_golden('table.txt', out, {proof: ''})

    def test_each_move_has_its_gain(self) -> None:
        code, out, _ = run(METRIC, '--max-migrations', '2', '-f', 'csv')
        head, *rows = csv.reader(io.StringIO(out))
        self.assertEqual(0, code)
        steps = plan(METRIC, '--max-migrations', '2')['steps']
        for row, step in zip(rows, steps, strict=True):
            result = dict(zip(head, row, strict=True))
            fell = step['combined_before'] - step['combined_after']
            self.assertEqual(f'{fell:+.4f}', result['gain'])
            self.assertEqual(step['instance'], result['instance'])
        memory = f' {int(rows[0][7]) / 1024:.1f} GiB '
        self.assertIn(memory, run(METRIC)[1])

    def test_unreadable_file(self) -> None:
        code, out, err = run('no-such-file.json')
        self.assertEqual((1, ''), (code, out))
        self.assertEqual(
            'kronos-replay: no-such-file.json: No such file or directory\n',
            err,
        )

    def test_usage(self) -> None:
        for arguments in (
            [],
            [METRIC, '--max-migrations', '0'],
            [METRIC, '--max-migrations', 'x'],
            [METRIC, '--format', 'xml'],
            [METRIC, '--nonsense'],
        ):
            with self.subTest(arguments=arguments):
                code, out, err = run(*arguments)
                self.assertEqual((2, ''), (code, out))
                self.assertIn('usage: kronos-replay', err)

    def test_the_option_of_kronos_openstack(self) -> None:
        code, _, err = run(METRIC, '--config-file', 'kronos.conf')
        self.assertEqual(2, code)
        self.assertIn('change an option with --set NAME=VALUE', err)

    def test_a_reader_that_goes_away(self) -> None:
        process = subprocess.Popen(
            [sys.executable, '-m', 'kronos.cmd.replay', EMPTY],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.close()
        _, err = process.communicate()
        self.assertEqual(b'', err)

    def test_neither_watcher_nor_nova_is_needed(self) -> None:
        """The command stands on the engine alone."""
        code = (
            'import sys\n'
            'for name in ("watcher", "nova", "openstack", "requests"):\n'
            '    sys.modules[name] = None\n'
            'from kronos.cmd import replay\n'
            f'sys.exit(replay.main([{METRIC!r}, "--format", "json"]))\n'
        )
        result = subprocess.run(
            [sys.executable, '-c', code], capture_output=True, check=False
        )
        self.assertEqual((0, b''), (result.returncode, result.stderr))
        self.assertIn('scopes', json.loads(result.stdout))
