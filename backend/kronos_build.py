# SPDX-License-Identifier: Apache-2.0
"""The build backend: pbr's, with what is made from the code before it.

A wheel and a source distribution hold a manual page of each command, its
completion in bash and zsh, and a sample of kronos.conf. They are made from the
commands' own parsers and options, so what these import has to be there at
build. A source distribution has them already, and a wheel that is made of it
needs pbr alone.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
from typing import Any

from pbr import build

TOP = pathlib.Path(__file__).resolve().parents[1]
NOT_IMPORTED = 'oslo.messaging'
"""A dependency that no command imports; with it comes half of all packages."""

MAKERS = ['argparse-manpage>=4.7', 'shtab>=1.7']
"""They make manual pages and completions; nothing needs them later."""

build_editable = build.build_editable
get_requires_for_build_editable = build.get_requires_for_build_editable
prepare_metadata_for_build_editable = build.prepare_metadata_for_build_editable
prepare_metadata_for_build_wheel = build.prepare_metadata_for_build_wheel


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    needed: list[str] = build.get_requires_for_build_wheel(config_settings)
    return needed + _imported()


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    needed: list[str] = build.get_requires_for_build_sdist(config_settings)
    return needed + _imported()


def build_wheel(
    wheel_directory: str,
    config_settings: Any = None,
    metadata_directory: str | None = None,
) -> str:
    _make(metadata_directory)
    name: str = build.build_wheel(
        wheel_directory, config_settings, metadata_directory
    )
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    _make()
    name: str = build.build_sdist(sdist_directory, config_settings)
    return name


def _is_distribution() -> bool:
    """Whether this is an unpacked source distribution, not a clone."""
    return (TOP / 'PKG-INFO').exists()


def _imported() -> list[str]:
    """What has to be there to import the commands and to tell of them."""
    if _is_distribution():
        return []
    project = tomllib.loads((TOP / 'pyproject.toml').read_text())['project']
    imported = (
        one
        for one in project['dependencies']
        if not one.startswith(NOT_IMPORTED)
    )
    return [*MAKERS, *imported]


def _make(metadata: str | None = None) -> None:
    """Make what is made from the code.

    :param metadata: the folder of the package's, if a frontend made it
    """
    if _is_distribution():
        return
    with tempfile.TemporaryDirectory() as folder:
        if metadata is None:
            name = build.prepare_metadata_for_build_wheel(folder)
            metadata = os.path.join(folder, name)
        # Options are found by the entry points of this metadata, not by those
        # of a version that may be installed.
        path = [os.path.dirname(metadata), str(TOP)]
        env = {
            **os.environ,
            'PYTHONPATH': os.pathsep.join(
                [*path, os.environ.get('PYTHONPATH', '')]
            ).rstrip(os.pathsep),
            'XDG_CACHE_HOME': folder,
        }
        script = TOP / 'backend' / 'made_from_code.py'
        subprocess.run(
            [sys.executable, '-B', str(script)], cwd=TOP, env=env, check=True
        )
