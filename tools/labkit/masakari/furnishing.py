# SPDX-License-Identifier: Apache-2.0
"""The database, user, endpoint and segment of Masakari."""

import shutil
from collections.abc import Collection
from typing import Any

from labkit import catalog, database, layout, running, settings
from labkit.masakari import services

USER, KIND = 'masakari', 'instance-ha'
SEGMENT = 'real'
PASTE = services.PLACE / 'etc' / 'masakari' / 'api-paste.ini'


def prepare(connection: Any, ports: dict[str, int]) -> None:
    """Make all that its services need, where it is not yet.

    :param connection: an openstacksdk connection of the administrator
    """
    services.FOLDER.mkdir(exist_ok=True)
    shutil.copy(PASTE, services.FOLDER)
    shutil.copy(layout.ETC / 'masakari.conf', services.FOLDER)
    url = f'http://127.0.0.1:{ports["masakari"]}/v1'
    catalog.ensure_service(
        connection.identity, KIND, USER, url, settings.password()
    )
    ready = layout.DATA / 'masakari' / 'ready'
    if not ready.exists():
        database.create(ports, USER)
        running.run(
            'masakari-manage',
            [services.program('masakari-manage'), *services.files()]
            + ['db', 'sync'],
            **services.environ(),
        )
        ready.parent.mkdir(exist_ok=True)
        ready.touch()


def furnish(connection: Any, hosts: Collection[str]) -> None:
    """Have it know these hosts: it refuses what is told of others."""
    ha = connection.instance_ha
    segment = next((one for one in ha.segments() if one.name == SEGMENT), None)
    if segment is None:
        segment = ha.create_segment(
            name=SEGMENT, recovery_method='auto', service_type='compute'
        )
    known = {one.name for one in ha.hosts(segment.uuid)}
    for host in sorted(set(hosts) - known):
        ha.create_host(
            segment.uuid,
            name=host,
            type='compute',
            control_attributes='none',
        )
