# SPDX-License-Identifier: Apache-2.0
"""The directive ``command``: usage and options of a command, by its parser.

Its argument is the name of the command, as ``pyproject.toml`` has it:
``kronos-replay``, or ``optimize_kronos_explain`` of the openstack client.
"""

import argparse
import functools
import importlib
from collections.abc import Iterator

import generated
import plugin_reference

WIDTH = 80
CLIENT = 'openstack.kronos.v1'
LEAD = 'usage: '


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a command of Kronos, or of the openstack client."""
    if where := plugin_reference.project()['scripts'].get(name):
        module = where.partition(':')[2]
        found = importlib.import_module(f'kronos.cmd.{module}')
        return found.argument_parser()
    command = plugin_reference.of_group(CLIENT)[name](None, None)
    return command.get_parser(f'openstack {name.replace("_", " ")}')


def usage(parser: argparse.ArgumentParser) -> list[str]:
    parser.formatter_class = functools.partial(
        argparse.HelpFormatter, width=WIDTH
    )
    lines = parser.format_usage().splitlines()
    return [line[len(LEAD) :] for line in lines]


def arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A row for each: how it is given, and its help."""
    # argparse tells its groups to nobody but its own formatters.
    for group in parser._action_groups:
        for action in group._group_actions:
            if action.help == argparse.SUPPRESS:
                continue
            names = ', '.join(action.option_strings)
            value = '' if action.nargs == 0 else _value(action)
            told = {**vars(action), 'prog': parser.prog}
            yield f'``{f"{names} {value}".strip()}``'
            yield f'    {generated.plain((action.help or "") % told)}'


def _value(action: argparse.Action) -> str:
    shown = action.metavar or action.dest.upper()
    if action.choices is not None and action.metavar is None:
        shown = '|'.join(map(str, action.choices))
    text = shown if isinstance(shown, str) else ' '.join(shown)
    return f'{text} ...' if action.nargs in ('*', '+') else text


class Command(generated.Generated):
    required_arguments = 1

    def lines(self) -> list[str]:
        parser = parser_of(self.arguments[0])
        return [
            *generated.plain(parser.description or '').splitlines(),
            '',
            '.. code-block:: text',
            '',
            *(f'   {line}' for line in usage(parser)),
            '',
            *arguments(parser),
            '',
            *generated.plain(parser.epilog or '').splitlines(),
        ]


def setup(app):
    app.add_directive('command', Command)
    return {'parallel_read_safe': True}
