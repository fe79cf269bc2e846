# SPDX-License-Identifier: Apache-2.0
"""The hosts at fault: which are closed, and when there are too many.

A host at fault takes no server any more, and those that are well leave it. If
many are at fault at once it is not they, but what they share: the storage or
the network. Then nothing is done, since moves would only add to the trouble.
Kronos never opens a host again, so those that it closed go on to count.
"""

from kronos.engine import wording
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Host, Snapshot
from kronos.extensions.recovery import failures
from kronos.extensions.recovery.options import RecoveryOptions

SHOWN = 5
"""Hosts that are named one by one."""


def why_at_fault(host: Host) -> Reason | None:
    """Why ``host_fault_query`` finds a host at fault; None if it does not."""
    if host.faulty is None:
        return None
    text = f'it is at fault: host_fault_query gives {host.faulty:g} for it'
    return Reason(text, Code.HOST_AT_FAULT)


def at_fault(snapshot: Snapshot) -> dict[str, Reason]:
    """The hosts at fault, with the reason, whatever becomes of them."""
    return {
        name: reason
        for name, host in sorted(snapshot.hosts.items())
        if (reason := why_at_fault(host))
    }


def why_stopped(snapshot: Snapshot, settings: Settings) -> Reason | None:
    """Why nothing may be recovered in a scope; None if it may."""
    failed = failures.of(snapshot)
    if failed.unknown:
        text = f'what to recover is unknown: {failed.unknown}'
        return Reason(text, Code.SCOPE_FAILURES_UNKNOWN)
    counted = {*at_fault(snapshot), *_closed(snapshot)}
    names = [*sorted(counted), *sorted(failed.elsewhere)]
    limit = settings.options(RecoveryOptions).max_closed_hosts
    if len(names) <= limit:
        return None
    text = (
        f'{len(names)} hosts are at fault or were closed by Kronos '
        f'({wording.some(names, SHOWN)}), and max_closed_hosts is {limit}: '
        'the likely cause is the storage or the network, so no host is closed'
    )
    return Reason(text, Code.SCOPE_TOO_MANY_AT_FAULT)


def to_close(snapshot: Snapshot, settings: Settings) -> dict[str, Reason]:
    """The hosts whose nova-compute is to be disabled, with the reason.

    Not one that is disabled, whoever did that, or of which nobody knows.
    """
    if why_stopped(snapshot, settings):
        return {}
    services = snapshot.services or {}
    return {
        name: reason
        for name, reason in at_fault(snapshot).items()
        if name in services and services[name].status == 'enabled'
    }


def to_empty(snapshot: Snapshot, settings: Settings) -> set[str]:
    """The hosts that servers are to leave: closed now, or by Kronos before."""
    if why_stopped(snapshot, settings):
        return set()
    return {*to_close(snapshot, settings), *_closed(snapshot)}


def _closed(snapshot: Snapshot) -> list[str]:
    services = snapshot.services or {}
    return sorted(
        name
        for name in snapshot.hosts
        if name in services and services[name].is_closed_by_kronos
    )
