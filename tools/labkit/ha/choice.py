# SPDX-License-Identifier: Apache-2.0
"""The choice of a lab with three of each node, and their names.

Standard library only.
"""

from labkit import layout

CHOSEN = layout.DATA / 'ha.json'
"""It is there with the data of a lab with three of each node."""
DATABASES = ('db1', 'db2', 'db3')
BROKERS = ('mq1', 'mq2', 'mq3')
PROXIES = ('haproxy', 'clustercheck')
"""The one in front of the databases, and its health check."""
DATABASE_PORTS = ('', '_group', '_ist', '_sst', '_check')
"""What the names of a database node's ports end in: for clients, for the
group, for what a node has missed, for all data, for the health check."""
BROKER_PORTS = ('', '_dist')
"""For clients, and for the other nodes."""
FRONTS = {'mariadb': 'db1', 'mariadb_2': 'db2', 'mariadb_3': 'db3'}
"""Ports of the proxy to the database node that each of them prefers."""
PORTS = (
    *(f'{name}{end}' for name in DATABASES for end in DATABASE_PORTS),
    *(f'{name}{end}' for name in BROKERS for end in BROKER_PORTS),
    *(name for name in FRONTS if name != 'mariadb'),
)
"""Those that only such a lab uses."""


def is_chosen() -> bool:
    """Whether the data of this lab is that of three nodes."""
    return CHOSEN.exists()


def brokers() -> tuple[str, ...]:
    """Names of the ports at which the message broker is."""
    return BROKERS if is_chosen() else ('rabbitmq',)


def write(chosen: bool) -> None:
    if chosen:
        layout.write_json(CHOSEN, {'databases': list(DATABASES)})
    else:
        CHOSEN.unlink(missing_ok=True)
