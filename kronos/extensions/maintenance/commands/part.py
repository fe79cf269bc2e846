# SPDX-License-Identifier: Apache-2.0
"""The part of maintenance in commands."""

import argparse
from typing import Any

from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.cmd.checks.parts import CommandPart
from kronos.cmd.credentials import Access
from kronos.extensions.maintenance.commands import run_checks, webhook_checks
from kronos.extensions.maintenance.notices.signed_webhook import Address


class MaintenanceCommands(CommandPart):
    """It checks the webhook, and how wide live runs can be."""

    def check(
        self,
        parsed: argparse.Namespace,
        conf: Any,
        access: Access | None,
        apis: Apis,
        findings: Findings,
    ) -> dict[str, Any]:
        if conf.kronos.maintenance_webhook_url:
            address = Address.of(conf)
            webhook_checks.check_webhook(address, parsed.offline, findings)
        if access is not None:
            run_checks.check_live_runs(conf, access, findings)
        return {}
