# SPDX-License-Identifier: Apache-2.0
"""The part of a recovery in commands: what it would find to recover."""

from typing import Any

from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.cloud import Cloud
from kronos.cmd.checks.findings import Findings
from kronos.cmd.checks.parts import CommandPart
from kronos.extensions.recovery.commands import failures


class RecoveryCommands(CommandPart):
    """What kronos-test-config tells of failures."""

    def check_metrics(
        self,
        cloud: Cloud,
        prometheus: OncePrometheus,
        kronos: Any,
        findings: Findings,
    ) -> dict[str, Any]:
        rows = failures.check(cloud, prometheus, kronos, findings)
        return {'failures': rows}
