# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config find windows that keep a scope closed?"""

from types import SimpleNamespace

from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.cmd.checks.causes import windows
from kronos.cmd.checks.findings import Findings


class TestWindows(base.BaseTestCase):
    def found(
        self,
        metadata: dict[str, str] | None = None,
        other: dict[str, str] | None = None,
        **options: list[str],
    ) -> dict[str, str]:
        kronos = SimpleNamespace(
            **{
                'windows': [],
                'freezes': [],
                'window_exempt': ['kronos_evacuate'],
                **options,
            }
        )
        aggregates = [
            HostAggregate(1, 'gpu', metadata=metadata or {}),
            HostAggregate(2, 'zone\n', metadata=other or {}),
        ]
        findings = Findings()
        windows.check(kronos, aggregates, ['gpu'], findings)
        return {item.code: item.text for item in findings.items}

    def test_good(self) -> None:
        self.assertEqual({}, self.found())
        self.assertEqual({}, self.found(windows=['Mon 01:00-02:00 UTC']))

    def test_unusable(self) -> None:
        for found in (
            self.found(windows=['Mon 01:00-02:00 Mars/Base']),
            self.found({'kronos:window': 'Mon 01:00-02:00 Mars/Base'}),
        ):
            self.assertIn('Mars/Base is not an', found['window-unusable'])

    def test_never_open(self) -> None:
        freeze = '2000-01-01/2999-12-31 UTC'
        found = self.found({'kronos:freeze': freeze})
        self.assertIn('of scope gpu', found['window-never-open'])
        found = self.found(freezes=[freeze])
        self.assertIn('3 years', found['window-never-open'])

    def test_unused(self) -> None:
        found = self.found(other={'kronos:window': 'Mon 01:00-02:00 UTC'})
        self.assertIn('kronos:window, but is no scope', found['window-unused'])
        self.assertTrue(found['window-unused'].isprintable())

    def test_unknown_strategy(self) -> None:
        found = self.found(window_exempt=['kronos_evaquate'])
        text = found['window-exempt-unknown']
        self.assertIn('kronos_evaquate', text)
