# SPDX-License-Identifier: Apache-2.0
"""The store of past audits' recordings: where, and how many.

Losing a recording is no reason to fail an audit: what goes wrong is logged.
"""

import datetime
import os
import re
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.common import atomic_files
from kronos.common.exceptions import ArchiveError
from kronos.recordings import redaction, writer
from kronos.recordings.recording import Recording

LOG = logging.getLogger(__name__)

_STAMP = '%Y%m%dT%H%M%S.%fZ'
_NAME = 'kronos-recording-'
_RETENTION = atomic_files.Retention(
    own=re.compile(rf'({_NAME}\d{{8}}T\d{{6}}\.\d{{6}}Z-[\w-]*)'),
    unfinished=re.compile(rf'{re.escape(writer.PREFIX)}.*', re.DOTALL),
    prefix=writer.PREFIX,
    are_directories=True,
)
_DAY = datetime.timedelta(days=1)


@dataclass
class Bounds:
    """How many recordings stay, and for how many days."""

    count: int
    days: int


def keep(
    directory: str,
    recording: Recording,
    audit: str,
    bounds: Bounds,
    now: datetime.datetime,
) -> str | None:
    """Write a recording whole or not at all, and delete the old ones.

    :param audit: its uuid, which becomes part of the name
    :param bounds: of those in the directory, this one included
    :param now: aware of its time zone; it makes the name
    :returns: the path; None if that was not possible, with an error logged
    """
    name = re.sub(r'[^\w-]', '', audit)
    path = os.path.join(directory, f'{_stem(now)}-{name}')
    written = _written(path, recording, audit)
    try:
        # Also where there was no room for another one.
        oldest = _stem(now - bounds.days * _DAY)
        _RETENTION.drop_old(directory, bounds.count, now, oldest)
    except OSError as error:
        LOG.warning(
            'Old recordings in record_dir %s cannot be deleted: %s',
            directory,
            error,
        )
    return path if written else None


def _stem(moment: datetime.datetime) -> str:
    return f'{_NAME}{moment.astimezone(datetime.UTC).strftime(_STAMP)}'


def _written(path: str, recording: Recording, audit: str) -> bool:
    try:
        writer.write(path, redaction.redacted(recording))
    except (ArchiveError, ValueError) as error:
        LOG.error('The recording of audit %s is lost: %s', audit, error)
        return False
    return True
