# SPDX-License-Identifier: Apache-2.0
"""The configuration file of each service.

The files themselves are templates in conf/; here are their values.
"""

import pathlib
import secrets
import string

from labkit import catalog, layout, services, topology, transport
from labkit import ports as kept_ports
from labkit.cells import choice
from labkit.ha import choice as ha_choice
from labkit.ha import cluster

PASSWORD = layout.LAB / 'password'


def password() -> str:
    """Of all of the lab's users; made by chance at the first ``up``."""
    if not PASSWORD.exists():
        PASSWORD.touch(mode=0o600)
        PASSWORD.write_text(secrets.token_urlsafe(18))
    return PASSWORD.read_text().strip()


def write(ports: dict[str, int]) -> None:
    """Write all configuration files."""
    values = {
        **{name: str(port) for name, port in ports.items()},
        'log': str(layout.LOG),
        'data': str(layout.DATA),
        'etc': str(layout.ETC),
        'run': str(layout.RUN),
        'venv': str(layout.VENV),
        'policies': str(layout.ROOT / 'etc/kronos/policies.yaml'),
        'password': password(),
        'broker': transport.url(ports),
        'broker_cell2': transport.url(ports, choice.VHOST),
        'broker_options': (
            cluster.BROKER_OPTIONS if ha_choice.is_chosen() else ''
        ),
        'second_host': services.SECOND_HOST,
        'node_targets': _targets(9100),
        'libvirt_targets': _targets(9177),
    }
    folders = {
        'kronos.conf': layout.KRONOS.parent,
        'controller-2.conf': layout.SECOND_CONTROLLER,
    }
    for folder in (
        *folders.values(),
        layout.SCHEDULER,
        layout.ETC / 'computes',
    ):
        folder.mkdir(exist_ok=True)
    for template in sorted((layout.KIT / 'conf').iterdir()):
        text = string.Template(template.read_text()).substitute(values)
        place = folders.get(template.name, layout.ETC)
        _write(place / template.name, text)
    shared = layout.SCHEDULER / 'kronos.conf'
    shared.unlink(missing_ok=True)
    shared.symlink_to(layout.KRONOS.parent / 'kronos.conf')
    for host in topology.HOSTS:
        write_compute(host)
    paste = layout.VENV / 'etc/nova/api-paste.ini'
    _write(layout.ETC / 'api-paste.ini', paste.read_text())
    (layout.ETC / 'enabled_plugins').write_text('[].\n')
    cluster.write(ports)


def _targets(port: int) -> str:
    return ', '.join(f"'{host}:{port}'" for host in topology.HOSTS)


def write_compute(host: str, skip_group_check: bool = False) -> None:
    """Write what one compute has for itself.

    :param skip_group_check: it does not check server groups once more, as
        it does in any production cloud with one cell, so that a server can
        be forced onto it against its group
    """
    state = layout.DATA / 'nova' / host
    state.mkdir(parents=True, exist_ok=True)
    broker = ''
    if choice.cell_of(host) == choice.SECOND:
        url = transport.url(kept_ports.load(), choice.VHOST)
        broker = f'transport_url = {url}\n'
        # Nobody in that cell can tell who else is in a group.
        skip_group_check = True
    _write(
        layout.ETC / 'computes' / f'{host}.conf',
        f'[DEFAULT]\nhost = {host}\nstate_path = {state}\n{broker}'
        f'[oslo_concurrency]\nlock_path = {state}/lock\n'
        '[workarounds]\ndisable_group_policy_check_upcall = '
        f'{str(skip_group_check).lower()}\n',
    )


def _write(file: pathlib.Path, text: str) -> None:
    file.touch(mode=0o600)  # passwords are in most of them
    file.write_text(text)


def client_variables(known: dict[str, int]) -> dict[str, str]:
    """OS_* variables for the ``openstack`` client."""
    return {
        'OS_AUTH_TYPE': 'password',
        'OS_AUTH_URL': f'http://127.0.0.1:{known["keystone"]}/v3',
        'OS_USERNAME': 'admin',
        'OS_PASSWORD': password(),
        'OS_PROJECT_NAME': 'admin',
        'OS_USER_DOMAIN_ID': 'default',
        'OS_PROJECT_DOMAIN_ID': 'default',
        'OS_REGION_NAME': 'RegionOne',
        'OS_INTERFACE': catalog.PEOPLE,
        'OS_IDENTITY_API_VERSION': '3',
        'OS_INFRA_OPTIM_API_VERSION': layout.COHORT.watcher_api,
        'OS_COMPUTE_API_VERSION': '2.100',
        'KRONOS_LAB_PROMETHEUS': f'http://127.0.0.1:{known["prometheus"]}',
    }
