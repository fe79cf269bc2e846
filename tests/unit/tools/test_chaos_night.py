# SPDX-License-Identifier: Apache-2.0
"""Does the report of a night tell what was done, judged and found?"""

import json
import pathlib
import sys
import types
from collections import Counter

from oslotest import base

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tools'))

from chaoskit import night  # noqa: E402
from chaoskit.facts import Finding, Look, Server  # noqa: E402

HOSTILE = '<script>alert(1)</script>'


def run(*findings, look=None):
    return types.SimpleNamespace(
        counts=Counter({'events': 9, 'not done': 2, 'runs of audits': 30}),
        findings=[*findings],
        last=look,
    )


class TestNight(base.BaseTestCase):
    def document(self, *findings):
        server = Server(
            's1', HOSTILE, 'cmp1', vm_state='active', task_state=''
        )
        look = Look(at=0.0, servers={'s1': server})
        document = night.document(
            run(*findings, look=look), 3, 5.0, './tools/chaos --seed 3'
        )
        json.dumps(document)
        return document

    def test_document(self):
        document = self.document(
            Finding('twice', 'a server is moved twice', 'a log'),
            Finding('rest', HOSTILE, 'a log', is_ours=False),
        )
        self.assertEqual(
            (9, 2, 30),
            tuple(
                document[key]
                for key in ('events', 'events_not_done', 'audit_runs')
            ),
        )
        self.assertEqual({'active': 1}, document['servers'])
        self.assertEqual({}, document['plans'])
        self.assertEqual(
            (1, 2), (document['violations'], len(document['findings']))
        )
        self.assertRegex(document['commit'], '^([0-9a-f]{12}|unknown)$')
        self.assertRegex(document['machine'], r'^\d+ processors')

    def test_nothing_was_seen(self):
        document = night.document(run(), 1, 5.0, 'again')
        self.assertEqual({}, document['actions'])

    def test_page(self):
        calm = self.document()
        other = self.document(Finding('rest', HOSTILE, 'a log', is_ours=False))
        page = night.page([calm, other])
        self.assertEqual(2, page.count('<td>3</td>'))
        self.assertIn('Nothing was found.', page)
        self.assertIn('Not of Kronos: rest: &lt;script&gt;', page)
        self.assertNotIn(HOSTILE, page)
        self.assertIn('9, 2 not done', page)
