# SPDX-License-Identifier: Apache-2.0
"""The files of the lab, in one folder. Standard library only."""

import json
import os
import pathlib
import tempfile
from typing import Any

from labkit import cohorts

KIT = pathlib.Path(__file__).resolve().parent
ROOT = KIT.parent.parent
HOME = ROOT / '.lab'
NAME = os.environ.get('KRONOS_LAB', '')
"""Of a lab beside the usual one; they share what is installed and the seed,
unless it is a cohort's."""
LAB = HOME / f'lab-{NAME}' if NAME else HOME
COHORT = cohorts.COHORTS.get(NAME, cohorts.REFERENCE)
"""What is installed in it: a cohort's lab has its name."""
VENV = HOME / COHORT.environment
ETC = LAB / 'etc'
LOG = LAB / 'log'
RUN = LAB / 'run'
DATA = LAB / 'data'
HOSTS = DATA / 'hosts.json'
"""{"hosts": how many the only cell has}; with the data of more than nine."""
SEED = HOME / COHORT.named('seed')
PORTS = LAB / 'ports.json'

DEMAND = RUN / 'demand.json'
"""{server name or uuid: {"cpu": cores, "memory_mb": MiB}}"""
TRACE = RUN / 'trace.json'
"""{"start": Unix seconds, "step": seconds, "cores": {server name: [...]}}"""
EXPORTER = RUN / 'exporter.json'
"""{"down": [hosts whose targets fail], "base": {host: {...}}}"""
RELEASES = RUN / 'releases.json'
"""{host: {"release": "6.1.0", "version": 1000, "booted": Unix seconds}}"""
MIGRATIONS = RUN / 'migrations.json'
"""{"default" | "source:HOST" | "destination:HOST" | uuid or name: rule}"""
NOVA_API = RUN / 'nova-api.json'
"""{"rules": [what Nova's API answers to Watcher, the first that fits]}"""
NOVA_REQUESTS = LOG / 'nova-requests.jsonl'
"""What Watcher has asked of Nova's API, one object a line."""
KRONOS = ETC / 'watcher.conf.d' / 'overrides.conf'
"""Options of Kronos that a test sets; read after kronos.conf."""
SCHEDULER = ETC / 'nova-scheduler.conf.d'
"""What nova-scheduler reads besides, kronos.conf among it."""
SECOND_CONTROLLER = ETC / 'watcher-controller-2.conf.d'
"""What the second applier and the second decision engine read after all that
the first ones read."""


def make() -> None:
    """Make the folders that every command may rely on."""
    for folder in (ETC, LOG, RUN, DATA):
        folder.mkdir(parents=True, exist_ok=True)


def program(name: str) -> str:
    """Path of a program of the lab's virtual environment."""
    return str(VENV / 'bin' / name)


def read_json(file: pathlib.Path) -> dict[str, Any]:
    """An object from a file that people edit; {} if there is none.

    :raises ValueError: names the file and the place of the mistake
    """
    try:
        content = json.loads(file.read_text())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f'{file} is not valid JSON: {error}') from error
    if not isinstance(content, dict):
        raise ValueError(f'{file}: an object is needed, {{...}}')
    return content


def write_json(file: pathlib.Path, content: dict[str, Any]) -> None:
    """Replace a file at once, so that no reader sees half of it."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    with os.fdopen(handle, 'w') as output:
        json.dump(content, output, indent=1)
    os.replace(name, file)
