# SPDX-License-Identifier: Apache-2.0
"""The parts of extensions in commands: what each asks a cloud, or checks."""

import argparse
from collections.abc import Callable, Collection, Mapping
from typing import Any

from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.cmd.credentials import Access
from kronos.common.plugins import extensions
from kronos.engine.settings import Settings
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.reader import Reader

Report = Callable[[str], None]


class CommandPart:
    """What an extension adds to commands; each answer is "nothing"."""

    def reader(self, access: Access, conf: Any, settings: Settings) -> Reader:
        """What a recording reads with the rest; else :meth:`record` asks."""
        return Reader()

    def doubts(self, gathered: CloudInventory) -> list[str]:
        """What an operator has to know before relying on a recording."""
        return []

    def record(
        self,
        gathered: CloudInventory,
        access: Access,
        conf: Any,
        report: Report,
    ) -> list[str]:
        """Ask a cloud for what it keeps in a recording.

        :param gathered: to which it is added
        :returns: what is not recorded of it, as sentences
        """
        return []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments to kronos-test-config."""

    def misuse(self, parsed: argparse.Namespace) -> str:
        """What is wrong with these arguments; '' if nothing."""
        return ''

    def check(
        self,
        parsed: argparse.Namespace,
        conf: Any,
        access: Access | None,
        apis: Apis,
        findings: Findings,
    ) -> dict[str, Any]:
        """Check what it depends on.

        :param access: None: nothing is asked
        :returns: keys of the report
        """
        return {}

    def check_metrics(
        self,
        apis: Apis,
        prometheus: OncePrometheus,
        kronos: Any,
        findings: Findings,
    ) -> dict[str, Any]:
        """The same of what Prometheus tells.

        :param kronos: the group ``[kronos]``
        """
        return {}

    def tables(
        self, report: Mapping[str, Any], width: int | None
    ) -> list[str]:
        """Its keys of the report for people."""
        return []


def every() -> Collection[CommandPart]:
    """Those of all extensions."""
    return extensions.parts('commands', CommandPart).values()
