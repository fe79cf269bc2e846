# SPDX-License-Identifier: Apache-2.0
"""The way of the lab's cloud back to nothing, whatever was done to it."""

import concurrent.futures
import time
from collections.abc import Collection

from labkit import database, layout, ports, running
from labkit.cells import choice
from labkit.cells import cleaning as cells
from labkit.cloud import Cloud

PARALLEL = 6
AGAIN_SECONDS = 20
"""When Nova is asked again to delete a server: a host that was stopped may
have missed it."""
NOVA = '2.100'
PLACEMENT = '1.36'
UNFINISHED = ('RECOMMENDED', 'PENDING', 'ONGOING')
FORGET_MIGRATIONS = """
    UPDATE migrations SET status = 'error' WHERE status NOT IN ('completed',
    'cancelled', 'failed', 'error', 'confirmed', 'reverted', 'done')
"""
FORGET_PLANS = """
    UPDATE action_plans SET state = 'CANCELLED'
    WHERE state IN ('ONGOING', 'CANCELLING', 'PENDING')
"""
OVERRIDES = (
    layout.DEMAND,
    layout.TRACE,
    layout.EXPORTER,
    layout.RELEASES,
    layout.MIGRATIONS,
    layout.NOVA_API,
    layout.NOVA_REQUESTS,
    layout.KRONOS,
    layout.SECOND_CONTROLLER / layout.KRONOS.name,
)


def reset(cloud: Cloud, closed: Collection[str] = ()) -> None:
    """No servers, groups, overrides, open audits; all hosts enabled.

    :param closed: hosts that stay disabled if they are
    """
    for file in OVERRIDES:
        file.unlink(missing_ok=True)
    _close_audits(cloud)
    for row in cloud.services():
        if row['binary'] == 'nova-compute':
            if row['status'] == 'disabled' and row['host'] not in closed:
                cloud.set_host(row['host'], True)
            if row['forced_down']:
                cloud.force_down(row['host'], False)
    _let_migrations_end(cloud)
    has_cells = choice.read() is not None
    if has_cells:
        cells.let_moves_end(cloud)
    _delete_servers(cloud)
    url = '/os-server-groups?all_projects=1&limit=1000'
    groups = cloud.compute.get(url, microversion=NOVA).json()
    for group in groups['server_groups']:
        cloud.compute.delete(f'/os-server-groups/{group["id"]}')
    _forget_migrations()
    free_allocations(cloud)
    if has_cells:
        cells.reset(cloud)


def _let_migrations_end(cloud: Cloud) -> None:
    """Without rules those that move do so in seconds.

    A server that is deleted meanwhile leaves things behind; one that only
    looks busy is not waited for.
    """

    def still() -> bool:
        return not [
            uuid
            for uuid, server in cloud.servers().items()
            if server['OS-EXT-STS:task_state'] == 'migrating'
            and cloud.under_way(uuid)
        ]

    try:
        running.wait_for(still, 60, 'migrations to end', 0.5)
    except running.LabError as error:
        print(f'{error}; deleting the servers anyway')


def _delete_servers(cloud: Cloud) -> None:
    asked: dict[str, float] = {}

    def delete(uuid: str) -> None:
        asked[uuid] = time.monotonic()
        cloud.compute.delete(f'/servers/{uuid}', microversion=NOVA)

    def gone() -> bool:
        servers = cloud.servers()
        # Nova does all the work again for one that it deletes already.
        late = time.monotonic() - AGAIN_SECONDS
        due = [
            uuid
            for uuid, server in servers.items()
            if server['OS-EXT-STS:task_state'] != 'deleting'
            or asked.get(uuid, 0.0) < late
        ]
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            list(pool.map(delete, due))
        return not servers

    running.wait_for(gone, 180, 'servers to be deleted', 0.5)


def _forget_migrations() -> None:
    """Close records that a killed compute has left open for ever.

    Nova has no call for that; no server is left to which they belong.
    """
    for name in choice.databases():
        _in_database(name, FORGET_MIGRATIONS)


def free_allocations(cloud: Cloud) -> None:
    """Drop what deleted servers have left in Placement."""
    placement = cloud.connection.placement
    for provider in cloud.providers():
        url = f'/resource_providers/{provider}/allocations'
        document = placement.get(url, microversion=PLACEMENT).json()
        for consumer in document['allocations']:
            placement.delete(f'/allocations/{consumer}')


def _close_audits(cloud: Cloud) -> None:
    cancelled = [{'op': 'replace', 'path': '/state', 'value': 'CANCELLED'}]
    for audit in cloud.watcher('/v1/audits')['audits']:
        if audit['state'] in ('PENDING', 'ONGOING', 'SUSPENDED'):
            url = f'/v1/audits/{audit["uuid"]}'
            # Refused if it ended meanwhile, which is as good.
            cloud.watcher(url, 'patch', json=cancelled, raise_exc=False)
    for plan in cloud.watcher('/v1/action_plans')['action_plans']:
        if plan['state'] in UNFINISHED:
            ongoing = plan['state'] == 'ONGOING'
            value = 'CANCELLING' if ongoing else 'CANCELLED'
            change = [{'op': 'replace', 'path': '/state', 'value': value}]
            url = f'/v1/action_plans/{plan["uuid"]}'
            cloud.watcher(url, 'patch', json=change, raise_exc=False)

    def quiet() -> bool:
        plans = cloud.watcher('/v1/action_plans')['action_plans']
        busy = ('ONGOING', 'CANCELLING', 'PENDING')
        return not [plan for plan in plans if plan['state'] in busy]

    try:
        running.wait_for(quiet, 120, 'action plans to end', 0.5)
    except running.LabError:
        # Their applier was killed: those being cancelled stay so for ever.
        _in_database('watcher', FORGET_PLANS)
        running.wait_for(quiet, 10, 'forgotten action plans', 0.5)


def _in_database(name: str, change: str) -> None:
    link = database.connect(ports.load()['mariadb'], name)
    with link, link.cursor() as cursor:
        cursor.execute(change)
        link.commit()
