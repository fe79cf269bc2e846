# SPDX-License-Identifier: Apache-2.0
"""A real host: its start, and an end without a trace."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import uuid

from labkit import layout, process, running, services
from labkit.real import packages, topology
from labkit.real.topology import RealHost

HOLDER = pathlib.Path(__file__).with_name('holder.sh')
LOAD = 'real-load'
"""The process that writes what the hosts' /proc pretends."""
TARGETS = {
    'real-node.json': topology.NODE_PORT,
    'real-libvirt.json': topology.EXPORTER_PORT,
}
BEFORE = pathlib.Path('/etc/libvirt')
LIBVIRTD = """\
listen_tls = 0
listen_tcp = 1
auth_tcp = "none"
listen_addr = "{address}"
host_uuid = "{uuid}"
"""
QEMU = """\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
cgroup_controllers = []
namespaces = []
stdio_handler = "file"
migration_host = "{address}"
migration_address = "{address}"
migration_port_min = {first}
migration_port_max = {last}
"""
NOVA = """\
[DEFAULT]
host = {name}
my_ip = {address}
compute_driver = libvirt.LibvirtDriver
state_path = {state}
instances_path = {instances}
use_cow_images = false
reserved_host_memory_mb = 256
cpu_allocation_ratio = 8
[libvirt]
virt_type = qemu
connection_uri = qemu:///system
cpu_mode = none
images_type = raw
hw_machine_type = x86_64=pc
inject_partition = -2
tb_cache_size = 32
live_migration_inbound_addr = {name}
# Nova saves how far a migration is every fifth time that it looks.
live_migration_monitor_interval = 1
live_migration_permit_post_copy = {post_copy}
live_migration_permit_auto_converge = {auto_converge}
mem_stats_period_seconds = 5
[oslo_concurrency]
lock_path = {state}/lock
[nova_sys_admin]
helper_command = {helper}
[privsep_osbrick]
helper_command = {helper}
"""


def write(hosts: list[RealHost]) -> None:
    """Write the files of all hosts, where they are not written yet."""
    topology.INSTANCES.mkdir(parents=True, exist_ok=True)
    names = topology.FOLDER / 'hosts'
    lines = ['127.0.0.1 localhost', *(f'{h.address} {h.name}' for h in hosts)]
    names.write_text('\n'.join([*lines, '']))
    for host in hosts:
        for name in ('varlib', 'cache', 'log', 'instances', 'state', 'proc'):
            (host.folder / name).mkdir(parents=True, exist_ok=True)
        etc = host.folder / 'etc'
        if not etc.exists():
            shutil.copytree(BEFORE, etc, symlinks=True)
            shutil.rmtree(etc / 'qemu' / 'networks' / 'autostart', True)
        values = {
            'address': host.address,
            'uuid': uuid.uuid5(uuid.NAMESPACE_DNS, host.address),
            'first': host.first_port,
            'last': host.first_port + topology.MIGRATION_PORTS - 1,
        }
        (etc / 'libvirtd.conf').write_text(LIBVIRTD.format(**values))
        (etc / 'qemu.conf').write_text(QEMU.format(**values))
        write_compute(host)


def nova_file(host: RealHost) -> pathlib.Path:
    """What its nova-compute reads after all others."""
    return layout.ETC / 'computes' / f'{host.name}.conf'


def write_compute(host: RealHost, permitted: str = '') -> None:
    """Write what only this one reads.

    :param permitted: how Nova may end a migration of a busy guest, besides a
        pause: ``post_copy`` or ``auto_converge``
    """
    file = nova_file(host)
    helper = f'{layout.program("privsep-helper")} --config-file {file}'
    file.touch(mode=0o600)
    file.write_text(
        NOVA.format(
            name=host.name,
            address=host.address,
            state=host.folder / 'state',
            instances=topology.INSTANCES,
            helper=helper,
            post_copy=permitted == 'post_copy',
            auto_converge=permitted == 'auto_converge',
        )
    )


def table(hosts: list[RealHost]) -> dict[str, services.Service]:
    """What can be stopped and started of those that run, by name."""
    found = {}
    for host in hosts:
        if not _holder(host):
            continue
        for one in (libvirtd(host), compute(host), *exporters(host)):
            found[one.name] = one
    return found


def start(hosts: list[RealHost]) -> list[str]:
    """Start all that does not run; the names of computes that were started.

    :raises running.LabError: something did not come up
    """
    for host in hosts:
        _start_holder(host)
    for host in hosts:
        service = libvirtd(host)
        service.start()
    for host in hosts:
        libvirtd(host).wait()
    _start_load(hosts)
    started = []
    for host in hosts:
        if compute(host).start():
            started.append(host.compute)
        for service in exporters(host):
            service.start()
    for host in hosts:
        for service in exporters(host):
            service.wait()
    write_targets(hosts, TARGETS)
    return started


def _start_holder(host: RealHost) -> None:
    ready = host.folder / 'ready'
    ready.unlink(missing_ok=True)
    service = services.Service(
        host.holder,
        [
            'unshare',
            '-m',
            '-u',
            'sh',
            str(HOLDER),
            host.name,
            str(host.folder),
            str(topology.INSTANCES),
            str(topology.FOLDER / 'hosts'),
            *(str(one) for pair in packages.mounts() for one in pair),
        ],
        ready.exists,
    )
    if service.start():
        service.wait()


def _holder(host: RealHost) -> int:
    """Pid of the process that keeps its namespaces; 0 if it does not run."""
    record = process.records().get(host.holder)
    return record.pid if record and process.is_running(record) else 0


def inside(host: RealHost, *command: str) -> list[str]:
    """A command as it has to be called to run inside a host.

    :param command: its program by its whole path
    """
    holder = _holder(host)
    if not holder:
        raise running.LabError(f'{host.name} does not run')
    return ['nsenter', '-m', '-u', '-t', str(holder), '--', *command]


def libvirtd(host: RealHost) -> services.Service:
    return services.Service(
        host.libvirtd,
        inside(
            host,
            '/usr/sbin/libvirtd',
            '-l',
            '-f',
            '/etc/libvirt/libvirtd.conf',
            '-p',
            '/run/libvirt/libvirtd.pid',
        ),
        lambda: not _virsh(host, 'list').returncode,
    )


def compute(host: RealHost) -> services.Service:
    return services.Service(
        host.compute,
        inside(
            host,
            layout.program('nova-compute'),
            f'--config-file={layout.ETC}/nova-common.conf',
            f'--config-file={nova_file(host)}',
        ),
        environ={
            'PATH': f'{topology.PROGRAMS}:{layout.VENV}/bin:'
            + os.environ['PATH'],
            'PYTHONPATH': str(packages.BINDINGS),
        },
    )


def exporters(host: RealHost) -> list[services.Service]:
    """Of the guests, and of the host."""
    guests, machine = host.exporters
    return [
        services.Service(
            guests,
            inside(
                host,
                str(packages.LIBVIRT_EXPORTER),
                f'--web.listen-address={host.address}:{topology.EXPORTER_PORT}',
                '--libvirt.export-nova-metadata',
            ),
            lambda: _answers(host.address, topology.EXPORTER_PORT),
        ),
        services.Service(
            machine,
            [
                packages.INSTALLED['prometheus-node-exporter'],
                f'--web.listen-address={host.address}:{topology.NODE_PORT}',
                f'--path.procfs={host.folder}/proc',
                '--collector.disable-defaults',
                '--collector.cpu',
                '--collector.meminfo',
                '--collector.loadavg',
            ],
            lambda: _answers(host.address, topology.NODE_PORT),
        ),
    ]


def _answers(address: str, port: int) -> bool:
    return running.answers(port, '/metrics', address)


def _start_load(hosts: list[RealHost]) -> None:
    """One process for all hosts; it is started anew for other holders."""
    words = []
    for host in hosts:
        holder = process.records()[host.holder]
        words += [str(host.folder / 'proc'), str(holder.pid)]
    service = services.Service(
        LOAD,
        [layout.program('python'), '-m', 'labkit.real.load', *words],
        lambda: all((h.folder / 'proc' / 'stat').exists() for h in hosts),
        {'PYTHONPATH': str(layout.KIT.parent)},
    )
    record = process.records().get(LOAD)
    if record:
        process.stop([record])
    service.start()
    service.wait()


def write_targets(hosts: list[RealHost], targets: dict[str, int]) -> None:
    """Tell Prometheus where something of these hosts is.

    :param targets: file to port
    """
    for name, port in targets.items():
        rows = [
            {
                'targets': [f'{host.name}:{port}'],
                'labels': {'__loopback': f'{host.address}:{port}'},
            }
            for host in hosts
        ]
        new = layout.RUN / f'{name}.new'
        new.write_text(json.dumps(rows))
        new.replace(layout.RUN / name)


def _virsh(
    host: RealHost, *arguments: str
) -> 'subprocess.CompletedProcess[str]':
    return subprocess.run(
        inside(host, '/usr/bin/virsh', *arguments),
        capture_output=True,
        text=True,
    )


def virsh(host: RealHost, *arguments: str) -> str:
    """What libvirt's client prints in a host.

    :raises running.LabError: it failed
    """
    done = _virsh(host, *arguments)
    if done.returncode:
        raise running.LabError(
            f'virsh {" ".join(arguments)} on {host.name}: '
            f'{done.stderr.strip()}'
        )
    return done.stdout.strip()


def guests(host: RealHost) -> dict[str, int]:
    """Process of each guest by libvirt's name of it, libvirtd or not."""
    holder = _holder(host)
    if not holder:
        return {}
    folder = pathlib.Path(f'/proc/{holder}/root/run/libvirt/qemu')
    found = {}
    for file in folder.glob('*.pid'):
        try:
            pid = int(file.read_text())
        except (OSError, ValueError):
            continue
        if process.stat(pid):
            found[file.stem] = pid
    return found


def stop(hosts: list[RealHost]) -> None:
    """End all of them: nova-compute, guests, libvirtd, and the mounts."""
    known = process.records()
    for wave in (
        [h.monitor for h in hosts],
        [h.compute for h in hosts],
        [name for h in hosts for name in h.exporters],
    ):
        process.stop([known[name] for name in wave if name in known])
    _end_guests()
    for wave in ([h.libvirtd for h in hosts], [LOAD]):
        process.stop([known[name] for name in wave if name in known])
    _end_guests()  # what libvirtd started meanwhile
    process.stop([known[h.holder] for h in hosts if h.holder in known])
    for name in (*TARGETS, 'real-monitor.json'):
        (layout.RUN / name).unlink(missing_ok=True)


def _end_guests() -> None:
    """They are daemons of their own, which outlive libvirtd and the rest."""
    pids = _emulators()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 10
    while any(_lives(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.1)


def _emulators() -> list[int]:
    """Processes that run a guest of this lab, whoever started them."""
    place = str(topology.INSTANCES).encode()
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / 'cmdline').read_bytes().split(b'\0')
                is_qemu = b'qemu-system' in words[0]
                if is_qemu and any(place in word for word in words):
                    found.append(int(entry.name))
    return found


def _lives(pid: int) -> bool:
    seen = process.stat(pid)
    return seen is not None and seen.state not in 'ZX'
