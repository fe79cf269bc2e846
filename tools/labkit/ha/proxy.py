# SPDX-License-Identifier: Apache-2.0
"""The proxy in front of the databases, and its health check.

Each port of it has another node first, and the others for when that one is
not to be used. Standard library only.
"""

import pathlib
import string
import urllib.error
import urllib.request

from labkit import layout, services
from labkit.ha import choice, packages

TEMPLATE = pathlib.Path(__file__).with_name('conf') / 'haproxy.cfg'
CONFIGURATION = layout.ETC / 'haproxy.cfg'
SOCKET = 'haproxy.sock'
"""Relative to the folder in which it runs: a socket's path must be short."""
PROXY, CHECK = choice.PROXIES
LOOK_SECONDS = 3


def table(ports: dict[str, int]) -> dict[str, services.Service]:
    """The proxy and its health check, by name."""
    pairs = [
        f'{ports[name]}:{ports[f"{name}_check"]}' for name in choice.DATABASES
    ]
    python = layout.program('python')
    return {
        CHECK: services.Service(
            CHECK,
            [python, '-m', 'labkit.ha.clustercheck', *pairs],
            lambda: all(look(name, ports) for name in choice.DATABASES),
            {'PYTHONPATH': str(layout.KIT.parent)},
        ),
        PROXY: services.Service(
            PROXY,
            [str(packages.PROXY), '-f', str(CONFIGURATION)],
            lambda: all(
                services.connects(ports[name]) for name in choice.FRONTS
            ),
            packages.environ(),
        ),
    }


def write(ports: dict[str, int]) -> None:
    """Write what the proxy reads when it starts."""
    listeners = '\n'.join(
        _listener(front, first, ports)
        for front, first in choice.FRONTS.items()
    )
    template = string.Template(TEMPLATE.read_text())
    CONFIGURATION.write_text(
        template.substitute(socket=SOCKET, listeners=listeners)
    )


def _listener(front: str, first: str, ports: dict[str, int]) -> str:
    """A port of the proxy; each node is checked for the first one alone."""
    lines = [f'listen {front}', f'    bind 127.0.0.1:{ports[front]}']
    checked = next(iter(choice.FRONTS))
    at_first = choice.DATABASES.index(first)
    names = (*choice.DATABASES[at_first:], *choice.DATABASES[:at_first])
    for name in names:
        health = f'track {checked}/{name}'
        if front == checked:
            health = f'check port {ports[f"{name}_check"]}'
        backup = '' if name == first else ' backup'
        server = f'server {name} 127.0.0.1:{ports[name]}'
        lines.append(f'    {server} {health}{backup}')
    return '\n'.join([*lines, ''])


def look(name: str, ports: dict[str, int]) -> str:
    """What the health check says of a node: its status and the node's state.

    :returns: '' if there is no health check
    """
    url = f'http://127.0.0.1:{ports[f"{name}_check"]}/'
    try:
        with urllib.request.urlopen(url, timeout=LOOK_SECONDS) as answer:
            return f'{answer.status} {answer.read().decode()}'.strip()
    except urllib.error.HTTPError as error:
        return f'{error.code} {error.read().decode()}'.strip()
    except OSError:
        return ''


def state(name: str, ports: dict[str, int]) -> str:
    """What "status" says of a database node beside its memory."""
    if name not in choice.DATABASES or not choice.is_chosen():
        return ''
    code, _, rest = look(name, ports).partition(' ')
    local, _, cluster = rest.partition(' ')
    if code == '200':
        return f'in use, group of {cluster.rpartition(" ")[2]}'
    if not local:
        return 'says nothing'
    return f'not in use, wsrep_local_state {local}, {cluster}'
