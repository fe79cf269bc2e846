# SPDX-License-Identifier: Apache-2.0
"""Make the manual pages and the sample of kronos.conf.

The package's metadata has to be on the path, with the top of the source.
"""

import importlib
import importlib.metadata
import pathlib
import shutil

import manual_page
from oslo_config import generator

PACKAGE = 'kronos-watcher'
TOP = pathlib.Path(__file__).resolve().parents[1]
PAGES = TOP / 'doc' / 'man'
OPTIONS = TOP / 'etc' / 'kronos' / 'kronos-config-generator.conf'


def main() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir()
    package = importlib.metadata.distribution(PACKAGE)
    commands = package.entry_points.select(group='console_scripts')
    for command in commands:
        # That of the script loads the module of the same name.
        module = importlib.import_module(f'kronos.cmd.{command.attr}')
        page = manual_page.of(
            module.argument_parser(),
            version=f'{PACKAGE} {package.version}',
            others=commands.names - {command.name},
        )
        (PAGES / f'{command.name}.1').write_text(page)
    generator.main(['--config-file', str(OPTIONS)])


if __name__ == '__main__':
    main()
