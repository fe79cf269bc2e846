# SPDX-License-Identifier: Apache-2.0
"""Three RabbitMQ nodes that are one message broker.

Standard library only.
"""

import contextlib
import json
import pathlib
import secrets
import shutil
import string

from labkit import layout, running, services
from labkit.ha import choice

CONFIGURATION = pathlib.Path(__file__).with_name('conf') / 'rabbitmq.conf'
COOKIE = layout.DATA / 'mq-cookie'
"""Nodes with the same one let each other in."""
FOREIGN = 'cut-off'
"""Of a node that is cut off."""
START_SECONDS = 180.0
_CUT = (
    "spawn(fun() -> timer:sleep(300), erlang:set_cookie(node(), '{}'), "
    '[erlang:disconnect_node(N) || N <- nodes()] end), ok.'
)
"""After the command has ended, whose connection is cut, too."""
_ALL = '1000000GB'
"""So much has to be free on the disk of a node that is to look full."""
_ROOM = 'catch rabbit_disk_monitor:set_disk_free_limit("50MB"), ok.'
"""The default again; one that has just started has it."""
_HEAL = "erlang:set_cookie(node(), '{}'), ok."


def node_name(name: str) -> str:
    return f'{name}@localhost'


def table(ports: dict[str, int]) -> dict[str, services.Service]:
    """The nodes, by name."""
    return {
        name: services.Service(
            name,
            [services.rabbit_program('rabbitmq-server')],
            lambda name=name: services.accepts(ports[name]),
            environ(name, ports),
            START_SECONDS,
        )
        for name in choice.BROKERS
    }


def write(ports: dict[str, int]) -> None:
    """Write what the nodes read when they start."""
    template = string.Template(CONFIGURATION.read_text())
    for name in choice.BROKERS:
        values = {'port': ports[name]}
        text = template.substitute(values)
        (layout.ETC / f'{name}.conf').write_text(text)
    (layout.ETC / 'enabled_plugins').write_text('[].\n')
    for name in choice.BROKERS:
        file = folder(name) / '.erlang.cookie'
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(_cookie())
            file.chmod(0o400)


def start(ports: dict[str, int]) -> None:
    """Start the nodes.

    Those that have no data yet come one after another: else two of them
    may begin a cluster each. The others wait for one another.
    """
    nodes = table(ports)
    for name, node in nodes.items():
        is_new = not (folder(name) / 'mnesia').exists()
        node.start()
        if is_new:
            node.wait()
    for node in nodes.values():
        node.wait()


def folder(name: str) -> pathlib.Path:
    """Where a node has its data."""
    place = layout.DATA / name
    place.mkdir(parents=True, exist_ok=True)
    return place


def wipe() -> None:
    """Remove the data of all nodes."""
    for name in choice.BROKERS:
        shutil.rmtree(layout.DATA / name, ignore_errors=True)


def environ(name: str, ports: dict[str, int]) -> dict[str, str]:
    """What a node and its tools need to find each other."""
    common = services.rabbit_environ(ports)
    home = folder(name)
    return {
        **common,
        'HOME': str(home),
        'RABBITMQ_NODENAME': node_name(name),
        'RABBITMQ_DIST_PORT': str(ports[f'{name}_dist']),
        'RABBITMQ_MNESIA_BASE': str(home / 'mnesia'),
        'RABBITMQ_CONFIG_FILE': str(layout.ETC / f'{name}.conf'),
        'RABBITMQ_PID_FILE': str(home / 'pid'),
    }


def members(name: str, ports: dict[str, int]) -> set[str]:
    """The nodes that one sees running, itself among them."""
    text = control(name, ports, 'cluster_status', '--formatter', 'json')
    running_nodes = json.loads(text)['running_nodes']
    return {n for n in choice.BROKERS if node_name(n) in running_nodes}


def isolate(name: str, ports: dict[str, int]) -> None:
    """Cut a node off from the others; clients still reach it."""
    control(name, ports, 'eval', _CUT.format(FOREIGN))


def fill(name: str, ports: dict[str, int]) -> None:
    """Have a node believe that its disk is full."""
    control(name, ports, 'set_disk_free_limit', _ALL)


def rejoin(name: str, ports: dict[str, int]) -> None:
    """End :func:`isolate` and :func:`fill`.

    A node that paused itself goes on by itself.

    One that was not cut off, or was started since, knows the others.
    """
    with contextlib.suppress(running.ServiceFailed):
        control(name, ports, 'eval', _ROOM)
        return
    cookie = ('--erlang-cookie', FOREIGN)
    control(name, ports, *cookie, 'eval', _HEAL.format(_cookie()))


def control(name: str, ports: dict[str, int], *arguments: str) -> str:
    """Run a command of the broker at one node; what it printed."""
    program = services.rabbit_program('rabbitmqctl')
    words = [program, '-q', '-n', node_name(name), *arguments]
    return running.run('rabbitmqctl', words, **environ(name, ports))


def _cookie() -> str:
    if not COOKIE.exists():
        COOKIE.touch(mode=0o600)
        COOKIE.write_text(secrets.token_hex(16))
    return COOKIE.read_text().strip()
