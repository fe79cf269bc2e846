# SPDX-License-Identifier: Apache-2.0
"""The command kronos-instance-monitor: it tells of servers that fail.

Exit status: 0 when it was ended by SIGTERM, or all that ``--check`` looked at
is good; 1 when some of that is not; 2 when arguments, options or rules are
wrong, or a package is missing.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging

from kronos.cmd import config_files, program, terminal
from kronos.cmd.screen import progress
from kronos.common import exceptions, masking

PROGRAM = 'kronos-instance-monitor'
WRONG = 2


@program.command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parsed = argument_parser().parse_args(arguments)
    where = config_files.paths([*parsed.config_file, *parsed.config_dir])
    where = where or config_files.default_paths(PROGRAM)
    try:
        conf = _load(where, parsed)
        # What needs a package of the extra is loaded from here on.
        from kronos.monitor import settings as monitor_settings

        is_tried = parsed.check or parsed.explain
        look = monitor_settings.look if is_tried else monitor_settings.whole
        try:
            settings, faults = look(conf, where.all_files)
            if faults and not parsed.check:
                raise exceptions.ConfigurationError(reason='; '.join(faults))
        except exceptions.ConfigurationError as error:
            _complain(error)
            _complain_of_rules(conf)
            return WRONG
        if parsed.check:
            with progress.shown(PROGRAM, parsed.debug):
                progress.step('testing rules, sinks and source')
                return _check(settings, faults)
        if parsed.explain:
            return _explain(settings, parsed.explain)
        return _run(settings, conf)
    except exceptions.ConfigurationError as error:
        _complain(error)
    except ModuleNotFoundError as error:
        terminal.complain(
            PROGRAM,
            f'the package {error.name} is not installed: pip install '
            "'kronos-watcher[monitor]'",
        )
    return WRONG


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Watch the servers of this host, and report servers that '
        'fail.',
        epilog='Exit status: 0 ended by SIGTERM or no problem found, 1 '
        'problem found, 2 wrong usage, options or rules.',
    )
    config_files.add_file_arguments(parser)
    parser.add_argument(
        '--check',
        action='store_true',
        help='test options, rules, state file, sinks and source, without '
        'changing anything',
    )
    parser.add_argument(
        '--explain',
        nargs='+',
        metavar=('EVENT', 'FIELD=VALUE'),
        help='show which rule applies to an event, such as STOPPED_FAILED, '
        'WATCHDOG/RESET or crash, of a server with these fields',
    )
    parser.add_argument(
        '--debug', action='store_true', help='log more than usual'
    )
    return parser


def _load(where: config_files.Paths, parsed: argparse.Namespace) -> Any:
    conf = cfg.ConfigOpts()
    logging.register_options(conf)
    conf.set_default('use_stderr', True)
    config_files.read(conf, where)
    if parsed.debug:
        conf.set_override('debug', True)
    if parsed.check or parsed.explain:
        config_files.log(parsed.debug)
    return conf


def _complain(error: Exception) -> None:
    terminal.complain(PROGRAM, masking.masked(str(error)))


def _complain_of_rules(conf: Any) -> None:
    """Tell what is wrong with the rules, too, as far as options let it."""
    from kronos.conf import monitor
    from kronos.monitor.rules import file

    try:
        own = conf[monitor.GROUP]
        file.WatchedRules(own.rules_file, own.sinks)
    except exceptions.ConfigurationError as error:
        _complain(error)
    except (cfg.Error, ValueError):
        # It is told already.
        return


def _check(settings: Any, faults: Sequence[str]) -> int:
    """Show every fault in one go, of options and of what they name."""
    from kronos.monitor import checks

    if faults:
        _complain(exceptions.ConfigurationError(reason='; '.join(faults)))
    results = checks.run(settings)
    for result in results:
        fault = masking.masked(result.fault)
        terminal.show(f'{result.what}: {fault or "good"}')
    if faults:
        return WRONG
    return 1 if any(result.fault for result in results) else 0


def _explain(settings: Any, words: Sequence[str]) -> int:
    """Answer by the rules, for which no hypervisor is needed."""
    from kronos.monitor.rules import explanation, file

    names = settings.sink_names
    watched = file.WatchedRules(settings.rules_file, names)
    terminal.show(explanation.explain(words, watched.rules, names))
    return 0


def _run(settings: Any, conf: Any) -> int:
    from kronos.monitor import wiring

    agent = wiring.agent_of(settings)
    # The agent for Pacemaker takes this as a sign that the program is ready.
    with program.Termination() as termination:
        logging.setup(conf, 'kronos')
        # The terminal that it was started from may be closed.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        agent.run(termination)
    return 0


if __name__ == '__main__':
    sys.exit(main())
