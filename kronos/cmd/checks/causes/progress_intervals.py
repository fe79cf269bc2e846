# SPDX-License-Identifier: Apache-2.0
"""The intervals between two writes of a migration's progress, if too long.

A standstill is told by figures that stay as they were. If nova-compute writes
them too seldom, a migration that goes on looks the same.
"""

import math
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg

from kronos.cmd.checks.findings import Findings
from kronos.common import plain_text
from kronos.engine.types import Origin, Snapshot

GROUP, NAME = 'libvirt', 'live_migration_monitor_interval'
CODE = 'monitor-interval'
RUNNING = 'running'
"""The status of a live migration that sends data."""

OPTS = [cfg.StrOpt(NAME)]
"""Nova's own option since its release 34, as its file has it."""


def register_opts(conf: Any) -> None:
    conf.register_opts(OPTS, group=GROUP)


def check_option(
    of_nova: Any, stall_timeout: float, findings: Findings
) -> None:
    """Check the interval in a nova.conf, if it has one.

    :param of_nova: Nova's configuration, with :func:`register_opts`
    :param stall_timeout: seconds; 0: standstills do not matter
    """
    text = of_nova[GROUP][NAME]
    if text is None:
        return
    value = plain_text.line(text)
    seconds = _seconds(text)
    if seconds is None or seconds <= 0:
        findings.error(
            CODE,
            f'[{GROUP}] {NAME} = {value} in nova.conf is no positive number: '
            'nova-compute could not follow its live migrations',
            'set it to 5, the default, and restart nova-compute',
        )
    elif stall_timeout and seconds > stall_timeout / 2:
        findings.warning(
            CODE,
            f'[{GROUP}] {NAME} = {value} in nova.conf is more than half of '
            f'stall_timeout = {stall_timeout:g}: a migration that makes '
            'progress can look stalled',
            f'set {NAME} to {stall_timeout / 2:g} or less, or raise '
            'stall_timeout in [kronos]',
        )


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None


def check(
    snapshots: Sequence[Snapshot], stall_timeout: float, findings: Findings
) -> None:
    """Check when Nova last wrote the progress of what moves now.

    :param stall_timeout: as for :func:`check_option`
    """
    silent = {
        event.instance: snapshot.taken_at - event.at
        for snapshot in snapshots
        for event in snapshot.events
        if event.origin is Origin.NOVA and event.status == RUNNING
    }
    longest = max(silent, key=silent.__getitem__, default=None)
    if longest is None or not stall_timeout:
        return
    seconds = silent[longest]
    if seconds <= stall_timeout / 2:
        return
    findings.warning(
        CODE,
        f'Nova last wrote the progress of the live migration of {longest} '
        f'{seconds:.0f} s ago, and stall_timeout is {stall_timeout:g} s: a '
        'migration that makes progress can look stalled',
        f'if nova-compute writes it so seldom, set {NAME} in its nova.conf '
        f'to {stall_timeout / 2:g} or less',
    )
