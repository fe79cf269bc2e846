# SPDX-License-Identifier: Apache-2.0
"""The removal of what two cells keep of servers that are deleted."""

from typing import Any

from labkit import database, ports, running
from labkit.cells import choice, policy
from labkit.cloud import Cloud

COPY = '-resize-temp'
"""How the name of a snapshot ends by which Nova takes a server along."""
RESIZES = 'resize_'
"""How the task states of a server begin that Nova resizes or migrates."""
TABLES = """
    SELECT table_name FROM information_schema.columns
    WHERE table_schema = %s AND column_name = 'instance_uuid'
"""


def let_moves_end(cloud: Cloud) -> None:
    """Without rules, those that go to another cell do so in a minute.

    One that waits to be confirmed may be deleted. Nobody waits for one that
    is only busy, since its move has failed, nor for ever for one whose
    conductor was killed.
    """

    def still() -> bool:
        busy = [
            uuid
            for uuid, server in cloud.servers().items()
            if (server['OS-EXT-STS:task_state'] or '').startswith(RESIZES)
        ]
        return not any(
            row['status'] != 'error'
            for uuid in busy
            for row in cloud.migrations(instance_uuid=uuid)[:1]
        )

    try:
        running.wait_for(still, 60, 'moves to another cell to end', 0.5)
    except running.LabError as error:
        print(f'{error}; deleting the servers anyway')


def reset(cloud: Cloud) -> None:
    """Open the policy; drop what is left of servers that are deleted."""
    policy.write(is_open=True)
    for name in choice.databases():
        _drop_copies(name)
    images = cloud.connection.image
    for image in images.images():
        if image.name.endswith(COPY):
            images.delete_image(image)
    neutron = cloud.connection.network
    for port in neutron.get('/ports').json()['ports']:
        neutron.delete(f'/ports/{port["id"]}')


def _drop_copies(name: str) -> None:
    """Delete hidden servers, which no API of Nova shows."""
    link = database.connect(ports.load()['mariadb'], name)
    with link, link.cursor() as cursor:
        cursor.execute('SELECT uuid FROM instances WHERE deleted = 0')
        uuids = [row[0] for row in cursor.fetchall()]
        if uuids:
            drop_servers(cursor, name, uuids)


def drop_servers(cursor: Any, name: str, uuids: list[str]) -> None:
    """Delete all rows of servers in a cell's database."""
    cursor.execute(TABLES, (name,))
    tables = [row[0] for row in cursor.fetchall()]
    cursor.execute('SET FOREIGN_KEY_CHECKS = 0')
    for table in tables:
        cursor.execute(
            f'DELETE FROM `{table}` WHERE instance_uuid IN %s', (uuids,)
        )
    cursor.execute('DELETE FROM instances WHERE uuid IN %s', (uuids,))
    cursor.execute('SET FOREIGN_KEY_CHECKS = 1')
