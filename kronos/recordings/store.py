# SPDX-License-Identifier: Apache-2.0
"""The store of past audits' recordings: where, and how many.

Losing a recording is no reason to fail an audit: what goes wrong is logged.
"""

import contextlib
import datetime
import os
import pathlib
import re
import shutil
import uuid
from dataclasses import dataclass

from oslo_log import log as logging

from kronos.common.exceptions import ArchiveError
from kronos.recordings import redaction, writer
from kronos.recordings.recording import Recording

LOG = logging.getLogger(__name__)

_STAMP = '%Y%m%dT%H%M%S.%fZ'
_OWN = re.compile(r'kronos-recording-(\d{8}T\d{6}\.\d{6}Z)-[\w-]*')
"""Names of our own directories; others are never deleted."""
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
    stamp = now.astimezone(datetime.UTC).strftime(_STAMP)
    name = re.sub(r'[^\w-]', '', audit)
    path = os.path.join(directory, f'kronos-recording-{stamp}-{name}')
    written = _written(path, recording, audit)
    try:
        # Also where there was no room for another one.
        _drop_old(pathlib.Path(directory), bounds, now)
        _drop_unfinished(pathlib.Path(directory), now - _DAY)
    except OSError as error:
        LOG.warning(
            'Old recordings in record_dir %s cannot be deleted: %s',
            directory,
            error,
        )
    return path if written else None


def _written(path: str, recording: Recording, audit: str) -> bool:
    try:
        writer.write(path, redaction.redacted(recording))
    except (ArchiveError, ValueError) as error:
        LOG.error('The recording of audit %s is lost: %s', audit, error)
        return False
    return True


def _drop_old(
    directory: pathlib.Path, bounds: Bounds, now: datetime.datetime
) -> None:
    own = sorted(
        path
        for path in directory.iterdir()
        if _OWN.fullmatch(path.name) and _is_ours(path)
    )
    oldest = (now - bounds.days * _DAY).astimezone(datetime.UTC)
    for at, path in enumerate(own):
        made = _OWN.fullmatch(path.name)
        too_old = made is not None and made[1] < oldest.strftime(_STAMP)
        if too_old or at < len(own) - bounds.count:
            _drop(path)


def _drop(path: pathlib.Path) -> None:
    """Nobody sees half of a recording, also while it is deleted."""
    hidden = path.with_name(f'{writer.PREFIX}{uuid.uuid4().hex}')
    # Another decision engine may have been faster.
    with contextlib.suppress(FileNotFoundError):
        os.rename(path, hidden)
        shutil.rmtree(hidden)


def _drop_unfinished(
    directory: pathlib.Path, before: datetime.datetime
) -> None:
    """Delete what a killed decision engine has left of its recordings.

    Younger ones may be those of another one that is writing just now.
    """
    for path in directory.glob(f'{writer.PREFIX}*'):
        with contextlib.suppress(FileNotFoundError):
            if _is_ours(path) and path.stat().st_mtime < before.timestamp():
                shutil.rmtree(path)


def _is_ours(path: pathlib.Path) -> bool:
    return path.is_dir() and not path.is_symlink()
