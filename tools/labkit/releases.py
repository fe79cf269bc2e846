# SPDX-License-Identifier: Apache-2.0
"""The kernel release and the hypervisor version of each host.

Standard library only. The exporter shows the releases to Prometheus, each
host's driver shows its version to Nova when it starts, and once a minute.
"""

import time
from dataclasses import asdict, dataclass, field

from labkit import layout

OLD = '6.1.0-1'
"""The release of all hosts at first."""
OLD_VERSION = 1000
"""Their hypervisor version, as Nova has it of its fake driver (1.0)."""


@dataclass(frozen=True)
class Release:
    """What a host has booted."""

    release: str = OLD
    """Of its kernel."""
    version: int = OLD_VERSION
    """Of its hypervisor, as Nova compares it."""
    booted: float = field(default_factory=time.time)
    """Unix seconds."""


def of(host: str, since: float = 0.0) -> Release:
    """What a host runs.

    :param since: Unix seconds: when it booted if nobody has rebooted it
    """
    row = layout.read_json(layout.RELEASES).get(host)
    return Release(booted=since) if row is None else Release(**row)


def write(host: str, booted: Release) -> None:
    """Let a host have booted that."""
    rows = layout.read_json(layout.RELEASES)
    layout.write_json(layout.RELEASES, {**rows, host: asdict(booted)})
