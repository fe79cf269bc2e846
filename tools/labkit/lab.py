# SPDX-License-Identifier: Apache-2.0
"""The whole lab: its start and its end."""

import concurrent.futures
import contextlib
import datetime
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import openstack

from labkit import (
    catalog,
    database,
    forks,
    furnishing,
    layout,
    ports,
    process,
    running,
    services,
    settings,
    stopping,
    topology,
)
from labkit.cells import choice, policy, second_cell
from labkit.cells import furnishing as cells_furnishing
from labkit.cloud import Cloud
from labkit.ha import choice as ha_choice
from labkit.ha import clocks, cluster, faults, packages
from labkit.horizon import services as horizon_services
from labkit.masakari import furnishing as masakari_furnishing
from labkit.masakari import services as masakari_services
from labkit.real import furnishing as real_furnishing
from labkit.real import hosts as real_hosts
from labkit.real import monitors, remote
from labkit.real import topology as real_topology

Say = Callable[[str], None]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Lab:
    """The lab of this checkout: its services and a connection to them."""

    def __init__(self, say: Say = say) -> None:
        self._say = say
        self._connection: Any = None
        layout.make()
        self.ports = ports.load()

    def up(
        self,
        real: int | None = None,
        monitor: bool = False,
        masakari: bool = False,
        cells: int | None = None,
        hosts: int | None = None,
        ha: bool = False,
    ) -> None:
        """Bring up all that is not up.

        :param real: how many real hosts; None: those that run go on
        :param monitor: whether the real hosts get instance monitors, too
        :param masakari: whether Masakari comes up, too, for the real hosts
        :param cells: how many cells Nova has; None: as many as before, or one
        :param hosts: of the only cell, or the first of two; None: as many as
            before, or nine
        :param ha: with three databases and brokers, and two of each service;
            a lab that had them has them again
        :raises running.LabError: says which service failed and why; what
            this call started is stopped again
        """
        with stopping.lock():
            before = set(process.records())
            chosen = second_cell.chosen(cells, hosts)
            several = cluster.chosen(ha, database.READY.exists())
            if real is not None:
                if chosen:
                    text = 'real hosts and two cells are for labs of their own'
                    raise running.LabError(text)
                self._choose(real)
            try:
                self._up(chosen, hosts, several)
                if real is not None:
                    self._real_up()
                if masakari:
                    self._masakari_up()
                if monitor or masakari:
                    self._monitors_up()
            except BaseException:
                self._say('stopping what was started')
                stopping.stop_all(before)
                raise

    def _choose(self, number: int) -> None:
        """Write down how many real hosts the lab has."""
        have = len(self.real_hosts())
        if number < have:
            raise running.LabError(
                f'{have} real hosts run; to have fewer, first: '
                './tools/lab down'
            )
        layout.write_json(real_topology.CHOSEN, {'hosts': number})

    def _real_up(self) -> None:
        """Bring up the real hosts that the lab is to have."""
        hosts = list(self.real_hosts().values())
        with self._step(f'{len(hosts)} real hosts'):
            real_hosts.write(hosts)
            remote.write()
            monitors.prepare(hosts)
            begun = _utc_now()
            started = real_hosts.start(hosts)
            self._wait_for_real(hosts, dict.fromkeys(started, begun))
        with self._step('their images, flavor and aggregate'):
            real_furnishing.furnish(self.cloud, [host.name for host in hosts])

    def _masakari_up(self) -> None:
        """Bring up Masakari for the real hosts."""
        hosts = self._some_real_hosts('Masakari')
        layout.write_json(masakari_services.CHOSEN, {})
        with self._step('Masakari'):
            masakari_furnishing.prepare(self.connection(), self.ports)
            table = masakari_services.table(self.ports).values()
            for service in table:
                service.start()
            for service in table:
                service.wait()
            self._connection = None  # its catalog is too old
            names = [host.name for host in hosts]
            masakari_furnishing.furnish(self.connection(), names)

    def _monitors_up(self) -> None:
        """Bring up the instance monitors of the real hosts."""
        hosts = self._some_real_hosts('the instance monitor')
        layout.write_json(real_topology.MONITORS, {})
        with self._step('instance monitors'):
            monitors.start(hosts)

    def _some_real_hosts(self, what: str) -> list[real_topology.RealHost]:
        hosts = [*self.real_hosts().values()]
        if not hosts:
            raise running.LabError(f'{what} needs real hosts: --real N')
        return hosts

    def real_hosts(self) -> dict[str, real_topology.RealHost]:
        """The real hosts that the lab has, by name."""
        if not self.ports:
            return {}
        return {host.name: host for host in real_topology.hosts(self.ports)}

    def _wait_for_real(
        self,
        hosts: list[real_topology.RealHost],
        since: dict[str, datetime.datetime],
    ) -> None:
        def silent() -> set[str]:
            self._none_has_ended({one.compute for one in hosts})
            told = furnishing.computes(self.cloud)
            return {
                host.compute
                for host in hosts
                if not furnishing.after(
                    told.get(host.compute), since.get(host.compute)
                )
            }

        running.wait_for(
            lambda: not silent(), 120, 'real hosts to report', 0.5
        )

    def down(self) -> None:
        """Stop all that was started here; data stays."""
        stopping.down()

    def wipe(self) -> None:
        """Stop all and remove servers, audits and metrics."""
        with stopping.lock():
            stopping.stop_all(set())
            database.wipe()

    def start(self, name: str) -> None:
        """Start one service or compute and wait until it serves."""
        begun = _utc_now()
        if name in topology.HOSTS:
            if forks.start(self.ports, [name]):
                name = f'compute-{name}'
                self._wait_for_reports({name: begun}, {name})
            return
        for host in self.real_hosts().values():
            if name in (host.name, host.compute):
                if real_hosts.compute(host).start():
                    self._wait_for_real([host], {host.compute: begun})
                return
        service = self._service(name)
        if service.start():
            service.wait()
            self._wait_for_reports({name: begun}, {name})

    def stop(self, name: str, kill: bool = False) -> None:
        """Stop one service or compute.

        :param kill: the hard way, as a crash would
        """
        if name in topology.HOSTS or name in self.real_hosts():
            name = f'compute-{name}'
        else:
            self._service(name)
        record = process.records().get(name)
        if record is None:
            return
        if kill:
            process.kill(record)
        else:
            process.stop([record])
        clocks.clean([record.pid])

    def pause(self, name: str) -> None:
        """Have one service or compute accept connections and say nothing."""
        process.pause(self._record(name))

    def resume(self, name: str) -> None:
        """Have it go on; a node is like the others again."""
        process.resume(self._record(name))
        if name in cluster.nodes():
            faults.end(name, self.ports)

    def isolate(self, name: str) -> None:
        """Cut a node off from the others, until it is resumed."""
        faults.isolate(self._node(name), self.ports)

    def desync(self, name: str) -> None:
        """Have a database node lag behind the others, until it is resumed."""
        faults.desync(self._node(name), self.ports)

    def fill(self, name: str) -> None:
        """Have a node see a full disk, until it is resumed."""
        faults.fill(self._node(name), self.ports)

    def skew(self, name: str, seconds: float) -> None:
        """Restart a service with a clock that is ahead, until it is restarted.

        :param seconds: behind, if negative
        """
        if not cluster.nodes():
            raise running.LabError('this needs a lab of "up --ha"')
        self.stop(name)
        service = self._service(name)
        service.environ = service.environ | clocks.environ(seconds)
        service.start()
        service.wait()

    def _node(self, name: str) -> str:
        if name not in cluster.nodes():
            raise running.LabError(
                f'{name} is no node of a lab that "up --ha" brought up'
            )
        return self._record(name).name

    def _record(self, name: str) -> process.Record:
        if name in topology.HOSTS or name in self.real_hosts():
            name = f'compute-{name}'
        result = process.records().get(name)
        if result is None:
            raise running.LabError(f'{name} does not run')
        return result

    def horizon(self) -> str:
        """Serve Horizon until the lab goes down.

        :returns: its address
        :raises running.LabError: the lab is down, or it does not come up
        """
        with stopping.lock():
            keystone = process.records().get('keystone')
            if keystone is None or not process.is_running(keystone):
                raise running.LabError('run "./tools/lab up" first')
            self.ports = ports.choose(running=True)
            return horizon_services.serve(self.ports)

    def restart(self, name: str) -> None:
        self.stop(name)
        self.start(name)

    def mend(self) -> None:
        """Start what ought to run and does not; stop what is on demand."""
        for name in services.on_demand():
            self.stop(name)
        known = process.records()
        for record in known.values():
            process.resume(record)
        for name in self.names():
            host = name in topology.HOSTS
            record = known.get(f'compute-{name}' if host else name)
            runs = record is not None and process.is_running(record)
            if not runs and name not in services.on_demand():
                self.start(name)

    def check_groups(self, hosts: Iterable[str], check: bool) -> None:
        """Restart computes with or without their check of server groups.

        Without it a server can be forced onto a host against its group.
        """
        wanted = list(hosts)
        for host in wanted:
            settings.write_compute(host, skip_group_check=not check)
        self.stop_all(wanted)
        self.start_all(wanted)

    def stop_all(self, hosts: Iterable[str]) -> None:
        """Stop simulated hosts, side by side."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(self.stop, hosts))

    def start_all(self, hosts: Iterable[str]) -> None:
        """Start simulated hosts and wait until they report."""
        begun = _utc_now()  # what the old ones have reported does not count
        names = forks.start(self.ports, list(hosts))
        self._wait_for_reports(dict.fromkeys(names, begun), set(names))

    def names(self) -> list[str]:
        """What :meth:`start` and :meth:`stop` know."""
        return [
            *cluster.table(self.ports),
            *services.table(self.ports),
            *topology.HOSTS,
            *real_hosts.table(list(self.real_hosts().values())),
            *masakari_services.table(self.ports),
            *monitors.table(list(self.real_hosts().values())),
        ]

    def env(self) -> dict[str, str]:
        """Variables for the ``openstack`` client."""
        return settings.client_variables(self.ports)

    def connection(self) -> Any:
        """An openstacksdk connection of the administrator."""
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    @property
    def cloud(self) -> Cloud:
        """Helpers to make the cloud what a test needs."""
        return Cloud(
            self.connection(), f'http://127.0.0.1:{self.ports["prometheus"]}'
        )

    def cloud_of(self, project: str) -> Cloud:
        """Helpers that act for a project; it is made if need be."""
        catalog.ensure_project(self.connection().identity, project)
        return Cloud(
            self._connect(project_name=project),
            f'http://127.0.0.1:{self.ports["prometheus"]}',
        )

    def _service(self, name: str) -> services.Service:
        table = (
            services.table(self.ports)
            | cluster.table(self.ports)
            | real_hosts.table(list(self.real_hosts().values()))
            | masakari_services.table(self.ports)
            | monitors.table(list(self.real_hosts().values()))
        )
        if name not in table:
            raise running.LabError(
                f'there is no {name}; there are: {", ".join(self.names())}'
            )
        return table[name]

    def _connect(self, **overrides: str) -> Any:
        return openstack.connect(
            auth_type='password',
            auth_url=f'http://127.0.0.1:{self.ports["keystone"]}/v3',
            username='admin',
            password=settings.password(),
            user_domain_id='default',
            project_domain_id='default',
            region_name='RegionOne',
            interface=catalog.PEOPLE,
            load_yaml_config=False,
            load_envvars=False,
            **{'project_name': 'admin', **overrides},
        )

    @contextlib.contextmanager
    def _step(self, what: str) -> Iterator[None]:
        self._say(f'{what} ...')
        begin = time.monotonic()
        yield
        self._say(f'{what}: {time.monotonic() - begin:.1f} s')

    def _up(
        self,
        chosen: choice.Choice | None,
        hosts: int | None,
        several: bool,
    ) -> None:
        begin = time.monotonic()
        alive = [
            record
            for record in process.records().values()
            if process.is_running(record)
        ]
        self.ports = ports.choose(running=bool(alive))
        if not alive:
            process.rotate_logs()
        with database.prepared() as origin:
            choice.write(chosen)
            ha_choice.write(several)
            if several:
                packages.ensure()
            if chosen is None and hosts:
                topology.choose_hosts(hosts)
            topology.follow(chosen)
            settings.write(self.ports)
            policy.prepare(bool(chosen))
            begun = _utc_now()
            with self._step(f'database ({origin} data) and message broker'):
                self._infrastructure(origin)
        if chosen:
            with self._step('the second cell'):
                second_cell.prepare(self.ports)
        with self._step('keystone, its catalog; the other services start'):
            started = self._control_plane()
        with self._step('nova and watcher report'):
            seconds = set(services.seconds())
            names = set(furnishing.reporters()) - seconds
            self._wait_for_reports({n: begun for n in started}, names)
            for name in services.seconds():
                self.start(name)
        with self._step('flavors, image, aggregates'):
            real_furnishing.forget(self.cloud, set(self.real_hosts()))
            furnishing.furnish(self.cloud)
            if chosen:
                cells_furnishing.furnish(self.cloud)
        self._say(f'the lab is up: {time.monotonic() - begin:.1f} s')

    def _infrastructure(self, origin: str) -> None:
        table = services.table(self.ports)
        names = [n for n in services.INFRASTRUCTURE if n in table]
        early = [table[n] for n in names if n != 'mariadb']
        for service in early:
            service.start()
            if service.name == 'epmd':
                service.wait()
        database.start(self.ports, origin)
        for name in services.WITHOUT_BROKER:
            if name == 'computes':
                forks.clear_pipe()
            table[name].start()
        for service in early:
            service.wait()

    def _control_plane(self) -> list[str]:
        """Start the services and computes; which had to be."""
        table = services.table(self.ports)
        apart = (
            *services.INFRASTRUCTURE,
            *services.ON_DEMAND,
            *services.seconds(),
        )
        rest = [n for n in table if n not in apart]
        late = [name for name in rest if name in services.LOG_IN_AT_START]
        early = [name for name in rest if name not in late]
        started = [name for name in early if table[name].start()]
        table['keystone'].wait()
        auth_url = f'http://127.0.0.1:{self.ports["keystone"]}/v3'
        catalog.ensure(
            self._connect(identity_endpoint_override=auth_url),
            self.ports,
            settings.password(),
        )
        started += [name for name in late if table[name].start()]
        self._connection = None
        # Computes report to placement, and need some seconds: them first.
        table['placement'].wait()
        started += forks.start(self.ports, list(topology.HOSTS))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for work in [pool.submit(table[name].wait) for name in rest]:
                work.result()
        return started

    def _wait_for_reports(
        self,
        since: dict[str, datetime.datetime],
        wanted: set[str] | None = None,
    ) -> None:
        """Wait until services have reported to Nova or Watcher.

        :param since: names of services whose report must be newer than that
        :param wanted: names to wait for; None: all; some never report
        """
        names = (
            set(furnishing.reporters())
            if wanted is None
            else wanted & {*furnishing.reporters(), *furnishing.ON_DEMAND}
        )
        if not names:
            return
        cloud = self.cloud

        def silent() -> list[str]:
            self._none_has_ended(wanted)
            return sorted(furnishing.silent_services(cloud, since) & names)

        try:
            running.wait_for(lambda: not silent(), 120, 'reports', 0.5)
        except running.ServiceFailed:
            raise
        except running.LabError:
            left = silent() or ['nova-api']
            raise running.ServiceFailed(
                left[0], f'does not report (silent are: {", ".join(left)})'
            ) from None

    def _none_has_ended(self, wanted: set[str] | None) -> None:
        for record in process.records().values():
            cared_for = wanted is None or record.name in wanted
            if cared_for and not process.is_running(record):
                raise running.ServiceFailed(record.name, 'ended')


def _utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
