# SPDX-License-Identifier: Apache-2.0
"""The modules of a package, parsed."""

import ast
import pathlib
from dataclasses import dataclass
from typing import Self


@dataclass
class Module:
    """One file, by its dotted name."""

    name: str
    path: pathlib.Path
    text: str
    tree: ast.Module


@dataclass
class Sources:
    """All modules below one folder, sorted by path."""

    top: pathlib.Path
    modules: dict[str, Module]

    @classmethod
    def read(cls, top: pathlib.Path, package: str = 'kronos') -> Self:
        """:param top: the folder that has the package"""
        modules = {}
        for path in sorted((top / package).rglob('*.py')):
            parts = path.relative_to(top).with_suffix('').parts
            if parts[-1] == '__init__':
                parts = parts[:-1]
            text = path.read_text()
            name = '.'.join(parts)
            modules[name] = Module(name, path, text, ast.parse(text))
        return cls(top, modules)
