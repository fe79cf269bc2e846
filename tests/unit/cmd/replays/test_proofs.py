# SPDX-License-Identifier: Apache-2.0
"""Does kronos-replay check the proofs of its own report?"""

import json
from typing import Any

from kronos.engine.types import Headroom
from kronos.recordings import writer
from tests.builders import recordings
from tests.unit.cmd import test_replay_recordings
from tests.unit.cmd.test_replay import run

ROOM = ('--mode', 'make_room', '--parameter', 'flavors=f4=')


class TestCheckProof(test_replay_recordings.RecordingsTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.path = str(self.top / 'r')
        self.file = self.top / 'plan.json'
        recording = recordings.small()
        for host in recording.gathered.cloud.hosts.values():
            host.headroom = {
                'VCPU': Headroom(100, 99),
                'MEMORY_MB': Headroom(10**6, 0),
            }
        for instance in recording.gathered.instances:
            instance.flavor = 'f4'
            instance.vcpus, instance.memory_mb = 4, 1024
        writer.write(self.path, recording)

    def planned(self, number: int = 900) -> dict[str, Any]:
        code, out, err = run(self.path, *self.room(number), '-f', 'json')
        self.assertEqual((0, ''), (code, err))
        return dict(json.loads(out))

    def room(self, number: int) -> list[str]:
        return [*ROOM[:-1], f'{ROOM[-1]}{number}']

    def check(self, report: object, *options: str) -> tuple[int, str, str]:
        self.file.write_text(json.dumps(report))
        return run(
            self.path,
            *self.room(900),
            '--check-proof',
            str(self.file),
            *options,
        )

    def test_holds(self) -> None:
        code, out, err = self.check(self.planned())
        self.assertEqual((0, ''), (code, err))
        self.assertIn('"no number of migrations makes the wanted room"', out)
        _, out, _ = self.check(self.planned(), '-f', 'json')
        self.assertEqual(
            [True, True], [row['proven'] for row in json.loads(out)['proofs']]
        )
        _, out, _ = self.check(self.planned(), '-f', 'csv')
        self.assertEqual('scope,proven,result', out.splitlines()[0])

    def test_falsified(self) -> None:
        report = self.planned()
        certificate = report['scopes'][0]['room']['certificate']
        certificate['slots'] = {'f4': 1e-9}
        code, out, _ = self.check(report)
        self.assertEqual(1, code)
        self.assertIn('is not proven', out)
        for scope in report['scopes']:
            scope['room']['certificate'] = None
        code, out, _ = self.check(report)
        self.assertEqual(1, code)
        self.assertIn('no proof for this scope', out)

    def test_other_files(self) -> None:
        code, _, err = self.check({'scopes': [5]})
        self.assertEqual(1, code)
        self.assertIn('no report of a plan that makes room', err)
        code, _, err = run(self.path, '--check-proof', str(self.file))
        self.assertEqual(1, code)
        self.assertIn('the plans of this strategy have no proofs', err)

    def test_misuse(self) -> None:
        for option in ('--slots', '--html=x'):
            code, _, err = run(self.path, '--check-proof', 'x', option)
            self.assertEqual(2, code)
            self.assertIn('--check-proof requires exactly one', err)
