# SPDX-License-Identifier: Apache-2.0
"""The databases, made once and copied the second time.

The first ``up`` creates schemas and users by the services' own commands and
keeps a copy of the result, the seed; later empty starts, of all labs of this
checkout, begin with it.
"""

import concurrent.futures
import contextlib
import fcntl
import hashlib
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import pymysql

from labkit import layout, mariadb, process, running, services, settings
from labkit import ports as kept_ports
from labkit.ha import choice, cluster

DATABASES = (
    'keystone',
    'placement',
    'glance',
    'nova_api',
    'nova_cell0',
    'nova_cell1',
    'watcher',
)
FOLDERS = ('mariadb', 'keystone')
READY = layout.DATA / 'ready'
SEED_KEY = layout.SEED / 'key'
SEED_PASSWORD = layout.SEED / 'password'
CELL_URL = '{scheme}://{username}@{hostname}:{port}/%s?charset=utf8'
"""A template of Nova's: no port is written into the database."""


def connect(port: int, database: str | None = None) -> Any:
    return pymysql.connect(
        host='127.0.0.1',
        port=port,
        user='root',
        database=database,
        autocommit=True,
    )


def start(ports: dict[str, int], origin: str) -> None:
    """Start MariaDB with everything in it that the services need.

    :param origin: what :func:`prepared` gave
    """
    server = services.mariadb_alone(ports)
    if origin == 'new':
        mariadb.install(layout.DATA / 'mariadb', layout.DATA)
        server.start()
        server.wait()
        _create(ports)
        process.stop([process.records()['mariadb']], patience=60)
        _keep_seed()
    if choice.is_chosen():
        cluster.start(ports)
    else:
        server.start()
        server.wait()
    READY.touch()


def create(ports: dict[str, int], name: str) -> None:
    """Make a database, where it is not yet."""
    with connect(ports['mariadb']) as link, link.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE IF NOT EXISTS {name}')


def wipe() -> None:
    """Remove all data; the seed stays."""
    shutil.rmtree(layout.DATA, ignore_errors=True)
    layout.make()


@contextlib.contextmanager
def prepared() -> Iterator[str]:
    """Remove what an interrupted start left; before any service starts.

    Whoever finds no seed makes it meanwhile, and other labs wait for it.

    :returns: where the data comes from: "kept", "seed" or "new"
    """
    if READY.exists():
        yield 'kept'
        return
    wipe()
    with (layout.HOME / 'seed.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (SEED_KEY.exists() and SEED_KEY.read_text() == _key()):
            yield 'new'
            return
        for folder in FOLDERS:
            shutil.copytree(layout.SEED / folder, layout.DATA / folder)
        # Keystone's users have it.
        shutil.copy(SEED_PASSWORD, settings.PASSWORD)
    yield 'seed'


def _key() -> str:
    """Of a seed: everything that what is in it depends on."""
    parts = [
        layout.COHORT.constraints.read_bytes(),
        pathlib.Path(__file__).read_bytes(),
        _version().encode(),
    ]
    return hashlib.sha256(b'\0'.join(parts)).hexdigest()


def _version() -> str:
    server = services.mariadb_alone(kept_ports.load()).command[0]
    return running.run('mariadb', [server, '--version'])


def _keep_seed() -> None:
    shutil.rmtree(layout.SEED, ignore_errors=True)
    for folder in FOLDERS:
        shutil.copytree(layout.DATA / folder, layout.SEED / folder)
    shutil.copy(settings.PASSWORD, SEED_PASSWORD)
    SEED_KEY.write_text(_key())


def _create(ports: dict[str, int]) -> None:
    with connect(ports['mariadb']) as link, link.cursor() as cursor:
        for name in DATABASES:
            cursor.execute(f'CREATE DATABASE {name}')
    with concurrent.futures.ThreadPoolExecutor() as pool:
        works = [
            pool.submit(_keystone, ports),
            pool.submit(_nova),
            pool.submit(_sync, 'placement', 'placement-manage', 'db', 'sync'),
            pool.submit(_sync, 'glance-api', 'glance-manage', 'db_sync'),
            pool.submit(_sync, 'watcher', 'watcher-db-manage', 'upgrade'),
        ]
        for work in works:
            work.result()


def _sync(config: str, program: str, *command: str) -> None:
    file = f'--config-file={layout.ETC}/{config}.conf'
    running.run(program, [layout.program(program), file, *command])


def _keystone(ports: dict[str, int]) -> None:
    def manage(*arguments: str) -> None:
        running.run(
            'keystone-manage',
            [
                layout.program('keystone-manage'),
                f'--config-file={layout.ETC}/keystone.conf',
                *arguments,
            ],
        )

    owner = ['--keystone-user=root', '--keystone-group=root']
    manage('db_sync')
    manage('fernet_setup', *owner)
    manage('credential_setup', *owner)
    url = f'http://127.0.0.1:{ports["keystone"]}/v3'
    manage(
        'bootstrap',
        f'--bootstrap-password={settings.password()}',
        f'--bootstrap-public-url={url}',
        f'--bootstrap-internal-url={url}',
        f'--bootstrap-admin-url={url}',
        '--bootstrap-region-id=RegionOne',
    )


def _nova() -> None:
    def manage(*arguments: str) -> None:
        running.run(
            'nova-manage',
            [
                layout.program('nova-manage'),
                *services.nova_files(),
                *arguments,
            ],
        )

    manage('api_db', 'sync')
    manage(
        'cell_v2',
        'map_cell0',
        '--database_connection',
        CELL_URL % 'nova_cell0',
    )
    manage('db', 'sync')
    manage(
        'cell_v2',
        'create_cell',
        '--name=cell1',
        '--database_connection',
        CELL_URL % 'nova_cell1',
        '--transport-url',
        'rabbit://{username}:{password}@{hostname}:{port}/',
    )
