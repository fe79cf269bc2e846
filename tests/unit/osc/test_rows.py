# SPDX-License-Identifier: Apache-2.0
"""Does a row say what its column is for?"""

from typing import Any

from kronos.osc import audits, plans, rows
from tests.unit.osc import clouds


class TestPlans(clouds.CloudTestCase):
    def rows(self) -> list[dict[str, Any]]:
        result = rows.of_plans(
            plans.newest(self.client, 9), audits.Audits(self.client)
        )
        names = rows.PLAN + rows.MORE
        return [dict(zip(names, row, strict=True)) for row in result]

    def test_an_audit_speaks_of_its_last_plan(self) -> None:
        """Of the older ones it said something else, which is gone."""
        first, second = self.add_audit(1), self.add_audit(2)
        for number, audit in ((4, first), (3, second), (2, first)):
            self.add_plan(number, audit_uuid=audit)
        self.assertEqual(
            [
                ('audit-1', 'alpha: sentence 1'),
                ('audit-2', 'alpha: sentence 2'),
                ('audit-1', ''),
            ],
            [(x['Audit Name'], x['Audit Message']) for x in self.rows()],
        )

    def test_the_message_of_a_plan(self) -> None:
        self.add_plan(1, status_message='KRONOS: half\nof it')
        self.assertEqual('KRONOS: half?of it', self.rows()[0]['Plan Message'])

    def test_uuids(self) -> None:
        """People see what tells plans apart, programs see all."""
        audit = self.add_audit(1)
        for number in (1, 2):
            self.add_plan(number, audit_uuid=audit)
        row = self.rows()[-1]
        for column, uuid in (('UUID', clouds.uuid(1)), ('Audit', audit)):
            self.assertEqual(uuid, row[column].machine_readable())
            self.assertEqual(uuid[:8], row[column].human_readable())
