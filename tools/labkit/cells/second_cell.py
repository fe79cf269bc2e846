# SPDX-License-Identifier: Apache-2.0
"""The making of Nova's second cell by its own commands.

It is part of the data: a lab with another number of cells begins anew.
"""

import concurrent.futures

from labkit import (
    database,
    layout,
    running,
    services,
    topology,
    transport,
)
from labkit.cells import choice
from labkit.cells.choice import Choice
from labkit.ha import brokers
from labkit.ha import choice as ha_choice

MAPPED = "SELECT 1 FROM cell_mappings WHERE name = 'cell2'"


def chosen(cells: int | None, hosts: int | None) -> Choice | None:
    """What a lab is to have; None: one cell.

    :param cells: as asked for; None: as many as the data has
    :param hosts: of the first cell; None: as many as before, or all
    :raises running.LabError: the data that is there has another number
    """
    have = choice.read()
    if database.READY.exists():
        before = topology.more_hosts()
        if have is None and cells != 2 and hosts not in (None, before):
            raise running.LabError(
                f'the data is of {before} hosts, not of {hosts}; to begin '
                'anew, first: ./tools/lab wipe'
            )
        wanted = have
        if cells is not None:
            wanted = _wanted(cells, hosts or (have and have.hosts))
        if wanted != have:
            raise running.LabError(
                f'the data is of {_told(have)}, not of {_told(wanted)}; to '
                'begin anew, first: ./tools/lab wipe'
            )
        return have
    return _wanted(cells or 1, hosts)


def _wanted(cells: int, hosts: int | None) -> Choice | None:
    return Choice(hosts or choice.MOST) if cells == 2 else None


def _told(one: Choice | None) -> str:
    if one is None:
        return 'one cell'
    return f'two cells with {one.hosts} hosts in the first'


def prepare(ports: dict[str, int]) -> None:
    """Make the second cell unless it is there.

    After it was deleted as an operator does, it is made again, empty. No
    service of Nova runs yet: they keep in mind which cells there are.
    """
    link = database.connect(ports['mariadb'], 'nova_api')
    with link, link.cursor() as cursor:
        if cursor.execute(MAPPED):
            return
        name = choice.DATABASES[choice.SECOND]
        cursor.execute(f'DROP DATABASE IF EXISTS {name}')
        cursor.execute(f'CREATE DATABASE {name}')
    for host in choice.OLD_HOSTS:  # what they remember is not Nova's any more
        for file in (layout.DATA / 'nova' / host).glob('compute_id'):
            file.unlink()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        works = [pool.submit(_vhost, ports), pool.submit(_schema)]
        for work in works:
            work.result()
    manage(
        'cell_v2',
        'create_cell',
        f'--name={choice.SECOND}',
        '--database_connection',
        database.CELL_URL % choice.DATABASES[choice.SECOND],
        '--transport-url',
        transport.template(choice.VHOST),
    )


def manage(*arguments: str) -> str:
    """Run nova-manage with the main configuration; what it printed."""
    program = layout.program('nova-manage')
    return running.run(
        'nova-manage', [program, *services.nova_files(), *arguments]
    )


def _schema() -> None:
    files = (services.COMMON, 'nova-cell2.conf')
    running.run(
        'nova-manage-cell2',
        [
            layout.program('nova-manage'),
            *(f'--config-file={layout.ETC}/{name}' for name in files),
            *('db', 'sync', '--local_cell'),
        ],
    )


def _vhost(ports: dict[str, int]) -> None:
    """Give the cell a place of its own in the message broker."""
    everything = ('.*', '.*', '.*')
    for command in (
        ('add_vhost', choice.VHOST),
        ('set_permissions', '-p', choice.VHOST, 'guest', *everything),
    ):
        if ha_choice.is_chosen():
            brokers.control(ha_choice.BROKERS[0], ports, *command)
            continue
        program = services.rabbit_program('rabbitmqctl')
        running.run(
            'rabbitmqctl',
            [program, '-n', services.RABBIT_NODE, *command],
            **services.rabbit_environ(ports),
        )
