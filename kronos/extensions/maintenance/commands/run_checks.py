# SPDX-License-Identifier: Apache-2.0
"""The checks of live runs: what slows them down?"""

from collections.abc import Iterable
from typing import Any

from oslo_config import cfg

from kronos.clients import rest, watcher
from kronos.cmd.checks.findings import Findings
from kronos.cmd.credentials import Access
from kronos.common import exceptions
from kronos.extensions.maintenance.client import runs
from kronos.extensions.maintenance.client.runs import Run


def check_live_runs(conf: Any, access: Access, findings: Findings) -> None:
    """Tell of those of a cloud that are slower than they may be."""
    try:
        client = watcher.find(access.session, conf.nova.region_name)
        rows = list(client.audits())
        live = [run for run in runs.of(rows) if run.is_live]
    except (exceptions.ClientError, cfg.Error):
        # That Watcher does not answer, its own checks say.
        return
    check_runs(live, rows, _workers(conf), findings)


def _workers(conf: Any) -> int | None:
    """None: it is not known."""
    try:
        workers: int | None = conf.watcher_applier.workers
    except (cfg.Error, ValueError):
        return None
    return workers


def check_runs(
    live: Iterable[Run],
    rows: Iterable[rest.Json],
    workers: int | None,
    findings: Findings,
) -> None:
    """Tell of live runs that are slower than they may be.

    :param rows: all audits of Watcher
    :param workers: plans that an applier carries out at a time; None: it is
        not known
    """
    forced = {row['uuid'] for row in rows if row.get('force', True)}
    for run in live:
        if run.audit.uuid not in forced:
            findings.warning(
                'maintenance-unforced',
                f'the audit of maintenance run {run.name} was created '
                'without --force: it is skipped as long as any action plan '
                'runs, and empties hosts one plan after another',
                'cancel the audit, and create one of the same run with '
                '--force',
            )
        elif workers is not None and workers < run.spec.at_once:
            findings.note(
                'maintenance-workers',
                f'[watcher_applier] workers = {workers} is less than at_once '
                f'= {run.spec.at_once} of maintenance run {run.name}, which '
                'takes longer',
                f'set workers to {run.spec.at_once} or more where '
                'watcher-applier runs, and restart it',
            )
