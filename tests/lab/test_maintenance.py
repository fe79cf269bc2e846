# SPDX-License-Identifier: Apache-2.0
"""A host is emptied, handed over, rebooted, and opened again."""

from typing import ClassVar

from kronos.extensions.maintenance.closing_reason import Step
from tests.lab import maintained
from tests.lab.maintained import NEW

from labkit import reboots, running  # isort: skip

HOST = 'cmp1'


class TestMaintenance(maintained.MaintainedTestCase):
    rack: ClassVar = (HOST, 'cmp2')
    limit: ClassVar = 200

    def test_one_host(self) -> None:
        """Its servers move once, to the host that is not to be done."""
        self.uuids = self.boot_each(2)
        audit = self.audit(
            f'hosts={HOST} run={self.run_name}',
            f'--audit_type CONTINUOUS --interval {maintained.SECONDS} '
            '--auto-trigger',
            'kronos_maintain',
        )
        self.addCleanup(
            self.openstack,
            f'optimize audit update {audit["UUID"]} replace state=CANCELLED',
        )
        self.wait(lambda: HOST in self.reasons(), 'the host to be closed')
        reason = self.reasons()[HOST]
        self.assertEqual(
            (self.run_name, audit['UUID']), (reason.run, reason.audit)
        )
        error = self.assertRaises(
            running.LabError, reboots.reboot, self.lab, [HOST], NEW
        )
        self.assertIn('servers run on what is to be rebooted', str(error))
        self.wait(self.is_handed_over, 'the host to be handed over')
        self.to_end(['cmp2'])
        self.assertEqual({HOST: 1}, {**self.rebooted})
        self.check_moves(2, 0)

    def is_handed_over(self) -> bool:
        return self.reasons()[HOST].step is Step.HANDED_OVER
