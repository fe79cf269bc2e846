# SPDX-License-Identifier: Apache-2.0
"""The store of past audits' reports: where, and how many.

Losing a report is no reason to fail an audit: what goes wrong is logged.
"""

import contextlib
import datetime
import json
import os
import pathlib
import re
import tempfile
from collections.abc import Mapping
from typing import Any

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

MODE = 0o640
_OWN = re.compile(r'(kronos-report-\d{8}T\d{6}\.\d{6}Z-[\w-]*)\.(json|html)')
"""Names of our own files; others are never deleted. A report and its page
have one stem."""
_UNFINISHED = re.compile(r'\.kronos-report-\w{8}\.tmp')
_DAY = datetime.timedelta(days=1)


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
        _write_whole(path, json.dumps(document, indent=2, allow_nan=False))
    except (OSError, ValueError) as error:
        LOG.error(
            'The report of audit %s cannot be kept in report_dir %s: %s',
            document['audit']['uuid'],
            directory,
            error,
        )
        return None
    try:
        _drop_oldest(path.parent, keep)
        _drop_unfinished(path.parent, now - _DAY)
    except OSError as error:
        LOG.warning(
            'Old reports in report_dir %s cannot be deleted: %s',
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
        _write_whole(beside, page)
    except (OSError, ValueError) as error:
        LOG.error('The page of report %s cannot be kept: %s', path, error)
        return None
    return str(beside)


def _write_whole(path: pathlib.Path, text: str) -> None:
    """Who reads the directory sees the whole file or none."""
    handle, temporary = tempfile.mkstemp(
        prefix='.kronos-report-', suffix='.tmp', dir=path.parent
    )
    try:
        with open(handle, 'w', encoding='utf-8') as file:
            os.fchmod(handle, MODE)
            file.write(f'{text}\n')
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _drop_oldest(directory: pathlib.Path, keep: int) -> None:
    own = [
        (found[1], name)
        for name in os.listdir(directory)
        if (found := _OWN.fullmatch(name))
    ]
    kept = set(sorted({stem for stem, _ in own})[-keep:])
    for stem, name in sorted(own):
        if stem not in kept:
            # Another decision engine may have been faster.
            (directory / name).unlink(missing_ok=True)


def _drop_unfinished(
    directory: pathlib.Path, before: datetime.datetime
) -> None:
    """Delete what a killed decision engine has left of its reports.

    Younger ones may be those of another one that is writing just now.
    """
    for name in os.listdir(directory):
        if not _UNFINISHED.fullmatch(name):
            continue
        with contextlib.suppress(FileNotFoundError):
            if (directory / name).stat().st_mtime < before.timestamp():
                (directory / name).unlink()
