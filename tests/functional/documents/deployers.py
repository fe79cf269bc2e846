# SPDX-License-Identifier: Apache-2.0
"""What deployers make of the files in ``deploy``.

Each function does to them what the documentation of the deployer says that it
does, so that services' own libraries can read the result.
"""

import json
import pathlib
import re
import string
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oslo_config import iniparser

from tests import places

DEPLOY = places.TOP / 'deploy'
LAB = places.TOP / 'tools' / 'labkit' / 'conf'
POLICIES = '/etc/kronos/policies.yaml'
PROMETHEUS = 'http://192.0.2.7:9091'
EFFECTIVE = """
import json, sys
from importlib import metadata
from oslo_config import cfg

answers = []
for namespaces, arguments, files, folders in json.load(sys.stdin):
    conf, known = cfg.ConfigOpts(), []
    for name in namespaces:
        point, = metadata.entry_points(group='oslo.config.opts', name=name)
        for group, opts in point.load()():
            group = getattr(group, 'name', group)
            group = None if group == 'DEFAULT' else group
            conf.register_opts(opts, group=group)
            known += [(group, opt.dest) for opt in opts]
    conf.register_opt(cfg.ListOpt('weight_classes'), 'filter_scheduler')
    known.append(('filter_scheduler', 'weight_classes'))
    conf(
        arguments, default_config_files=files, default_config_dirs=folders
    )
    answers.append(
        {
            f'{group}.{name}': repr((conf[group] if group else conf)[name])
            for group, name in known
        }
    )
json.dump(answers, sys.stdout)
"""


@dataclass
class Service:
    """How a service is started, and what it finds by itself.

    :param options: namespaces of the options that it knows
    :param arguments: of its command line
    :param files: that it reads if none is named there
    :param folders: likewise, each with all its ``*.conf``
    """

    options: Sequence[str]
    arguments: Sequence[str] = ()
    files: Sequence[pathlib.Path] = ()
    folders: Sequence[pathlib.Path] = ()

    def plain(self) -> list[list[str]]:
        return [
            list(map(str, words))
            for words in (
                self.options,
                self.arguments,
                self.files,
                self.folders,
            )
        ]


def effective(*services: Service) -> list[dict[str, str]]:
    """What oslo.config reads, of every option, as services do.

    In another process: the options of Watcher bring eventlet with them.
    """
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', EFFECTIVE],
        input=json.dumps([service.plain() for service in services]),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    found: list[dict[str, str]] = json.loads(done.stdout)
    return found


def of_the_lab(name: str) -> str:
    """A configuration file of the lab, on a machine with other paths."""
    text = (LAB / name).read_text()
    # "url = http://127.0.0.1:$prometheus"
    text = text.replace('http://127.0.0.1:$prometheus', PROMETHEUS)
    text = text.replace('$broker_options\n', '')
    names = set(re.findall(r'\$(\w+)', text)) - {'policies'}
    values = {name: str(1000 + at) for at, name in enumerate(sorted(names))}
    return string.Template(text).substitute(values, policies=POLICIES)


class Sections(iniparser.BaseParser):
    """Sections of an INI file, and of each option all its values."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, dict[str, list[str]]] = {}
        self._section = ''

    def new_section(self, section: str) -> None:
        self._section = section
        self.found.setdefault(section, {})

    def assignment(self, key: str, value: list[str]) -> None:
        values = self.found[self._section].setdefault(key, [])
        values.append('\n'.join(value))


def sections(text: str) -> dict[str, dict[str, list[str]]]:
    parser = Sections()
    parser.parse(text.splitlines())
    return parser.found


def merged(texts: Iterable[str]) -> str:
    """INI files as kolla-ansible merges them.

    A section is there once. An option of a later file takes the place of that
    of an earlier one, whatever number of values it has.
    """
    whole: dict[str, dict[str, list[str]]] = {}
    for text in texts:
        for name, options in sections(text).items():
            whole.setdefault(name, {}).update(options)
    return ''.join(
        f'[{name}]\n'
        + ''.join(
            f'{option} = {value}\n'
            for option, values in options.items()
            for value in values
        )
        for name, options in whole.items()
    )


def layered(below: Any, above: Any) -> Any:
    """Helm's values of two files: maps are merged, the rest is replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    both = {**below, **above}
    for key in below.keys() & above.keys():
        both[key] = layered(below[key], above[key])
    return both


def as_ini(values: Mapping[str, Mapping[str, Any]]) -> str:
    """Values below ``conf`` as OpenStack-Helm's toolkit writes them.

    Sections and options are sorted, lists joined with commas, and what is
    null is left out.
    """
    lines = []
    for section, options in sorted(values.items()):
        lines.append(f'[{section}]')
        for option, value in sorted(options.items()):
            if value is not None:
                lines.append(f'{option} = {_printed(value)}')
    return '\n'.join(lines) + '\n'


def _printed(value: Any) -> str:
    """As Go prints what Helm has read."""
    if isinstance(value, list):
        return ','.join(map(_printed, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        # Helm reads every number as a float, and Go prints a large one so
        # that oslo.config takes it for no integer.
        if abs(value) >= 10**6:
            mantissa, _, exponent = f'{value:e}'.partition('e')
            return f'{mantissa.rstrip("0").rstrip(".")}e{exponent}'
        return f'{value:g}'
    return str(value)


def instructions(text: str) -> list[tuple[str, str]]:
    """(instruction, arguments) of a Containerfile, one a logical line."""
    lines = [
        line
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith('#')
    ]
    joined = re.sub(r'\\\n', '', '\n'.join(lines))
    found = []
    for line in joined.splitlines():
        word, _, rest = line.strip().partition(' ')
        found.append((word, rest.strip()))
    return found
