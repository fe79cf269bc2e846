# SPDX-License-Identifier: Apache-2.0
"""Names in the source: forbidden ones, and classes that share a name.

A forbidden name says nothing of what it stands for. Its share is that of all
names that are assigned: variables, loops and fields of classes, not
parameters. A file counts as free of them when no variable and no parameter
has one; a field may keep its name, since what is stored has it as a key.
"""

import ast
import collections
from collections.abc import Iterator
from dataclasses import dataclass

from measures.sources import Module, Sources

FORBIDDEN = frozenset(
    {
        'one', 'found', 'told', 'given', 'kept', 'made', 'known',
        'wanted', 'asked', 'there', 'held', 'left', 'at',
    }
)  # fmt: skip


@dataclass
class Share:
    """How many of all assigned names are forbidden."""

    forbidden: int = 0
    assigned: int = 0

    def __str__(self) -> str:
        return f'{100 * self.forbidden / max(self.assigned, 1):.1f} %'


def shares(sources: Sources) -> dict[str, Share]:
    """By folder of ``kronos``, and of all by its own name."""
    result: dict[str, Share] = collections.defaultdict(Share)
    for module in sources.modules.values():
        parts = module.name.split('.')
        folder = '.'.join(parts[:2]) if len(parts) > 2 else parts[0]
        for name in _assigned(module.tree):
            for key in {folder, 'all'}:
                result[key].assigned += 1
                result[key].forbidden += name in FORBIDDEN
    return dict(sorted(result.items(), key=lambda row: (row[0] == 'all', row)))


def _assigned(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def files_with_forbidden(sources: Sources) -> list[str]:
    """Paths, sorted, of files with a forbidden variable or parameter."""
    return sorted(
        str(module.path.relative_to(sources.top))
        for module in sources.modules.values()
        if forbidden_in(module)
    )


def forbidden_in(module: Module) -> list[tuple[int, str]]:
    """(line, name) of each forbidden variable and parameter."""
    fields = {
        statement.target
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    names = [
        (node.lineno, node.id)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and node not in fields
    ]
    names += [
        (node.lineno, node.arg)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.arg)
    ]
    return sorted(row for row in names if row[1] in FORBIDDEN)


def classes_of_several_modules(sources: Sources) -> list[str]:
    """Names of classes that are defined more than once."""
    counts = collections.Counter(
        node.name
        for module in sources.modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    )
    return sorted(name for name, count in counts.items() if count > 1)
