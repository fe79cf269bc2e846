# SPDX-License-Identifier: Apache-2.0
"""Make the manual pages, the completions and the sample of kronos.conf.

The package's metadata has to be on the path, with the top of the source.
"""

import argparse
import importlib
import importlib.metadata
import pathlib
import shutil
from collections.abc import Collection

import shtab
from argparse_manpage import manpage
from oslo_config import generator

PACKAGE = 'kronos-watcher'
TOP = pathlib.Path(__file__).resolve().parents[1]
PAGES = TOP / 'doc' / 'man'
COMPLETIONS = TOP / 'doc' / 'completions'
SHELLS = {'bash': '', 'zsh': '_'}
"""Shells, and with what the name of a file begins that completes there."""
PATHS = {'FILE': shtab.FILE, 'PATH': shtab.FILE, 'DIR': shtab.DIRECTORY}
"""How an argument of this name is completed."""
FILES = (
    'Where no other file is named, the configuration is '
    '/etc/kronos/kronos.conf or ~/.kronos/kronos.conf. The policies are '
    '/etc/kronos/policies.yaml, unless policies_file in [kronos] names others.'
)
"""Of a command that reads configuration."""
OPTIONS = TOP / 'etc' / 'kronos' / 'kronos-config-generator.conf'


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir()
    shutil.rmtree(COMPLETIONS, ignore_errors=True)
    for shell in SHELLS:
        (COMPLETIONS / shell).mkdir(parents=True)
    package = importlib.metadata.distribution(PACKAGE)
    commands = package.entry_points.select(group='console_scripts')
    for command in commands:
        # That of the script loads the module of the same name.
        module = importlib.import_module(f'kronos.cmd.{command.attr}')
        page = manual_page(
            module.argument_parser(),
            version=package.version,
            others=commands.names - {command.name},
        )
        (PAGES / f'{command.name}.1').write_text(page)
        for shell, before in SHELLS.items():
            path = COMPLETIONS / shell / f'{before}{command.name}'
            path.write_text(completion(module.argument_parser(), shell))
    generator.main(['--config-file', str(OPTIONS)])


def manual_page(
    parser: argparse.ArgumentParser, version: str, others: Collection[str]
) -> str:
    """The text of a page of section 1.

    :param version: that stands in its foot
    :param others: commands to name below SEE ALSO
    """
    told = parser.description or ''
    status = (parser.epilog or '').removeprefix('Exit status: ')
    parser.epilog = None
    data = {
        # The first sentence, as the line of apropos(1) has it.
        'description': told[:1].lower() + told[1:].partition('. ')[0],
        'project_name': PACKAGE,
        'version': version,
        'manual_title': 'Kronos',
    }
    page = manpage.Manpage(parser, data)
    # A date would make each build another one.
    page.date = ''
    if status:
        page.add_section('exit status', '=', page.format_text(status))
    if '--config-file' in parser.format_usage():
        page.add_section('files', '=', page.format_text(FILES))
    named = ', '.join(f'{one}(1)' for one in sorted(others))
    page.add_section('see also', '=', page.format_text(named))
    return str(page)


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """What completes the words of a command in a shell."""
    for action in parser._actions:
        if action.metavar in PATHS:
            action.complete = PATHS[action.metavar]  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))


if __name__ == '__main__':
    main()
