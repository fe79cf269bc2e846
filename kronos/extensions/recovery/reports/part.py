# SPDX-License-Identifier: Apache-2.0
"""The part of a recovery in reports: what failed, and what starts again."""

from collections.abc import Mapping
from typing import Any, ClassVar

from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult
from kronos.extensions.recovery import failures, outcome
from kronos.extensions.recovery.outcome import Restart
from kronos.reports.parts import ReportPart, picked


class RecoveryReport(ReportPart):
    """What failed, and what is started again."""

    stops: ClassVar = {
        'failures_unknown': 'What failed is unknown',
        'too_many_at_fault': 'Too many hosts at fault',
    }
    sections: ClassVar = ('restarts.html',)

    def settings(self, settings: Settings) -> dict[str, Any]:
        return {'recover': settings.extension.name == failures.NAME}

    def scope(self, scope: AggregateResult) -> dict[str, Any]:
        return {
            'hosts_at_fault': dict(outcome.of(scope).hosts_at_fault),
            'failed_servers': dict(outcome.of(scope).failed_servers),
            'restarts': [
                picked(
                    restart,
                    'instance instance_name host destination attempt failure '
                    'failed_at stopped reason',
                )
                for restart in outcome.of(scope).restarts
            ],
        }

    def lines(
        self, scope: AggregateResult, uuids: wording.ShortUuids
    ) -> list[str]:
        restarts = outcome.of(scope).restarts
        return [_line(restart, uuids) for restart in restarts]

    def answer_lines(self, answer: Mapping[str, Any]) -> list[str]:
        """What becomes of one that failed."""
        row = answer['recovery']
        if row is None:
            return []
        if row['destination']:
            return [
                f'It is started again on {row["destination"]}: {row["text"]}'
            ]
        return [f'It failed, and is left alone: [{row["code"]}] {row["text"]}']


def _line(restart: Restart, uuids: wording.ShortUuids) -> str:
    label = uuids.named(restart.instance_name, restart.instance)
    where = f'on {restart.host}'
    if restart.is_elsewhere:
        where = f'{restart.host} -> {restart.destination}'
    return f'Restart: {label} {where}: {restart.reason}'
