# SPDX-License-Identifier: Apache-2.0
"""The checks of the cloud: may the user do what Kronos does?

Each listing is asked for. A migration cannot be tried, so that is judged by
the roles of the user.
"""

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any

from kronos.clients import keystone, login, placement, rest
from kronos.clients.nova import api
from kronos.cmd.checks.cached_clients import OnceNova, OncePlacement
from kronos.cmd.checks.causes import services
from kronos.cmd.checks.findings import Cause, Findings, group
from kronos.cmd.credentials import Access, Identity
from kronos.cmd.screen import progress
from kronos.common import exceptions

ADMIN = 'admin'
GAINS = {
    (2, 84): 'why its scheduler refuses a migration',
    (2, 96): 'to which zone a server is pinned',
    (2, 98): 'the properties of the images',
}
"""What newer microversions of Nova tell."""
REMEDY_ROLE = (
    'give the user the role admin in its project, or allow {} to one of its '
    "roles in the service's policy.yaml"
)
REMEDY_LOGIN = 'correct the credentials: {}'
REMEDY_KEYSTONE = (
    'set auth_url to the address of Keystone itself, and see that Keystone '
    'answers there: {}'
)
REFUSED = frozenset({400, 401, 403, 404})
"""Statuses of a Keystone to which the credentials mean nothing."""


@dataclass
class Apis:
    """The services that answer; None: not this one."""

    nova: OnceNova | None = None
    placement: OncePlacement | None = None

    def host_names(self) -> set[str]:
        """Of all compute hosts; none where they are not known.

        The failure is a finding of the listing that :func:`check` tries.
        """
        if self.nova is None:
            return set()
        try:
            return {host.name for host in self.nova.list_compute_hosts()}
        except exceptions.NovaClientError:
            return set()


@dataclass
class _Probe:
    """One thing that planning reads."""

    what: str
    rule: str
    """Of the service's policy.yaml."""
    call: Callable[[], Sized]


def check(
    access: Access, require_headroom: bool, findings: Findings
) -> tuple[dict[str, Any], Apis]:
    """Log in and read each listing once.

    :param require_headroom: whether nothing is planned without Placement
    :returns: what was found, for the report, and the clients
    """
    progress.step('asking OpenStack')
    try:
        who = access.identity()
    except exceptions.ClientError as error:
        _login_failed(error, access.source, findings)
        return {'credentials': access.source, 'services': []}, Apis()
    _admin(who, findings)
    cloud = Apis()
    report = {
        'credentials': access.source,
        'user': who.user,
        'project': who.project,
        'roles': who.roles,
        'services': [
            _ask_nova(access, cloud, findings),
            _ask_placement(access, cloud, require_headroom, findings),
        ],
    }
    return report, cloud


def _login_failed(
    error: exceptions.ClientError, source: str, findings: Findings
) -> None:
    """The remedy is that of the finding, which the error need not repeat."""
    text = str(error)
    for remedy in (login.CORRECT, login.SEE, keystone.AUTH_URL):
        text = text.removesuffix(f'. {remedy}')
    is_refused = error.kwargs['status'] in REFUSED
    remedy = REMEDY_LOGIN if is_refused else REMEDY_KEYSTONE
    findings.error(
        'credentials',
        f'{text} (credentials: {source})',
        remedy.format(source),
        key=Cause.KEYSTONE,
    )


def _ask_nova(
    access: Access, cloud: Apis, findings: Findings
) -> dict[str, Any]:
    try:
        nova = OnceNova(
            access.clients.adapter('compute', exceptions.NovaClientError)
        )
        row = _nova(nova, findings)
    except exceptions.NovaClientError as error:
        return _away('nova', error, findings)
    cloud.nova = nova
    return row


def _ask_placement(
    access: Access, cloud: Apis, required: bool, findings: Findings
) -> dict[str, Any]:
    try:
        adapter = access.clients.adapter(
            'placement', exceptions.PlacementClientError
        )
        placement = OncePlacement(adapter)
        row = _placement(placement, adapter, required, findings)
    except exceptions.PlacementClientError as error:
        return _away('placement', error, findings)
    cloud.placement = placement
    return row


def _admin(who: Identity, findings: Findings) -> None:
    if ADMIN in who.roles or not who.user:
        return
    findings.warning(
        'permission-admin',
        f'user {who.user} has the roles {", ".join(who.roles) or "none"} in '
        f"project {who.project}, and not {ADMIN}: by Nova's defaults it may "
        'not name the host of a live migration, and is shown the server '
        'groups of its own project only. This is judged by the roles: it '
        'cannot be tried without migrating',
        REMEDY_ROLE.format(
            'os_compute_api:os-migrate-server:migrate_live:host, and '
            'context_is_admin,'
        ),
        key=Cause.PERMISSION,
    )


def _nova(nova: OnceNova, findings: Findings) -> dict[str, Any]:
    """:raises NovaClientError: it is away or too old"""
    used = nova.microversion
    _microversion(used, findings)
    probes = [
        _Probe(
            'compute services',
            'os_compute_api:os-services:list',
            nova.list_compute_services,
        ),
        _Probe(
            'hypervisors',
            'os_compute_api:os-hypervisors:list-detail',
            nova.list_compute_hosts,
        ),
        _Probe(
            'aggregates',
            'os_compute_api:os-aggregates:index',
            nova.list_aggregates,
        ),
        _Probe(
            'servers of all projects',
            'os_compute_api:servers:detail:get_all_tenants',
            nova.list_instances,
        ),
        _Probe(
            'server groups',
            'os_compute_api:os-server-groups:index:all_projects',
            nova.list_server_groups,
        ),
        _Probe(
            'migrations',
            'os_compute_api:os-migrations:index:all_projects',
            nova.list_unfinished_migrations,
        ),
    ]
    read = [_try('nova', probe, findings) for probe in probes]
    if nova.hidden:
        findings.error(
            'servers-hidden',
            f'Nova does not show the hosts of {nova.hidden} servers',
            REMEDY_ROLE.format('os_compute_api:os-extended-server-attributes')
            + ', unless a cell is down',
            key='servers-hidden',
            because=[Cause.PERMISSION],
        )
    return {
        'name': 'nova',
        'microversion': used,
        'needed': _dotted(api.MINIMUM),
        'reads': read,
    }


def _microversion(used: str, findings: Findings) -> None:
    major, minor = map(int, used.split('.'))
    lacking = [what for since, what in GAINS.items() if (major, minor) < since]
    if lacking:
        findings.warning(
            'microversion-old',
            f"Nova's newest microversion is {used}: it does not show "
            + ', '.join(lacking),
            f'upgrade Nova to one with {_dotted(api.WANTED)} or later',
        )


def _placement(
    client: OncePlacement,
    adapter: Any,
    require_headroom: bool,
    findings: Findings,
) -> dict[str, Any]:
    probe = _Probe(
        'inventories of the hosts',
        'placement:allocation_candidates:list and '
        'placement:resource_providers:list',
        client.headroom,
    )
    row = _try('placement', probe, findings, is_needed=require_headroom)
    microversion = newest(adapter, exceptions.PlacementClientError)
    return {
        'name': 'placement',
        'microversion': _dotted(microversion) if microversion else '',
        'needed': placement.MICROVERSION,
        'reads': [row],
    }


def newest(
    adapter: Any, kind: type[exceptions.ClientError]
) -> tuple[int, int] | None:
    """The newest microversion of a service; None if it does not tell.

    :param kind: of the service's errors
    """
    try:
        with rest.guarded(kind, 'its versions'):
            data = adapter.get_endpoint_data()
    except exceptions.ClientError:
        return None
    version = data.max_microversion if data else None
    return (version[0], version[1]) if version else None


def _try(
    service: str, probe: _Probe, findings: Findings, is_needed: bool = True
) -> dict[str, Any]:
    row = {'what': probe.what, 'rows': 0, 'error': ''}
    try:
        row['rows'] = len(probe.call())
    except exceptions.ClientError as error:
        row['error'] = str(error)
        report = findings.error if is_needed else findings.warning
        if error.kwargs['status'] == 403:
            report(
                'permission',
                f'the user may not read the {probe.what} ({probe.rule}): '
                f'{error}',
                REMEDY_ROLE.format(probe.rule),
                key=Cause.PERMISSION,
            )
        else:
            report(
                f'{service}-failed',
                f'the {probe.what} cannot be read: {error}',
                services.remedy(error),
                key=service,
            )
    return row


def _away(
    service: str, error: exceptions.ClientError, findings: Findings
) -> dict[str, Any]:
    findings.error(
        f'{service}-failed',
        str(error),
        services.remedy(error),
        key=service,
        because=[group('nova')],
    )
    return {'name': service, 'error': str(error), 'reads': []}


def _dotted(version: tuple[int, int]) -> str:
    return f'{version[0]}.{version[1]}'
