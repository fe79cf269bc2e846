# SPDX-License-Identifier: Apache-2.0
"""The store of past audits' reports: where, and how many.

Losing a report is no reason to fail an audit: what goes wrong is logged.
"""

import datetime
import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from oslo_log import log as logging

from kronos.common import atomic_files

LOG = logging.getLogger(__name__)

MODE = 0o640
PREFIX = '.kronos-report-'
"""Of a file that is being written."""
_RETENTION = atomic_files.Retention(
    # A report and its page have one stem.
    own=re.compile(
        r'(kronos-report-\d{8}T\d{6}\.\d{6}Z-[\w-]*)\.(?:json|html)'
    ),
    unfinished=re.compile(rf'{re.escape(PREFIX)}\w{{8}}\.tmp'),
)


def write(
    directory: str,
    document: Mapping[str, Any],
    keep: int,
    now: datetime.datetime,
) -> str | None:
    """Write a report whole or not at all, and delete the oldest ones.

    :param document: of :func:`kronos.reports.document.document`, with the uuid
        of the audit under ``audit``, ``uuid``
    :param keep: how many reports stay in the directory, this one included
    :param now: aware of its time zone; it makes the name
    :returns: the path; None if that was not possible, with an error logged
    """
    stamp = now.astimezone(datetime.UTC).strftime('%Y%m%dT%H%M%S.%fZ')
    name = f'kronos-report-{stamp}-{document["audit"]["uuid"]}.json'
    path = pathlib.Path(directory, name)
    try:
        _write(path, json.dumps(document, indent=2, allow_nan=False))
    except (OSError, ValueError) as error:
        LOG.error(
            'The report of audit %s could not be written to report_dir %s: %s',
            document['audit']['uuid'],
            directory,
            error,
        )
        return None
    try:
        _RETENTION.drop_old(path.parent, keep, now)
    except OSError as error:
        LOG.warning(
            'Old reports in report_dir %s could not be deleted: %s',
            directory,
            error,
        )
    return str(path)


def write_page(path: str, page: str) -> str | None:
    """Write the page of a report beside it, whole or not at all.

    :param path: of the report, as :func:`write` returns it
    :param page: HTML that can be encoded as UTF-8
    :returns: the path of the page; None if that was not possible, with an
        error logged
    """
    beside = pathlib.Path(path).with_suffix('.html')
    try:
        _write(beside, page)
    except (OSError, ValueError) as error:
        LOG.error(
            'The page of report %s could not be written: %s', path, error
        )
        return None
    return str(beside)


def _write(path: pathlib.Path, text: str) -> None:
    atomic_files.replace(path, f'{text}\n', MODE, PREFIX)
