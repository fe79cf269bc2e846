# SPDX-License-Identifier: Apache-2.0
"""The artifacts of an audit: its report, and what it planned by."""

import datetime
import importlib.metadata
from collections.abc import Callable
from typing import Any

from oslo_log import log as logging

from kronos.recordings import store as recording_store
from kronos.recordings.recording import Recording
from kronos.reports import document as report_document
from kronos.reports import store as report_store
from kronos.reports.html import page
from kronos.strategies import audit

LOG = logging.getLogger(__name__)

PACKAGES = ('kronos-watcher', 'python-watcher')


def keep(
    result: audit.AuditResult,
    request: audit.AuditRequest,
    audit: Any,
    strategy: str,
    kronos: Any,
) -> None:
    """Write the report into ``[kronos] report_dir``.

    Its page too, with ``report_html``. Whatever goes wrong is logged and no
    matter to the audit.
    """
    now = datetime.datetime.now(datetime.UTC)
    try:
        about = _about(result, request, audit, strategy)
        document = report_document.document(
            result.report,
            {'created_at': now.isoformat(), **about},
            result.effects,
        )
        path = report_store.write(
            kronos.report_dir, document, kronos.report_keep, now
        )
    except Exception:
        LOG.exception('Audit %s: its report is lost', audit.uuid)
        return
    if path is None:
        return
    LOG.debug('Audit %s: the report is %s', audit.uuid, path)
    try:
        if kronos.report_html:
            _keep_page(path, document, audit)
    except Exception:
        LOG.exception('Audit %s: the page of its report is lost', audit.uuid)


def _keep_page(path: str, document: dict[str, Any], audit: Any) -> None:
    title = f'Kronos: audit {audit.name or audit.uuid}'
    beside = report_store.write_page(path, page.render(document, title))
    if beside:
        LOG.debug('Audit %s: the page is %s', audit.uuid, beside)


def recorder(
    audit: Any, strategy: str, kronos: Any
) -> Callable[[Recording], None]:
    """Keeps recordings in ``[kronos] record_dir``.

    Whatever goes wrong is logged and no matter to the audit.
    """

    def keep_one(recording: Recording) -> None:
        now = datetime.datetime.now(datetime.UTC)
        try:
            recording.strategy = strategy
            recording.made_by = f'{PACKAGES[0]} {_version(PACKAGES[0])}'
            path = recording_store.keep(
                kronos.record_dir,
                recording,
                audit.uuid,
                recording_store.Bounds(
                    kronos.record_keep, kronos.record_max_age
                ),
                now,
            )
        except Exception:
            LOG.exception('Audit %s: its recording is lost', audit.uuid)
            return
        if path:
            LOG.debug('Audit %s: the recording is %s', audit.uuid, path)

    return keep_one


def _about(
    result: audit.AuditResult,
    request: audit.AuditRequest,
    audit: Any,
    strategy: str,
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
        'policies_file': request.policies_file,
        'settings': report_document.settings(result.settings),
        'timings': result.timings,
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return 'unknown'
