# SPDX-License-Identifier: Apache-2.0
"""The instance monitor of each real host."""

import configparser
from collections.abc import Mapping

from labkit import layout, running, services, settings
from labkit.masakari import services as masakari
from labkit.ports import load as ports
from labkit.real import hosts, packages, topology
from labkit.real.topology import RealHost

FOLDER = layout.ETC / 'monitors'
PORT = 9877
"""Of its metrics, at the host's own address."""

Options = Mapping[str, str]


def is_chosen() -> bool:
    """Whether this lab has monitors."""
    return topology.MONITORS.exists()


def table(found: list[RealHost]) -> dict[str, services.Service]:
    """Those of these hosts, by name; none in a lab without them."""
    if not is_chosen():
        return {}
    return {one.monitor: monitor(one) for one in found}


def file(host: RealHost) -> str:
    return f'{FOLDER}/{host.name}.conf'


def monitor(host: RealHost) -> services.Service:
    return services.Service(
        host.monitor,
        hosts.inside(
            host,
            layout.program('kronos-instance-monitor'),
            f'--config-file={file(host)}',
        ),
        lambda: running.answers(PORT, '/metrics', host.address),
        {'PYTHONPATH': str(packages.BINDINGS)},
    )


def write(
    host: RealHost,
    sinks: Mapping[str, Options] | None = None,
    more: Options | None = None,
) -> None:
    """Write what the monitor of a host reads at its start.

    :param sinks: name to its options; None: Masakari, where the lab has it
    :param more: options of the monitor itself
    """
    if sinks is None:
        sinks = {'masakari': cloud()} if masakari.is_chosen() else {}
    state = host.folder / 'monitor'
    state.mkdir(exist_ok=True)
    written = configparser.ConfigParser(interpolation=None)
    written['kronos_monitor'] = {
        'host': host.name,
        'source': 'libvirt',
        'rules_file': str(layout.ROOT / 'etc/kronos/event_rules.yaml'),
        'state_file': str(state / 'monitor.db'),
        'metrics_host': host.address,
        'metrics_port': str(PORT),
        'sinks': ', '.join(sinks),
        **(more or {}),
    }
    for name, options in sinks.items():
        written[f'kronos_monitor_{name}'] = dict(options)
    FOLDER.mkdir(exist_ok=True)
    place = FOLDER / f'{host.name}.conf'
    place.touch(mode=0o600)
    with place.open('w') as output:
        written.write(output)


def cloud() -> dict[str, str]:
    """How a sink gets at the lab's Keystone: as Watcher's own user."""
    return {
        'auth_type': 'password',
        'auth_url': f'http://127.0.0.1:{ports()["keystone"]}/v3',
        'username': 'watcher',
        'password': settings.password(),
        'project_name': 'service',
        'user_domain_id': 'default',
        'project_domain_id': 'default',
        'region_name': 'RegionOne',
        # The lab is on loopback, without TLS.
        'insecure': 'true',
    }


def prepare(found: list[RealHost]) -> None:
    """Write the files of hosts that are new in a lab with monitors."""
    for host in found:
        if is_chosen() and not (host.folder / 'monitor').exists():
            write(host)


def start(found: list[RealHost]) -> None:
    """Start those that do not run, and wait until they serve."""
    for host in found:
        write(host)
        monitor(host).start()
    for host in found:
        monitor(host).wait()
    hosts.write_targets(found, {'real-monitor.json': PORT})
