# SPDX-License-Identifier: Apache-2.0
"""The eligible hosts: which take part, and which are to be emptied."""

from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import ComputeService, Snapshot


def why_unavailable(service: ComputeService | None) -> Reason | None:
    """Why a host may not take part; None if it may.

    :param service: the host's row of os-services, None if it has none
    """
    found = faults(service)
    return found[0].worded(', '.join(found)) if found else None


def faults(service: ComputeService | None) -> list[Reason]:
    """All that keeps a host from taking part, by its row of os-services."""
    if service is None or service.binary != 'nova-compute':
        text = 'it has no nova-compute service'
        return [Reason(text, Code.HOST_NO_SERVICE)]
    if service.state is None:
        text = 'os-services gives no state for it: its cell is down'
        return [Reason(text, Code.HOST_CELL_DOWN)]
    found = []
    if service.forced_down:
        text = 'nova-compute is forced down'
        found.append(Reason(text, Code.HOST_FORCED_DOWN))
    elif service.state != 'up':
        text = f'nova-compute is {service.state}'
        found.append(Reason(text, Code.HOST_DOWN))
    if service.status != 'enabled':
        why = service.disabled_reason or 'no reason given'
        status = service.status or 'in an unknown status'
        text = f'nova-compute is {status} ({why})'
        found.append(Reason(text, Code.HOST_DISABLED))
    return found


def to_drain(snapshot: Snapshot, settings: Settings) -> dict[str, Reason]:
    """The hosts of the scope that instances are to leave, with the reason.

    Without ``drain_hosts`` these are the disabled ones. A host that is not
    up, or whose cell is not known, cannot be drained.
    """
    found: dict[str, Reason] = {}
    for host, service in _asked_for(snapshot, settings).items():
        if _why_undrainable(snapshot, host, service):
            continue
        # A host that may not take part is disabled, and up.
        found[host] = why_unavailable(service) or Reason(
            'it is being drained', Code.HOST_DRAINED
        )
    return found


def not_drained(snapshot: Snapshot, settings: Settings) -> dict[str, Reason]:
    """The hosts that are to be drained and cannot be, with the reason."""
    return {
        host: reason
        for host, service in _asked_for(snapshot, settings).items()
        if (reason := _why_undrainable(snapshot, host, service))
    }


def undrainable(snapshot: Snapshot, settings: Settings) -> list[str]:
    """What to warn of: hosts that cannot be drained, or not for long."""
    warnings = []
    for host, service in _asked_for(snapshot, settings).items():
        if reason := _why_undrainable(snapshot, host, service):
            there = sum(
                one.host == host for one in snapshot.instances.values()
            )
            warnings.append(
                f'host {host} is not drained: {reason}; its {there} '
                f'instance{"" if there == 1 else "s"} cannot be live-migrated'
            )
        elif service is not None and service.is_available:
            warnings.append(
                f'host {host} is drained but enabled: new servers may land '
                'on it; disable it'
            )
    return warnings


def _asked_for(
    snapshot: Snapshot, settings: Settings
) -> dict[str, ComputeService | None]:
    if not settings.evacuate or snapshot.services is None:
        return {}
    services = {
        host: snapshot.services.get(host) for host in sorted(snapshot.hosts)
    }
    if settings.drain_hosts is not None:
        wanted = set(settings.drain_hosts)
        return {name: one for name, one in services.items() if name in wanted}
    return {
        name: one
        for name, one in services.items()
        if one is not None and one.status == 'disabled'
    }


def _why_undrainable(
    snapshot: Snapshot, host: str, service: ComputeService | None
) -> Reason | None:
    """Why a host cannot be drained; None if it can, disabled or not."""
    if service is None or service.binary != 'nova-compute':
        return why_unavailable(service)
    if service.state != 'up' or service.forced_down:
        return why_unavailable(service)
    frozen = snapshot.hosts[host].frozen
    return Reason(frozen, Code.HOST_FROZEN) if frozen else None
