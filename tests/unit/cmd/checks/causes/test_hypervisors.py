# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config report hypervisors of several versions?"""

from oslotest import base

from kronos.cmd.checks.causes import hypervisors
from kronos.cmd.checks.findings import Findings
from kronos.engine.settings import Settings
from kronos.engine.types import Host, Snapshot


class TestHypervisors(base.BaseTestCase):
    def texts(self, *versions: int, is_checked: bool = True) -> list[str]:
        snapshot = Snapshot(
            'gpu\x1b',
            {
                f'h{number}': Host(f'h{number}', hypervisor_version=version)
                for number, version in enumerate(versions)
            },
            {},
            {},
        )
        settings = Settings(check_hypervisor_version=is_checked)
        findings = Findings()
        hypervisors.check([snapshot], settings, findings)
        self.assertTrue(findings.is_good)
        return [finding.text for finding in findings.items]

    def test_several(self) -> None:
        self.assertEqual(
            [
                'the hypervisors of scope gpu? have several versions: 7.2.22 '
                'on h1, 8.2.0 on h0, h3; Nova refuses live migrations to an '
                'older one'
            ],
            self.texts(8002000, 7002022, 0, 8002000),
        )

    def test_nothing_to_report(self) -> None:
        self.assertEqual([], self.texts(8002000, 8002000, 0))
        self.assertEqual([], self.texts(0, 0))
        self.assertEqual([], self.texts())
        self.assertEqual([], self.texts(7, 8, is_checked=False))
