# SPDX-License-Identifier: Apache-2.0
"""Does an extension that adds nothing to commands leave them as they are?"""

import argparse

from oslotest import base

from kronos.cmd.checks import parts
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.cmd.checks.parts import CommandPart


class TestCommandPart(base.BaseTestCase):
    def test_nothing_is_added(self) -> None:
        part, parsed = CommandPart(), argparse.Namespace()
        findings, apis = Findings(), Apis()
        prometheus = OncePrometheus(None)  # type: ignore[arg-type]
        self.assertEqual('', part.misuse(parsed))
        self.assertEqual([], part.tables({}, None))
        self.assertEqual({}, part.check(parsed, None, None, apis, findings))
        self.assertEqual(
            {}, part.check_metrics(apis, prometheus, None, findings)
        )
        parser = argparse.ArgumentParser()
        before = parser.format_help()
        part.add_arguments(parser)
        self.assertEqual(before, parser.format_help())

    def test_those_of_kronos(self) -> None:
        for part in parts.every():
            self.assertIsInstance(part, CommandPart)
            self.assertEqual([], part.tables({}, None))
