# SPDX-License-Identifier: Apache-2.0
"""The directive ``plugins``: those of an entry point, as they tell of them.

Its argument is the name of the group, such as ``watcher_strategies``.
"""

import importlib
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import generated

TOP = Path(__file__).resolve().parents[2]


def project() -> dict[str, Any]:
    """What ``pyproject.toml`` says of Kronos."""
    with (TOP / 'pyproject.toml').open('rb') as file:
        found: dict[str, Any] = tomllib.load(file)['project']
    return found


def of_group(group: str) -> dict[str, Any]:
    """Name of each plugin of Kronos in a group, with its class."""
    found = {}
    for name, where in project()['entry-points'][group].items():
        module, _, attribute = where.partition(':')
        with warnings.catch_warnings():
            # Those of what Watcher and Nova import.
            warnings.simplefilter('ignore')
            found[name] = getattr(importlib.import_module(module), attribute)
    return found


def told(plugin: Any) -> str:
    """The first paragraph of its docstring, or else of its module."""
    module = importlib.import_module(plugin.__module__)
    text = plugin.__dict__.get('__doc__') or module.__doc__ or ''
    return ' '.join(text.partition('\n\n')[0].split())


def goal(plugin: Any) -> Iterator[str]:
    numbers = {one.name: one.description for one in plugin.MEASURES}
    numbers[f'{plugin.SHARE.name} (%)'] = plugin.SHARE.description
    yield from generated.table(
        ('Indicator', 'What it tells'),
        [
            (f'``{name}``', generated.plain(text))
            for name, text in numbers.items()
        ],
    )


def strategy(plugin: Any) -> Iterator[str]:
    yield f'Goal: ``{plugin.get_goal_name()}``. Its parameters:'
    yield ''
    schema = plugin.get_schema()
    yield from generated.table(
        ('Parameter', 'What it is'),
        [
            (f'``{name}``', generated.plain(how.get('description', '')))
            for name, how in schema['properties'].items()
        ],
    )


MORE = {'watcher_goals': goal, 'watcher_strategies': strategy}


class Plugins(generated.Generated):
    required_arguments = 1

    def lines(self) -> list[str]:
        group, lines = self.arguments[0], []
        for name, plugin in of_group(group).items():
            body = [generated.plain(told(plugin)), '']
            body += MORE.get(group, lambda one: [])(plugin)
            lines.append(f'``{name}``')
            lines += [f'    {line}'.rstrip() for line in body]
        return lines


def setup(app):
    app.add_directive('plugins', Plugins)
    return {'parallel_read_safe': True}
