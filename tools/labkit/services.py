# SPDX-License-Identifier: Apache-2.0
"""The services of the lab, and the start of each.

Standard library only.
"""

import pathlib
import socket
from collections.abc import Callable
from dataclasses import dataclass, field

from labkit import layout, mariadb, process, running, topology
from labkit.cells import choice
from labkit.ha import choice as ha_choice

RABBIT_NODE = 'lab@localhost'
INFRASTRUCTURE = ('mariadb', 'epmd', 'rabbitmq', 'neutron', 'prometheus')
WITHOUT_BROKER = ('keystone', 'computes', 'placement', 'glance')
"""Started while the broker is still at it."""
LOG_IN_AT_START = ('nova-conductor', choice.CONDUCTOR, 'nova-scheduler')
"""They end if Keystone does not know their user yet."""
SECOND_APPLIER = 'watcher-applier-2'
SECOND_ENGINE = 'watcher-decision-engine-2'
SECOND_HOST = 'controller-2'
"""What they call their host."""
COMMON = 'nova-common.conf'
ON_DEMAND = (SECOND_APPLIER, SECOND_ENGINE)
"""Started by name only, in a lab with one of each."""
SECOND_CONDUCTOR = 'nova-conductor-2'
SECOND_SCHEDULER = 'nova-scheduler-2'
SECONDS = (
    SECOND_CONDUCTOR,
    SECOND_SCHEDULER,
    SECOND_APPLIER,
    SECOND_ENGINE,
)
"""What a lab with three of each node has twice, started one after another:
two that fill an empty database at the same moment refuse each other's rows."""


def on_demand() -> tuple[str, ...]:
    """Services that are started by name only."""
    return () if ha_choice.is_chosen() else ON_DEMAND


def seconds() -> tuple[str, ...]:
    """Services that follow the first of their kind."""
    return SECONDS if ha_choice.is_chosen() else ()


def stop_order() -> tuple[tuple[str, ...], ...]:
    """Names of services, in an order in which none misses another."""
    return (
        (
            'watcher-api',
            'watcher-decision-engine',
            'watcher-applier',
            SECOND_APPLIER,
            SECOND_ENGINE,
            'masakari-api',
            'masakari-engine',
            'nova-proxy',
            'exporter',
            'nova-api',
            'nova-scheduler',
            SECOND_SCHEDULER,
            'placement',
            'glance',
            *(f'compute-{host}' for host in topology.HOSTS),
        ),
        (
            'computes',
            choice.CONDUCTOR,
            'nova-conductor',
            SECOND_CONDUCTOR,
            'keystone',
            'neutron',
            'prometheus',
        ),
        ('rabbitmq', 'mariadb', *ha_choice.BROKERS, *ha_choice.PROXIES),
        ('epmd', *ha_choice.DATABASES),
    )


@dataclass
class Service:
    """One process to start, and how to see that it serves."""

    name: str
    command: list[str]
    is_ready: Callable[[], bool] = lambda: True
    environ: dict[str, str] = field(default_factory=dict)
    timeout: float = 120.0
    last_words: str = ''
    """What its log says at the end of its start."""
    _begin: int = 0
    """Where its log begins, if it was started here."""

    def start(self) -> bool:
        """Start it unless it runs; whether there was need to."""
        record = process.records().get(self.name)
        if record and process.is_running(record):
            return False
        if record:
            process.stop([record])  # what a dead leader left behind
        log = self._log()
        self._begin = log.stat().st_size if log.exists() else 0
        process.spawn(self.name, self.command, self.environ)
        return True

    def _log(self) -> pathlib.Path:
        return layout.LOG / f'{self.name}.log'

    def wait(self) -> None:
        """Wait until it serves.

        :raises ServiceFailed: it ended, or needs too long
        """

        def ready_or_dead() -> bool:
            record = process.records().get(self.name)
            if record is None or not process.is_running(record):
                raise running.ServiceFailed(self.name, 'ended at its start')
            if self.last_words:
                said = self._log().read_bytes()[self._begin :]
                if self.last_words.encode() not in said:
                    return False
            return self.is_ready()

        try:
            running.wait_for(ready_or_dead, self.timeout, self.name, 0.1)
        except running.ServiceFailed:
            raise
        except running.LabError as error:
            raise running.ServiceFailed(self.name, str(error)) from error


def table(ports: dict[str, int]) -> dict[str, Service]:
    """All services but the computes, by name."""
    several = ha_choice.is_chosen()
    found = [
        *(() if several else (mariadb_alone(ports),)),
        _epmd(ports),
        *(() if several else (_rabbitmq(ports),)),
        _prometheus(ports),
        _module('neutron', _network_module(), ports['neutron']),
        _module('exporter', 'labkit.exporter', ports['exporter']),
        _module(
            'nova-proxy',
            'labkit.novaproxy',
            ports['nova_proxy'],
            ports['nova_api'],
        ),
        _wsgi('keystone', 'keystone.wsgi.api', ports['keystone']),
        _wsgi('placement', 'placement.wsgi.api', ports['placement']),
        _wsgi('glance', 'glance.wsgi.api', ports['glance']),
        _wsgi('nova-api', 'nova.wsgi.osapi_compute', ports['nova_api']),
        _wsgi(
            'watcher-api',
            'watcher.wsgi.api',
            ports['watcher_api'],
            *watcher_files(),
        ),
        _program('nova-conductor', *nova_files()),
        _program(
            'nova-scheduler',
            *nova_files(),
            f'--config-dir={layout.SCHEDULER}',
        ),
        _decision_engine('watcher-decision-engine'),
        _decision_engine(
            SECOND_ENGINE, f'--config-dir={layout.SECOND_CONTROLLER}'
        ),
        _program('watcher-applier', *watcher_files()),
        Service(
            SECOND_APPLIER,
            [
                layout.program('watcher-applier'),
                *watcher_files(),
                f'--config-dir={layout.SECOND_CONTROLLER}',
            ],
        ),
        Service(
            'computes',
            [layout.program('python'), '-m', 'labkit.computes'],
            (layout.RUN / 'computes.pipe').exists,
            _python_path(),
        ),
    ]
    if several:
        found += _second_of_nova()
    if choice.read():
        cell = f'--config-file={layout.ETC}/nova-cell2.conf'
        conductor = layout.program('nova-conductor')
        command = [conductor, f'--config-file={layout.ETC}/{COMMON}', cell]
        found.append(Service(choice.CONDUCTOR, command))
    return {service.name: service for service in found}


def _second_of_nova() -> list[Service]:
    """Nova's services that a lab with three of each node has twice."""
    files = [
        *nova_files(),
        f'--config-file={layout.ETC}/nova-controller-2.conf',
    ]
    return [
        Service(SECOND_CONDUCTOR, [layout.program('nova-conductor'), *files]),
        Service(
            SECOND_SCHEDULER,
            [
                layout.program('nova-scheduler'),
                *files,
                f'--config-dir={layout.SCHEDULER}',
            ],
        ),
    ]


def _network_module() -> str:
    """What answers for Neutron: servers have ports where cells are left."""
    return 'labkit.cells.neutron' if choice.read() else 'labkit.neutron'


def nova_files() -> list[str]:
    return [
        f'--config-file={layout.ETC}/{COMMON}',
        f'--config-file={layout.ETC}/nova-db.conf',
    ]


def watcher_files() -> list[str]:
    return [
        f'--config-file={layout.ETC}/watcher.conf',
        f'--config-dir={layout.ETC}/watcher.conf.d',
    ]


def config_folders() -> dict[str, str]:
    """Where the WSGI applications look for their files."""
    etc = str(layout.ETC)
    return {
        'OS_KEYSTONE_CONFIG_DIR': etc,
        'OS_PLACEMENT_CONFIG_DIR': etc,
        'OS_GLANCE_CONFIG_DIR': etc,
        'OS_NOVA_CONFIG_DIR': etc,
        'OS_NOVA_CONFIG_FILES': 'api-paste.ini;nova-common.conf;nova-db.conf',
    }


def rabbit_environ(ports: dict[str, int]) -> dict[str, str]:
    """Everything of the broker and its tools in the lab's own folders."""
    home = layout.DATA / 'rabbitmq'
    home.mkdir(parents=True, exist_ok=True)
    return {
        'HOME': str(home),
        'RABBITMQ_NODENAME': RABBIT_NODE,
        'ERL_EPMD_PORT': str(ports['epmd']),
        'ERL_EPMD_ADDRESS': '127.0.0.1',
        'RABBITMQ_DIST_PORT': str(ports['rabbitmq_dist']),
        'RABBITMQ_MNESIA_BASE': str(home / 'mnesia'),
        'RABBITMQ_LOG_BASE': str(layout.LOG),
        'RABBITMQ_CONFIG_FILE': str(layout.ETC / 'rabbitmq.conf'),
        'RABBITMQ_PID_FILE': str(home / 'pid'),
        'RABBITMQ_ENABLED_PLUGINS_FILE': str(layout.ETC / 'enabled_plugins'),
        'RABBITMQ_CONF_ENV_FILE': '/dev/null',
        'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': (
            '+S 1:1 +sbwt none -start_epmd false '
            '-kernel inet_dist_use_interface {127,0,0,1}'
        ),
    }


def rabbit_program(name: str) -> str:
    """Path of a program of the broker.

    The wrapper of that name in sbin wants the system's user.
    """
    return running.program(f'/usr/lib/rabbitmq/bin/{name}', name)


def _python_path() -> dict[str, str]:
    return {'PYTHONPATH': str(layout.KIT.parent)}


def _module(name: str, module: str, port: int, *more: int) -> Service:
    return Service(
        name,
        [layout.program('python'), '-m', module, *map(str, (port, *more))],
        lambda: running.answers(port),
        _python_path(),
    )


def _wsgi(name: str, module: str, port: int, *arguments: str) -> Service:
    python = [layout.program('python'), '-m', 'labkit.serve']
    return Service(
        name,
        [*python, module, str(port), *arguments],
        lambda: running.answers(port),
        {**config_folders(), **_python_path()},
    )


def _program(name: str, *arguments: str) -> Service:
    return Service(name, [layout.program(name), *arguments])


def _decision_engine(name: str, *more: str) -> Service:
    program = layout.program('watcher-decision-engine')
    service = Service(name, [program, *watcher_files(), *more])
    if layout.COHORT.watcher >= 16:  # one before has no such service
        # Until then it cancels audits that it has just taken up.
        service.last_words = 'Starting service monitoring service'
    return service


def mariadb_alone(ports: dict[str, int]) -> Service:
    """A MariaDB of which there is one."""
    port = ports['mariadb']
    return Service(
        'mariadb',
        [
            *mariadb.command(layout.DATA / 'mariadb', port, layout.DATA),
            '--skip-log-bin',
            '--max-connections=400',
        ],
        lambda: connects(port),
    )


def connects(port: int) -> bool:
    """Whether a MariaDB speaks there."""
    try:
        with socket.create_connection(('127.0.0.1', port), timeout=2) as link:
            return bool(link.recv(1))  # the server speaks first
    except OSError:
        return False


def _epmd(ports: dict[str, int]) -> Service:
    """Erlang's name server: ours, so that none is left running."""
    return Service(
        'epmd',
        [
            running.program('epmd'),
            '-address',
            '127.0.0.1',
            '-port',
            str(ports['epmd']),
        ],
        lambda: accepts(ports['epmd']),
    )


def accepts(port: int) -> bool:
    """Whether something listens there."""
    try:
        socket.create_connection(('127.0.0.1', port), timeout=2).close()
    except OSError:
        return False
    return True


def _rabbitmq(ports: dict[str, int]) -> Service:
    return Service(
        'rabbitmq',
        [rabbit_program('rabbitmq-server')],
        lambda: accepts(ports['rabbitmq']),
        rabbit_environ(ports),
    )


def _prometheus(ports: dict[str, int]) -> Service:
    port = ports['prometheus']
    return Service(
        'prometheus',
        [
            running.program('prometheus'),
            f'--config.file={layout.ETC}/prometheus.yml',
            f'--storage.tsdb.path={layout.DATA}/prometheus',
            '--storage.tsdb.retention.time=1d',
            f'--web.listen-address=127.0.0.1:{port}',
            '--log.level=warn',
        ],
        lambda: running.answers(port, '/-/ready'),
    )
