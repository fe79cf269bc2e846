# SPDX-License-Identifier: Apache-2.0
"""All of a lab with three of each node: their start and their files."""

import concurrent.futures
import pathlib
import string

from labkit import layout, running, services, transport
from labkit.ha import brokers, choice, galera, proxy

CONFIGURATION = pathlib.Path(__file__).with_name('conf')
OF_WATCHER = layout.SECOND_CONTROLLER / 'ha.conf'
BROKER_OPTIONS = """
[oslo_messaging_rabbit]
rabbit_quorum_queue = true
rabbit_transient_quorum_queue = true
kombu_reconnect_delay = 0.5
"""
_CELL = "UPDATE cell_mappings SET transport_url = %s WHERE name = 'cell1'"


def table(ports: dict[str, int]) -> dict[str, services.Service]:
    """The nodes and the proxy, by name; none in another lab."""
    if not choice.is_chosen():
        return {}
    return galera.table(ports) | brokers.table(ports) | proxy.table(ports)


def nodes() -> tuple[str, ...]:
    """Names of the nodes; none in another lab."""
    if not choice.is_chosen():
        return ()
    return (*choice.DATABASES, *choice.BROKERS)


def chosen(ha: bool, is_kept: bool) -> bool:
    """Whether a lab is to have three of each node.

    :param ha: it was asked for
    :param is_kept: there is data, which is that of one lab or the other
    :raises running.LabError: the data is of a lab with one of each
    """
    if ha and is_kept and not choice.is_chosen():
        raise running.LabError(
            'the data is of one database and one broker; to begin anew with '
            'three of each, first: ./tools/lab wipe'
        )
    return ha or (is_kept and choice.is_chosen())


def write(ports: dict[str, int]) -> None:
    """Write what only such a lab has; what stayed of one goes."""
    if not choice.is_chosen():
        OF_WATCHER.unlink(missing_ok=True)
        return
    brokers.write(ports)
    proxy.write(ports)
    places = {
        'nova-controller-2.conf': layout.ETC / 'nova-controller-2.conf',
        'watcher-controller-2.conf': OF_WATCHER,
    }
    values = {'host': services.SECOND_HOST, 'port': ports['mariadb_2']}
    for name, place in places.items():
        template = string.Template((CONFIGURATION / name).read_text())
        place.write_text(template.substitute(values))


def start(ports: dict[str, int]) -> None:
    """Start the nodes and the proxy; data of one database is taken over."""
    alone = layout.DATA / 'mariadb'
    if alone.exists():
        galera.wipe()
        alone.rename(layout.DATA / choice.DATABASES[0])
    with concurrent.futures.ThreadPoolExecutor() as pool:
        messages = pool.submit(brokers.start, ports)
        galera.start(ports)
        for service in proxy.table(ports).values():
            service.start()
            service.wait()
        messages.result()
    with galera.connection(ports['mariadb'], 'nova_api') as cursor:
        cursor.execute(_CELL, [transport.template()])
