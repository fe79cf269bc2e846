# SPDX-License-Identifier: Apache-2.0
"""The eligible hosts: which take part, and which are to be emptied.

The scorecard, the constraint on the state of hosts, the explanation and the
pre-flight checks of a move all ask here.
"""

from collections.abc import Iterable, Sequence

from kronos.engine import wording
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import ComputeService, Host, Snapshot

CLOSING = frozenset(
    {Code.HOST_CLOSED, Code.HOST_EXCLUDED, Code.HOST_NO_PLACEMENT}
)
"""A host against which only these are said counts, and may give instances,
but takes none. Any other reason keeps it out of everything."""
OF_SERVICE = frozenset(
    {
        Code.HOST_NO_SERVICE,
        Code.HOST_CELL_DOWN,
        Code.HOST_FORCED_DOWN,
        Code.HOST_DOWN,
        Code.HOST_DISABLED,
        Code.HOST_NO_HYPERVISOR,
    }
)
"""What a row of os-services says, or that there is none."""
GAPS = frozenset({Code.HOST_NO_SAMPLE, Code.HOST_NO_CAPACITY})
"""That a policy lacks a value of it."""
BEING_DRAINED = 'it is being drained'


def reasons(
    snapshot: Snapshot,
    host: str,
    settings: Settings,
    gaps: Iterable[Reason] = (),
) -> list[Reason]:
    """All that keeps a host from taking any instance, in a fixed order.

    Fails closed: without its row in os-services it takes none.

    :param gaps: which values of policies it lacks, where that is known
    """
    if shut := why_shut(snapshot):
        return [shut]
    services = snapshot.services or {}
    about = snapshot.hosts[host]
    against = []
    if about.frozen:
        against.append(Reason(about.frozen, Code.HOST_FROZEN))
    against += of_service(services.get(host))
    if settings.evacuate and host in (settings.drain_hosts or []):
        against.append(Reason(BEING_DRAINED, Code.HOST_DRAINED))
    against += settings.extension.host_reasons(about, settings)
    against += gaps
    if about.closed:
        against.append(Reason(about.closed, Code.HOST_CLOSED))
    if excluded := why_excluded(about):
        against.append(excluded)
    if about.headroom is None and settings.require_headroom:
        text = 'Placement shows no inventory of it (require_headroom is set)'
        against.append(Reason(text, Code.HOST_NO_PLACEMENT))
    return against


def why_shut(snapshot: Snapshot) -> Reason | None:
    """Why the liveness gate is shut, so that no host takes part; or None."""
    if snapshot.services is None:
        text = 'the state of the compute services is unknown'
        return Reason(text, Code.SCOPE_NO_SERVICES)
    if snapshot.exclusions_unknown:
        text = f'the hosts at fault are unknown: {snapshot.exclusions_unknown}'
        return Reason(text, Code.SCOPE_EXCLUSIONS_UNKNOWN)
    return None


def why_excluded(host: Host) -> Reason | None:
    """Why ``exclude_hosts_query`` excludes a host; None if it does not."""
    if host.excluded is None:
        return None
    text = f'exclude_hosts_query gives {host.excluded:g} for it'
    return Reason(text, Code.HOST_EXCLUDED)


def is_older(version: int, other: int) -> bool:
    """Whether a hypervisor is older than another; an unknown one is not.

    :param version, other: of :attr:`.Host.hypervisor_version`
    """
    return 0 < version < other


def why_older(version: int, other: int) -> Reason | None:
    """Why no instance migrates live to a hypervisor; None if one may.

    :param version: of the destination
    :param other: of the source
    """
    if not is_older(version, other):
        return None
    text = (
        f'its hypervisor {version_text(version)} is older than that of the '
        f'source, {version_text(other)}'
    )
    return Reason(text, Code.HYPERVISOR_OLDER)


def version_text(number: int) -> str:
    """A version as people write it, such as 8.2.1."""
    return f'{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}'


def why_out(
    snapshot: Snapshot, host: str, settings: Settings
) -> Reason | None:
    """Why a host takes no part, whatever its metrics; None if it does.

    Of a host that is drained it is why.
    """
    against = reasons(snapshot, host, settings)
    is_out = any(reason.code not in CLOSING for reason in against)
    return _first(against) if is_out else None


def why_closed(
    snapshot: Snapshot, host: str, settings: Settings
) -> Reason | None:
    """The first reason why a host takes no instance; None if it may.

    Whatever the policies lack of it.
    """
    return _first(reasons(snapshot, host, settings))


def why_unavailable(service: ComputeService | None) -> Reason | None:
    """Why a nova-compute may not take part, in one sentence.

    :param service: its row of os-services, None if it has none
    :returns: None if it may
    """
    return _first(of_service(service))


def _first(against: Sequence[Reason]) -> Reason | None:
    """The first reason, joined with all others of the service's row."""
    if not against or against[0].code not in OF_SERVICE:
        return next(iter(against), None)
    row = [reason for reason in against if reason.code in OF_SERVICE]
    return against[0].worded(', '.join(row))


def of_service(
    service: ComputeService | None, place: str = ''
) -> list[Reason]:
    """The reasons against a host in its row of os-services, state first.

    :param place: what to call the host, where a sentence is to name it
    """
    if service is None or service.binary != 'nova-compute':
        text = f'{place or "it"} has no nova-compute service'
        return [Reason(text, Code.HOST_NO_SERVICE)]
    if service.state is None:
        text = (
            f'os-services returns no state for {place or "it"}: its cell is '
        )
        return [Reason(text + 'down', Code.HOST_CELL_DOWN)]
    compute = f'nova-compute on {place}' if place else 'nova-compute'
    against = []
    if service.forced_down:
        text = f'{compute} is forced down'
        against.append(Reason(text, Code.HOST_FORCED_DOWN))
    elif service.state != 'up':
        text = f'{compute} is {service.state}'
        against.append(Reason(text, Code.HOST_DOWN))
    if not service.has_hypervisor:
        text = f'{compute} has lost its hypervisor ({service.disabled_reason})'
        against.append(Reason(text, Code.HOST_NO_HYPERVISOR))
    elif service.status != 'enabled':
        why = service.disabled_reason or 'no reason given'
        status = service.status or 'in an unknown status'
        text = f'{compute} is {status} ({why})'
        against.append(Reason(text, Code.HOST_DISABLED))
    return against


def to_drain(snapshot: Snapshot, settings: Settings) -> dict[str, Reason]:
    """The hosts of the scope that instances are to leave, with the reason.

    Without ``drain_hosts`` these are the disabled ones, unless an extension
    names them. A host that is not up, that has lost its hypervisor, or whose
    cell is not known, cannot be drained.
    """
    by_host: dict[str, Reason] = {}
    for host, service in _asked_for(snapshot, settings).items():
        reason = why_out(snapshot, host, settings)
        if reason and not _why_undrainable(snapshot, host, service):
            by_host[host] = reason
    return by_host


def not_drained(snapshot: Snapshot, settings: Settings) -> dict[str, Reason]:
    """The hosts that are to be drained and cannot be, with the reason."""
    return {
        host: reason
        for host, service in _asked_for(snapshot, settings).items()
        if (reason := _why_undrainable(snapshot, host, service))
    }


def undrainable(snapshot: Snapshot, settings: Settings) -> list[str]:
    """What to warn of: hosts that cannot be drained, or not for long."""
    warnings, extension = [], settings.extension
    for host, service in _asked_for(snapshot, settings).items():
        if reason := _why_undrainable(snapshot, host, service):
            number = sum(
                instance.host == host
                for instance in snapshot.instances.values()
            )
            warnings.append(
                f'host {host} is not drained: {reason}; its '
                f'{wording.counted(number, "instance")} cannot '
                f'{extension.cannot}'
            )
        elif (
            service is not None
            and service.is_available
            and not extension.closes_hosts
        ):
            warnings.append(
                f'host {host} is drained but enabled: new servers may land '
                'on it; disable it'
            )
    return warnings


def _asked_for(
    snapshot: Snapshot, settings: Settings
) -> dict[str, ComputeService | None]:
    if not settings.evacuate or why_shut(snapshot):
        return {}
    rows = snapshot.services or {}
    services = {host: rows.get(host) for host in sorted(snapshot.hosts)}
    named = settings.extension.to_empty(snapshot, settings)
    if named is None:
        named = settings.drain_hosts
    if named is not None:
        names = set(named)
        return {
            name: service
            for name, service in services.items()
            if name in names
        }
    return {
        name: service
        for name, service in services.items()
        if service is not None and service.status == 'disabled'
    }


def _why_undrainable(
    snapshot: Snapshot, host: str, service: ComputeService | None
) -> Reason | None:
    """Why a host cannot be drained; None if it can, disabled or not."""
    if service is None or service.binary != 'nova-compute':
        return why_unavailable(service)
    if not service.is_up or not service.has_hypervisor:
        return why_unavailable(service)
    frozen = snapshot.hosts[host].frozen
    return Reason(frozen, Code.HOST_FROZEN) if frozen else None
