# SPDX-License-Identifier: Apache-2.0
"""The check of all services, and the cloud's flavors and aggregates."""

import datetime
from typing import Any

from labkit import running, services, topology
from labkit.cells import choice
from labkit.cloud import Cloud

ON_DEMAND = services.ON_DEMAND
"""They tell that they live, too, if they run."""


def reporters() -> tuple[str, ...]:
    """Services that tell Nova or Watcher regularly that they live."""
    return (
        'nova-conductor',
        *([choice.CONDUCTOR] if choice.read() else ()),
        'nova-scheduler',
        *services.seconds(),
        'watcher-decision-engine',
        'watcher-applier',
        *(f'compute-{host}' for host in topology.HOSTS),
    )


def silent_services(
    cloud: Cloud, since: dict[str, datetime.datetime]
) -> set[str]:
    """Names of services that do not report.

    :param since: services whose report must be newer than that (UTC)
    """
    seen = computes(cloud)
    for row in cloud.watcher('/v1/services/detail')['services']:
        active = row['status'] == 'ACTIVE'
        name = row['name']
        if row['host'] == services.SECOND_HOST:
            name = f'{name}-2'
        seen[name] = row['last_seen_up'] if active else None
    return {
        name
        for name in {*reporters(), *ON_DEMAND}
        if not after(seen.get(name), since.get(name))
    }


def computes(cloud: Cloud) -> dict[str, str | None]:
    """When each of Nova's services reported; None: it is not up."""
    seen: dict[str, str | None] = {}
    for row in cloud.services():
        name = row['binary']
        if name == 'nova-compute':
            name = f'compute-{row["host"]}'
        elif row['host'] == choice.SECOND:
            name = choice.CONDUCTOR
        elif row['host'] == services.SECOND_HOST:
            name = f'{name}-2'
        # Up without an update: its row was made a moment ago.
        told = row['updated_at'] or _utc_now()
        seen[name] = told if row['state'] == 'up' else None
    return seen


def furnish(cloud: Cloud) -> None:
    """Make flavors, image and aggregates, where they are not yet."""
    running.wait_for(
        lambda: known_hosts(cloud) >= set(topology.HOSTS),
        60,
        'the scheduler to find all hosts',
    )
    _flavors(cloud)
    images = cloud.connection.image
    if images.find_image(topology.IMAGE) is None:
        images.create_image(
            topology.IMAGE,
            disk_format='raw',
            container_format='bare',
            visibility='public',
            data=b'\0' * 1024,
            validate_checksum=False,
        )
    have = {found.name: found for found in cloud.compute.aggregates()}
    for name, hosts in topology.AGGREGATES.items():
        aggregate = have.get(name)
        if aggregate is None:
            aggregate = cloud.compute.create_aggregate(name=name)
        there = set(hosts) & set(topology.HOSTS)
        for host in sorted(there - set(aggregate.hosts or [])):
            into(cloud, aggregate, host)


def known_hosts(cloud: Cloud) -> set[str]:
    """Hosts that are up and mapped to a cell: those that can be used."""
    answer = cloud.compute.get('/os-hypervisors/detail', microversion='2.53')
    return {
        row['service']['host']
        for row in answer.json()['hypervisors']
        if row['state'] == 'up'
    }


def into(cloud: Cloud, aggregate: Any, host: str) -> None:
    """Take a host into an aggregate, as soon as Nova knows it."""
    url = f'/os-aggregates/{aggregate.id}/action'
    body = {'add_host': {'host': host}}

    def added() -> bool:  # 404 until the scheduler has mapped the host
        answer = cloud.compute.post(url, json=body, microversion='2.81')
        return bool(answer.ok or answer.status_code == 409)

    what = f'{host} to be known to the cell'
    running.wait_for(added, 60, what, 0.5)


def _flavors(cloud: Cloud) -> None:
    have = cloud.flavors()
    for name, flavor in topology.FLAVORS.items():
        if name not in have:
            cloud.compute.create_flavor(
                name=name,
                vcpus=flavor.vcpus,
                ram=flavor.ram,
                disk=flavor.disk,
            )


def after(text: str | None, moment: datetime.datetime | None) -> bool:
    """Whether a report is newer than a moment.

    :param text: as Nova writes it
    """
    if not text:
        return False
    seen = datetime.datetime.fromisoformat(text).replace(tzinfo=None)
    # Reports have whole seconds: one of this second may be an older one.
    return moment is None or seen > moment


def _utc_now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat()
