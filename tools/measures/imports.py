# SPDX-License-Identifier: Apache-2.0
"""The import graph: its depth, and its arrows from the trunk into features.

Every import counts, at the top of a module and inside a function; one for
types alone is an arrow, but no link of a chain. ``from package import name``
is an arrow to the module ``name``, or to the package if the name is no module.
"""

import ast
import re
from collections.abc import Iterator

from measures.sources import Module, Sources

Graph = dict[str, set[str]]
FEATURES = {
    'cells': re.compile(
        r'kronos\.(extensions\.cells|conf\.cells'
        r'|(cmd|recordings|reports)\..*(cell|quota|flavors|unfinished_moves))'
    ),
    'recovery': re.compile(r'kronos\.(extensions|conf)\.recovery'),
    'room': re.compile(r'kronos\.extensions\.room'),
}
"""Which modules are a feature's: in its own folder, or still outside it.

Clients are of neither: they are a service's. Nor is the cell of a host, in
which live migrations stay.
"""


def graph(sources: Sources, for_types: bool = True) -> Graph:
    """For each module those that it imports.

    :param for_types: or that only a checker of types does
    """
    return {
        module.name: set(_imported(module, sources, for_types))
        for module in sources.modules.values()
    }


def _imported(
    module: Module, sources: Sources, for_types: bool
) -> Iterator[str]:
    skipped = set() if for_types else set(_of_checker(module.tree))
    for node in ast.walk(module.tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            targets = [
                name if name in sources.modules else node.module
                for name in (f'{node.module}.{a.name}' for a in node.names)
            ]
        else:
            continue
        for target in targets:
            if target in sources.modules and target != module.name:
                yield target


def _of_checker(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            test = node.test
            if isinstance(test, ast.Name) and test.id == 'TYPE_CHECKING':
                yield from node.body


def depth(arrows: Graph, package: str) -> int:
    """Modules on the longest chain of imports within a package."""
    depths: dict[str, int] = {}

    def below(name: str) -> int:
        if name not in depths:
            depths[name] = 1 + max(
                (below(n) for n in arrows[name] if _in(n, package)), default=0
            )
        return depths[name]

    return max(below(name) for name in arrows if _in(name, package))


def _in(name: str, package: str) -> bool:
    return name == package or name.startswith(f'{package}.')


def arrows_into(arrows: Graph, feature: str) -> list[tuple[str, str]]:
    """Imports of a feature's modules by the trunk, as (importer, module)."""
    pattern = FEATURES[feature]
    return sorted(
        (source, target)
        for source, targets in arrows.items()
        if not any(each.match(source) for each in FEATURES.values())
        for target in targets
        if pattern.match(target)
    )
