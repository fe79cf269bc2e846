# SPDX-License-Identifier: Apache-2.0
"""Horizon beside the lab. Standard library only.

Under Django's own server, as its developers do it. No lab waits for it: it is
started by its command alone, and ends with the lab.
"""

import shutil
import string

from labkit import layout, running, services

PLACE = layout.HOME / 'horizon'
"""Its packages. Shared by all labs, as the virtual environment is, and beside
it, since few labs need them."""
PACKAGES = layout.KIT / 'horizon' / 'packages.txt'
NAME = 'horizon'
FOLDER = layout.ETC / NAME
"""What it imports as ``local`` is there."""
SETTINGS = layout.KIT / 'horizon' / 'local_settings.template'
STATIC = PLACE / 'static'
MANIFEST = STATIC / 'dashboard' / 'manifest.json'
"""Written when all style sheets and scripts are made."""
ENVIRON = {
    'DJANGO_SETTINGS_MODULE': 'openstack_dashboard.settings',
    'PYTHONPATH': f'{FOLDER}:{PLACE}',
}


def enable_pages() -> None:
    """Have Horizon know the pages of watcher-dashboard, as its manual says."""
    ours, target = PLACE / 'watcher_dashboard', PLACE / 'openstack_dashboard'
    for names in ('local/enabled/_*.py', 'conf/*.yaml'):
        for file in ours.glob(names):
            shutil.copy(file, target / file.relative_to(ours))


def serve(ports: dict[str, int]) -> str:
    """Start it unless it runs.

    :returns: its address
    :raises running.LabError: it ended at its start; the text says why
    """
    _write_settings(ports)
    if not MANIFEST.exists():
        for work in (['collectstatic', '--noinput'], ['compress']):
            running.run(NAME, _django(*work, '-v0'), **ENVIRON)
    place = f'127.0.0.1:{ports[NAME]}'
    service = services.Service(
        NAME,
        # It would leave its static files to a web server.
        _django('runserver', '--noreload', '--insecure', place),
        lambda: running.answers(ports[NAME], '/auth/login/'),
        ENVIRON,
    )
    service.start()
    service.wait()
    return f'http://{place}/'


def _django(*words: str) -> list[str]:
    return [layout.program('python'), '-m', 'django', *words]


def _write_settings(ports: dict[str, int]) -> None:
    package = FOLDER / 'local'
    package.mkdir(parents=True, exist_ok=True)
    (package / '__init__.py').touch()
    text = string.Template(SETTINGS.read_text()).substitute(
        keystone=ports['keystone'], folder=FOLDER, static=STATIC
    )
    (package / 'local_settings.py').write_text(text)
