# SPDX-License-Identifier: Apache-2.0
"""The services of Masakari, and the start of each.

Only where they were asked for: no other lab waits for them. Standard library
only.
"""

from labkit import layout, running, services

PLACE = layout.HOME / 'masakari'
"""Its package. Shared by all labs, as the virtual environment is, and beside
it, since few labs need it."""
PACKAGES = (
    'automaton==3.5.0',
    'masakari==22.0.0',
    'masakari-monitors==22.0.0',
    'py-consul==1.8.0',
    'python-novaclient==18.13.1',
    'sqlalchemy-utils==0.43.0',
)
"""What the virtual environment does not hold already; its own monitor is
there to be compared."""
CHOSEN = layout.RUN / 'masakari.json'
"""It is there in a lab that has Masakari."""
FOLDER = layout.ETC / 'masakari'
"""Its services look there for their files."""
API, ENGINE = 'masakari-api', 'masakari-engine'


def is_chosen() -> bool:
    """Whether this lab has Masakari."""
    return CHOSEN.exists()


def table(ports: dict[str, int]) -> dict[str, services.Service]:
    """Its services by name; none in a lab without it."""
    if not is_chosen():
        return {}
    port = ports['masakari']
    api = services.Service(
        API,
        [
            *(layout.program('python'), '-m', 'labkit.serve'),
            *('masakari.wsgi.api', str(port), *files()),
        ],
        lambda: running.answers(port),
        environ(),
    )
    engine = services.Service(
        ENGINE, [program('masakari-engine'), *files()], environ=environ()
    )
    return {API: api, ENGINE: engine}


def program(name: str) -> str:
    """Path of a program of the package."""
    return str(PLACE / 'bin' / name)


def files() -> list[str]:
    return [f'--config-file={FOLDER}/masakari.conf']


def environ() -> dict[str, str]:
    """What a process needs to find the package and its files."""
    return {
        'OS_MASAKARI_CONFIG_DIR': str(FOLDER),
        'PYTHONPATH': f'{PLACE}:{layout.KIT.parent}',
    }
