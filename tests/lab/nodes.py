# SPDX-License-Identifier: Apache-2.0
"""Three databases, or three brokers, without the services of a lab."""

from collections.abc import Callable
from typing import Any

import fixtures
from oslotest import base as test_base

from tests.lab import base  # it finds labkit

from labkit import mariadb, ports, process, running, services  # isort: skip
from labkit.ha import brokers, choice, galera, packages  # isort: skip

LIMIT_SECONDS = 240


def chosen_ports() -> dict[str, int]:
    """Ports of this lab, whose services may run."""
    base.layout.make()
    runs = any(map(process.is_running, process.records().values()))
    return ports.choose(running=runs)


class Databases(fixtures.Fixture):
    """Three nodes of Galera, with nothing in them."""

    def _setUp(self) -> None:
        packages.ensure()
        self.ports = chosen_ports()
        galera.wipe()
        self.addCleanup(galera.wipe)
        self.addCleanup(end, choice.DATABASES)
        mariadb.install(galera.folder('db1'), base.layout.DATA)
        galera.start(self.ports)

    def start(self, name: str) -> None:
        """Start a node, and wait until it is like the others."""
        node = galera.table(self.ports)[name]
        node.start()
        node.wait()

    def start_all(self) -> None:
        galera.start(self.ports)

    def state(self, name: str) -> dict[str, str]:
        return galera.state(self.ports[name])

    def is_synced(self, name: str) -> bool:
        return galera.is_synced(self.state(name))

    def query(self, name: str, *statements: str) -> Any:
        """Rows of the last of some statements at one node."""
        with galera.connection(self.ports[name]) as cursor:
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall()


class Brokers(fixtures.Fixture):
    """Three nodes of RabbitMQ, with nothing in them."""

    def _setUp(self) -> None:
        self.ports = chosen_ports()
        brokers.wipe()
        brokers.COOKIE.unlink(missing_ok=True)
        self.addCleanup(brokers.wipe)
        brokers.write(self.ports)
        names = services.table(self.ports)['epmd']
        if names.start():
            self.addCleanup(end, ('epmd',))
        names.wait()
        self.addCleanup(end, choice.BROKERS)
        brokers.start(self.ports)

    def members(self, name: str) -> set[str]:
        """The nodes that one sees running."""
        return brokers.members(name, self.ports)


def end(names: tuple[str, ...], kill: bool = False) -> None:
    """End some services, all at once, if they run."""
    known = process.records()
    records = [known[name] for name in names if name in known]
    if kill:
        for record in records:
            process.kill(record)
    else:
        process.stop(records, patience=60)


class NodesTestCase(test_base.BaseTestCase):
    """Hands of an operator on nodes."""

    def pause(self, name: str) -> None:
        process.pause(process.records()[name])

    def resume(self, name: str) -> None:
        process.resume(process.records()[name])

    def wait(self, true: Callable[[], Any], what: str) -> None:
        running.wait_for(true, LIMIT_SECONDS, what)
