# SPDX-License-Identifier: Apache-2.0
"""Is a change of a host the same notice, whoever tells of it?"""

import json
from dataclasses import replace

from oslotest import base

from kronos.extensions.maintenance.notices.notice import Event
from tests.unit.extensions.maintenance.notices.hooks import AUDIT, notice


class TestNotice(base.BaseTestCase):
    def test_document(self) -> None:
        self.assertEqual(
            {
                'schema': 'kronos.maintenance/1',
                'id': notice().id,
                'event': 'handed_over',
                'run': 'r',
                'host': 'h1',
                'state': 'handed-over',
                'scope': 'alpha',
                'since': '2001-09-09T01:46:40Z',
                'audit_uuid': AUDIT,
            },
            json.loads(notice().body),
        )

    def test_id(self) -> None:
        """Who tells of it does not matter; what happened does."""
        again = replace(notice(), scope='', audit='')
        self.assertEqual(notice().id, again.id)
        self.assertIsNone(again.document()['scope'])
        others = [
            notice(Event.CLOSED),
            notice(host='h2'),
            notice(since=1e9 + 1),
            replace(notice(), run='s'),
        ]
        ids = {row.id for row in [notice(), *others]}
        self.assertEqual(5, len(ids))

    def test_states(self) -> None:
        states = [event.state for event in Event]
        self.assertEqual(['emptying', 'handed-over', 'open'], states)
