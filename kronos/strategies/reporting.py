# SPDX-License-Identifier: Apache-2.0
"""What belongs to an audit's report beside the plan itself?"""

import datetime
import importlib.metadata
from dataclasses import asdict
from typing import Any

from oslo_log import log as logging

from kronos.engine import report
from kronos.snapshots import reports
from kronos.strategies import cycle

LOG = logging.getLogger(__name__)

PACKAGES = ('kronos-watcher', 'python-watcher')


def keep(
    result: cycle.Cycle,
    order: cycle.Order,
    audit: Any,
    strategy: str,
    kronos: Any,
) -> None:
    """Write the report where ``[kronos] report_dir`` asks for it.

    Whatever goes wrong is logged and no matter to the audit.
    """
    if not kronos.report_dir:
        return
    now = datetime.datetime.now(datetime.UTC)
    try:
        about = _about(result, order, audit, strategy)
        path = reports.write(
            kronos.report_dir,
            report.document(
                result.report, {'created_at': now.isoformat(), **about}
            ),
            kronos.report_keep,
            now,
        )
    except Exception:
        LOG.exception('Audit %s: its report is lost', audit.uuid)
        return
    if path:
        LOG.debug('Audit %s: the report is %s', audit.uuid, path)


def _about(
    result: cycle.Cycle, order: cycle.Order, audit: Any, strategy: str
) -> dict[str, Any]:
    return {
        'versions': {name: _version(name) for name in PACKAGES},
        'strategy': strategy,
        'audit': {
            'uuid': audit.uuid,
            'name': audit.name,
            'type': audit.audit_type,
            'parameters': dict(audit.parameters or {}),
            'scope': list(audit.scope or []),
        },
        'policies_file': order.policies_file,
        'settings': asdict(result.settings),
        'timings': result.timings,
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return 'unknown'
