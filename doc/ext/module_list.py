# SPDX-License-Identifier: Apache-2.0
"""The directive ``modules``: each module of a package by its own first line.

A folder is a section, and a package says in its docstring what is in it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import generated

TOP = Path(__file__).resolve().parents[2]


def folders(package: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Name and first line of each folder, with those of its modules."""
    root = TOP / package
    for folder in sorted({path.parent for path in root.rglob('*.py')}):
        lines = {
            path.stem: first_line(path) for path in sorted(folder.glob('*.py'))
        }
        line = lines.pop('__init__', '')
        if lines:
            yield str(folder.relative_to(root)), line, lines


def first_line(path: Path) -> str:
    """Of the docstring of a module; '' of none."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ''
    return text.partition('\n')[0]


class Modules(generated.Generated):
    required_arguments = 1

    def lines(self) -> list[str]:
        lines = []
        for folder, line, modules in folders(self.arguments[0]):
            lines += [folder, '-' * len(folder), '', line, '']
            for name, says in modules.items():
                lines += [f'``{name}``', f'    {says}']
            lines.append('')
        return lines


def setup(app):
    app.add_directive('modules', Modules)
    return {'parallel_read_safe': True}
