# SPDX-License-Identifier: Apache-2.0
"""The failures of a scope, as far as its hosts do not show them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kronos.common.names.name_marks import HostName, Text
from kronos.common.shell_commands import ShellCommand
from kronos.engine.types import Snapshot

NAME = 'recovery'
"""Of the extension."""
NOT_ASKED = (
    'the hosts at fault and the failed servers were not queried; '
    f'kronos_recover and {ShellCommand.RECORD} do'
)


@dataclass
class Failures:
    """What a snapshot, or an inventory, keeps for a recovery."""

    unknown: Text = ''
    """Why nobody knows which hosts are at fault by ``host_fault_query``, or
    which servers failed; '': it is known."""
    elsewhere: list[HostName] = field(default_factory=list)
    """Hosts of its aggregate that are no part of it, and are at fault or
    were closed by Kronos."""


def of(snapshot: Snapshot) -> Failures:
    """Those of a snapshot; of one that keeps none all is known."""
    failures = snapshot.beside.get(NAME)
    return failures if isinstance(failures, Failures) else Failures()


def why_unknown(beside: Mapping[str, object]) -> str:
    """Why an inventory does not tell what failed; '' if it does.

    :param beside: what extensions read into it
    """
    failures = beside.get(NAME, Failures(NOT_ASKED))
    return failures.unknown if isinstance(failures, Failures) else NOT_ASKED
