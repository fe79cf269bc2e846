# SPDX-License-Identifier: Apache-2.0
"""Is each audit asked for once, and is one that is gone no error?"""

from kronos.common import exceptions
from kronos.osc import audits
from tests.unit.osc import clouds


class TestAudits(clouds.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.audits = audits.Audits(self.client)

    def test_once(self) -> None:
        uuid = self.add_audit()
        for _ in range(2):
            result = self.audits.get(uuid)
            self.assertEqual(
                ('audit-1', 'alpha: sentence 1'), (result.name, result.message)
            )
        self.assertEqual(1, len(self.watcher.requests))

    def test_one_that_was_deleted(self) -> None:
        self.assertEqual(
            audits.Audit(clouds.uuid(7)), self.audits.get(clouds.uuid(7))
        )

    def test_a_plan_without_one(self) -> None:
        self.assertEqual(audits.Audit(''), self.audits.get(''))
        self.assertEqual([], self.watcher.requests)

    def test_one_that_has_not_said_anything(self) -> None:
        uuid = self.add_audit(status_message=None, name=None)
        self.assertEqual(audits.Audit(uuid), self.audits.get(uuid))

    def test_other_errors_are_errors(self) -> None:
        self.watcher.refusal = 500, {}
        self.assertRaises(
            exceptions.ClientError, self.audits.get, clouds.uuid(1)
        )
