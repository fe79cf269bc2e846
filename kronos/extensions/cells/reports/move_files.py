# SPDX-License-Identifier: Apache-2.0
"""The files of moves to other cells: one for each, whole, beside the reports.

Losing one is no reason to fail a move: what goes wrong is logged.
"""

import datetime
import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from oslo_log import log as logging

from kronos.common import atomic_files
from kronos.reports import store

LOG = logging.getLogger(__name__)

PREFIX = '.kronos-cell-move-'
"""Of a file that is being written."""
MOVES = 100
"""So many are kept for each report: no plan has more."""
_RETENTION = atomic_files.Retention(
    own=re.compile(r'(kronos-cell-move-\d{8}T\d{6}\.\d{6}Z-[\w-]*)\.(?:json)'),
    unfinished=re.compile(rf'{re.escape(PREFIX)}\w{{8}}\.tmp'),
)


def write(
    directory: str,
    document: Mapping[str, Any],
    action: str,
    reports: int,
    now: datetime.datetime,
) -> str | None:
    """Write a move whole or not at all, and delete the oldest ones.

    :param document: of an action's evidence
    :param action: its uuid
    :param reports: how many reports stay in the directory
    :param now: aware of its time zone; it makes the name
    :returns: the path; None if that was not possible, with an error logged
    """
    stamp = now.astimezone(datetime.UTC).strftime('%Y%m%dT%H%M%S.%fZ')
    path = pathlib.Path(directory, f'kronos-cell-move-{stamp}-{action}.json')
    try:
        text = json.dumps(document, indent=2, allow_nan=False)
        atomic_files.replace(path, f'{text}\n', store.MODE, PREFIX)
    except (OSError, TypeError, ValueError) as error:
        LOG.error(
            'The evidence of action %s cannot be kept in report_dir %s: %s',
            action,
            directory,
            error,
        )
        return None
    try:
        _RETENTION.drop_old(path.parent, reports * MOVES, now)
    except OSError as error:
        LOG.warning(
            'Old evidence in report_dir %s cannot be deleted: %s',
            directory,
            error,
        )
    return str(path)
