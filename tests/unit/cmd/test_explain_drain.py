# SPDX-License-Identifier: Apache-2.0
"""Does an operator learn which servers a drain leaves, before draining?"""

import json
import pathlib
import shutil
from typing import Any

import fixtures

from kronos.cmd import explain
from tests import commands, golden, places
from tests.fakes.keystone import NOVA
from tests.unit.cmd.checking import SECRETS
from tests.unit.cmd.test_record import RecordTestCase

HOST = 'cmp09'


def answers(*arguments: str) -> list[dict[str, Any]]:
    code, out, err = commands.run(
        explain.main, [*arguments, '--format', 'json']
    )
    assert (code, err) == (0, ''), err
    document = json.loads(out)
    assert document['question'] == 'blockers'
    return list(document['answers'])


class TestRecorded(golden.GoldenTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder, 'r')
        shutil.copytree(places.EXAMPLES / 'pack', self.path)
        file = self.path / 'nova' / 'instances.json'
        rows = json.loads(file.read_text())
        servers = [row for row in rows if row['host'] == HOST]
        wishes = ['never', 'drain', 'often\x1b[31m', 'any', 'window']
        for row, wish in zip(servers, wishes, strict=True):
            row['metadata'] = {'kronos:consent': wish}
            row |= {'project_id': f'p-{wish[:5]}', 'locked': False}
        file.write_text(json.dumps(rows))
        self.never, self.drain, self.unknown = (
            row['uuid'] for row in servers[:3]
        )
        self.number = len(servers)

    def staying(self, *arguments: str) -> dict[str, dict[str, Any]]:
        [answer] = answers(str(self.path), '--blockers', HOST, *arguments)
        rows = {row['instance']: row for row in answer['blockers']}
        self.assertEqual(self.number, answer['instances'])
        self.assertEqual(len(rows), self.number - answer['leaving'])
        return rows

    def test_consent(self) -> None:
        rows = self.staying()
        self.assertEqual({self.never, self.unknown}, set(rows))
        self.assertEqual([], rows[self.never]['also'])
        self.assertEqual('p-never', rows[self.never]['project'])
        for row in rows.values():
            self.assertEqual('instance_consent', row['code'])
            self.assertIn('Let its owner', row['remedy'])

    def test_what_would_lift_it(self) -> None:
        arguments = '--set', 'consent=drain-overrides'
        self.assertEqual({}, self.staying(*arguments))
        [answer] = answers(str(self.path), '--blockers', HOST)
        then = answer['if_all_lifted']
        self.assertEqual(self.number, then['leaving'])
        self.assertEqual({}, self.staying(*then['try']))

    def test_table(self) -> None:
        arguments = str(self.path), '--blockers', HOST
        code, out, err = commands.run(explain.main, arguments)
        self.assertEqual((0, ''), (code, err))
        self.assertNotIn('\x1b', out)
        self.assert_golden('drain.txt', out)
        _, out, _ = commands.run(explain.main, [*arguments, '-f', 'csv'])
        head, *rows = out.splitlines()
        self.assertTrue(head.endswith('text,project,remedy'), head)
        self.assertEqual(2, len(rows))

    def test_budget(self) -> None:
        """That of the recorded audit is none of a drain, another is."""
        rows = self.staying('--max-migrations', '1')
        self.assertEqual(self.number - 1, len(rows))
        codes = {row['code'] for row in rows.values()}
        self.assertEqual({'instance_consent', 'budget_used'}, codes)

    def test_a_scope_that_stands_still(self) -> None:
        """Every server stays, and each says why."""
        (self.path / 'nova' / 'services.json').write_text('[]')
        rows = self.staying()
        self.assertEqual(self.number, len(rows))
        for row in rows.values():
            self.assertTrue(row['text'])

    def test_another_spelling(self) -> None:
        self.assertEqual(
            answers(str(self.path), '--blockers', HOST),
            answers(str(self.path), '--blockers', HOST.upper()),
        )

    def test_a_host_that_is_unknown(self) -> None:
        code, out, err = commands.run(
            explain.main, [str(self.path), '--blockers', 'cmp90']
        )
        self.assertEqual((1, ''), (code, out))
        self.assertIn('did you mean', err)

    def test_an_evacuation_that_drained_another(self) -> None:
        """The question is about this host alone, whatever was recorded."""
        path = str(places.EXAMPLES / 'drain')
        [answer] = answers(path, '--blockers', 'cmp01')
        self.assertEqual(
            {'cmp01'}, {step['source'] for step in answer['moves']}
        )


class TestLive(RecordTestCase):
    def ask(self, *arguments: str) -> tuple[int, str, str]:
        code, out, err = commands.run(
            explain.main, ['--live', '--config-file', self.conf(), *arguments]
        )
        for secret in SECRETS:
            self.assertNotIn(secret, out + err)
        return code, out, err

    def test_the_cloud_as_it_is(self) -> None:
        pinned = self.server('a1', metadata={'kronos:consent': 'never'})
        self.servers(pinned, self.server('a2'), self.server('a3'))
        code, out, err = self.ask('--blockers', 'a1', '-f', 'json')
        self.assertEqual((0, ''), (code, err))
        [answer] = json.loads(out)['answers']
        [row] = answer['blockers']
        self.assertEqual(
            ('u-a1', 'instance_consent'), (row['instance'], row['code'])
        )
        methods = {request.method for request in self.wire.request_history}
        self.assertLessEqual(methods, {'GET', 'POST'})
        sent = [
            request.url
            for request in self.wire.request_history
            if request.method == 'POST' and request.url.startswith(NOVA)
        ]
        self.assertEqual([], sent)

    def test_usage(self) -> None:
        for arguments in (
            ['--live', 'recording'],
            ['--live', '--blockers', 'a1', '--mode', 'spread'],
            ['recording', '--config-file', self.conf()],
            ['--blockers', 'a1'],
        ):
            code, out, _ = commands.run(explain.main, arguments)
            self.assertEqual((2, ''), (code, out), arguments)
