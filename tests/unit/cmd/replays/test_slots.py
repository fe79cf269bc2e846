# SPDX-License-Identifier: Apache-2.0
"""Does kronos-replay show how many more servers of each flavor fit?"""

import json
from typing import Any

from kronos.cmd import explain
from kronos.cmd.replays import slot_tables
from kronos.engine.types import Headroom
from kronos.recordings import writer
from tests import commands
from tests.builders import recordings
from tests.unit.cmd import test_replay, test_replay_recordings
from tests.unit.cmd.test_replay import run


class SlotsTestCase(test_replay_recordings.RecordingsTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = str(self.top / 'r')
        recording = recordings.small()
        hosts = recording.gathered.cloud.hosts
        for number, name in enumerate(sorted(hosts)):
            hosts[name].headroom = {
                'VCPU': Headroom(100, 91 + number % 2),
                'MEMORY_MB': Headroom(10**6, 0),
            }
        self.hosts = len(hosts)
        for instance in recording.gathered.instances:
            instance.flavor = 'f4'
            instance.vcpus, instance.memory_mb = 4, 1024
        odd = recording.gathered.instances[0]
        odd.flavor, odd.extra_specs = 'numa', {'hw:numa_nodes': '2'}
        writer.write(self.path, recording)


class TestSlots(SlotsTestCase):
    def test_table(self) -> None:
        code, out, err = run(self.path, '--slots')
        self.assertEqual((0, ''), (code, err))
        self.assertIn('by sum of free', out)
        self.assertRegex(out, r'(?m)^\S+ +f4 +\d+ +\d+ +\d+$')
        self.assertIn('Not counted: numa: its extra spec hw:numa_nodes', out)

    def test_document(self) -> None:
        """By hand: 9 or 8 free CPUs a host are two slots of 4."""
        document = self.document('--flavor', 'f4')
        self.assertEqual({}, document['not_counted'])
        row = document['slots'][0]
        self.assertEqual('f4', row['flavor'])
        self.assertEqual({2}, {*row['hosts'].values()})
        self.assertEqual(2 * len(row['hosts']), row['slots'])
        self.assertGreater(row['by_sum_of_free'], row['slots'] - 1)

    def document(self, *arguments: str) -> dict[str, Any]:
        code, out, _ = run(self.path, '--slots', *arguments, '-f', 'json')
        self.assertEqual(0, code)
        return dict(json.loads(out))

    def test_rows(self) -> None:
        _, out, _ = run(self.path, '--slots', '-f', 'csv')
        head, row, *_ = out.splitlines()
        self.assertEqual(
            'scope,flavor,slots,by_sum_of_free,hosts_with_slots', head
        )
        self.assertIn(',f4,', row)

    def test_unknown_flavor(self) -> None:
        code, _, err = run(self.path, '--slots', '--flavor', 'f44')
        self.assertEqual(1, code)
        self.assertIn('--flavor f44: no such flavor', err)
        self.assertIn('did you mean f4?', err)

    def test_no_flavors(self) -> None:
        code, _, err = run(test_replay.METRIC, '--slots')
        self.assertEqual(1, code)
        self.assertIn('does not contain the flavors', err)

    def test_misuse(self) -> None:
        for arguments, text in (
            (['--flavor', 'f4'], '--flavor requires --slots'),
            (['--slots', '--html', 'x'], 'neither --compare nor --html'),
            (['--slots', '--compare', 'x'], 'exactly one recording'),
        ):
            code, _, err = run(self.path, *arguments)
            self.assertEqual(2, code)
            self.assertIn(text, err)


class TestHost(SlotsTestCase):
    """Why a host has no more slots, by ``kronos-explain``."""

    def explain(self, *arguments: str) -> tuple[int, str, str]:
        return commands.run(explain.main, [self.path, *arguments])

    def test_explained(self) -> None:
        host = sorted(recordings.small().gathered.cloud.hosts)[0]
        question = ('--host', host, '--flavor', 'f4')
        code, out, err = self.explain(*question)
        self.assertEqual((0, ''), (code, err))
        self.assertIn(': 2 slots of f4', out)
        self.assertRegex(out, r'(?m)^VCPU +4 +9 +3$')
        _, out, _ = self.explain(*question, '-f', 'json')
        document = json.loads(out)
        self.assertEqual('slots', document['question'])
        [answer] = document['answers']
        self.assertEqual(2, answer['slots'])
        _, out, _ = self.explain(*question, '-f', 'csv')
        self.assertEqual(
            slot_tables.HEAD, tuple(out.splitlines()[0].split(','))
        )

    def test_refused(self) -> None:
        host = sorted(recordings.small().gathered.cloud.hosts)[0]
        for arguments, status, text in (
            (('--flavor', 'f4'), 2, '--flavor needs --host'),
            (('--host', host, '--flavor', 'f44'), 1, 'did you mean f4?'),
            (('--host', host, '--flavor', 'numa'), 1, 'hw:numa_nodes'),
        ):
            code, _, err = self.explain(*arguments)
            self.assertEqual(status, code)
            self.assertIn(text, err)
