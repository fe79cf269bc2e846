# SPDX-License-Identifier: Apache-2.0
"""The part of a recovery in commands: what it would find to recover."""

from typing import Any

from kronos.clients import watcher
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.cmd.checks.parts import CommandPart
from kronos.cmd.credentials import Access
from kronos.engine.settings import Settings
from kronos.extensions.recovery.commands import failures
from kronos.extensions.recovery.failures import why_unknown
from kronos.extensions.recovery.readings import past_restarts
from kronos.extensions.recovery.readings.reader import RecoveryReader
from kronos.extensions.recovery.readings.recoveries import PastRestarts
from kronos.snapshots.cloud import CloudInventory


class RecoveryCommands(CommandPart):
    """What a recording keeps for a recovery; failures in test-config."""

    def reader(
        self, access: Access, conf: Any, settings: Settings
    ) -> RecoveryReader:
        def restarts(since: float) -> PastRestarts:
            client = watcher.find(access.session, conf.nova.region_name)
            return past_restarts.listed(client, since)

        return RecoveryReader.of(conf.kronos, settings, restarts)

    def doubts(self, gathered: CloudInventory) -> list[str]:
        return [*filter(None, [why_unknown(gathered.beside)])]

    def check_metrics(
        self,
        apis: Apis,
        prometheus: OncePrometheus,
        kronos: Any,
        findings: Findings,
    ) -> dict[str, Any]:
        rows = failures.check(apis, prometheus, kronos, findings)
        return {'failures': rows}
