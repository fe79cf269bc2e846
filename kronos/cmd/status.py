# SPDX-License-Identifier: Apache-2.0
"""The command kronos-status: may services be upgraded, and restarted?

Exit status, as of the commands of this kind of other projects: 0 all checks
are good; 1 there is a warning; 2 there is a failure, or the arguments are
wrong; 255 something unforeseen happened.
"""

import argparse
import contextlib
import io
import sys
import traceback
from collections.abc import Sequence

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from kronos.cmd import config_files, program, terminal
from kronos.cmd.checks import subprocess_probe
from kronos.cmd.screen import progress
from kronos.cmd.upgrade_checks import (
    configuration,
    database,
    defaults,
    plugins,
    services,
    versions,
)
from kronos.common import exceptions

PROGRAM = 'kronos-status'
SCHEDULER = 'nova-scheduler'
UNFORESEEN = 255


class Checks(upgradecheck.UpgradeCommands):
    """The checks, in their order.

    :param files: the configuration of Kronos
    :param probed: the services of this machine
    :param os_cloud: of clouds.yaml; '' if none was named
    """

    def __init__(
        self,
        files: configuration.Configuration,
        probed: services.LocalServices,
        os_cloud: str,
    ) -> None:
        super().__init__()
        self._files, self._probed = files, probed
        self._os_cloud = os_cloud

    _upgrade_checks = (
        ('Audits Kept', lambda self: database.strategies(self._probed)),
        ('Configuration', lambda self: configuration.check(self._files)),
        (
            'Policies Files',
            lambda self: configuration.check_policies(self._files),
        ),
        ('Changed Defaults', lambda self: defaults.check(self._files)),
        ('Installed Versions', lambda _: versions.check()),
        (
            'Nova API',
            lambda self: versions.check_nova(self._files, self._os_cloud),
        ),
        ('Plugin Names', lambda _: plugins.names()),
        ('Plugins Load', lambda self: plugins.load(self._probed)),
        ('Action Plans', lambda self: database.plans(self._probed)),
        ('Action Parameters', lambda self: database.parameters(self._probed)),
        ('Other Hosts', lambda self: database.hosts(self._probed)),
    )


@program.command(PROGRAM, failed=UNFORESEEN)
def main(
    arguments: Sequence[str] | None = None,
    inspect: subprocess_probe.Inspect = subprocess_probe.inspect,
) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :param inspect: loads modules of Watcher and Nova
    :returns: the exit status
    """
    parsed = argument_parser().parse_args(arguments)
    config_files.log(parsed.debug)
    try:
        with progress.shown(PROGRAM, parsed.debug):
            progress.step('checking files, plugins and services')
            status, text = _checked(_checks(parsed, inspect), parsed.json)
    except exceptions.KronosException:
        raise
    # Without its text, which may hold a secret.
    except Exception as error:
        terminal.complain(PROGRAM, f'{type(error).__name__} {_place(error)}')
        return UNFORESEEN
    terminal.show(text)
    return status


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Check whether you can upgrade Kronos, Watcher or Nova, '
        'and restart their services. This command changes '
        'nothing.',
        epilog='Exit status: 0 no problem, 1 a warning, 2 a failure or wrong '
        'usage, 255 an unexpected error.',
    )
    parser.add_argument('what', choices=['upgrade'], help='name of the check')
    parser.add_argument('action', choices=['check'], help='what to do')
    parser.add_argument(
        '--json', action='store_true', help='print the results as JSON'
    )
    config_files.add_arguments(parser)
    config_files.add_paths(
        parser,
        '--watcher-config',
        'watcher.conf, or its directory; FILE.d is read, too (default: the '
        'file that Watcher uses). The command reads its database, and its '
        'section [kronos] if no --config-file is given',
    )
    config_files.add_paths(
        parser,
        '--nova-config',
        'nova.conf of nova-scheduler, or its directory; FILE.d and '
        f'{SCHEDULER}.conf.d are read, too (default: the file that '
        'nova-scheduler uses, if Nova is installed)',
    )
    config_files.add_debug(parser)
    return parser


def _checks(
    parsed: argparse.Namespace, inspect: subprocess_probe.Inspect
) -> Checks:
    named = config_files.paths(parsed.watcher_config)
    engine = named or config_files.default_paths(services.ENGINE, 'watcher')
    applier = named or config_files.default_paths(services.APPLIER, 'watcher')
    nova = config_files.paths(parsed.nova_config, [f'{SCHEDULER}.conf.d'])
    if not nova and program.installed('nova'):
        nova = config_files.default_paths(SCHEDULER, 'nova')
    own = config_files.paths([*parsed.config_file, *parsed.config_dir])
    own = own or named or config_files.default_paths(PROGRAM) or engine
    return Checks(
        configuration.Configuration(
            own, [paths for paths in (engine, applier, nova) if paths != own]
        ),
        services.LocalServices(inspect, engine, applier, nova),
        parsed.os_cloud,
    )


def _checked(checks: Checks, as_json: bool) -> tuple[int, str]:
    """Exit status, and what is to be printed.

    As ``upgradecheck.main`` does, but for the files, which others read.
    """
    conf = cfg.ConfigOpts()
    upgradecheck.register_cli_options(conf, checks)
    conf(
        ['upgrade', 'check', *(['--json'] if as_json else [])],
        project=config_files.PROJECT,
        default_config_files=[],
        default_config_dirs=[],
    )
    upgradecheck.CONF = conf
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = checks.check()
    return int(status), output.getvalue().rstrip('\n')


def _place(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f'in {last.name}, line {last.lineno} of {last.filename}'


if __name__ == '__main__':
    sys.exit(main())
