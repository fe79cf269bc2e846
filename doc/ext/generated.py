# SPDX-License-Identifier: Apache-2.0
"""What directives share whose content is made from the code."""

import abc

from docutils import nodes, statemachine
from docutils.parsers import rst
from sphinx.util import nodes as sphinx_nodes


class Generated(rst.Directive, abc.ABC):
    """A directive whose content is lines of reStructuredText."""

    @abc.abstractmethod
    def lines(self) -> list[str]: ...

    def run(self) -> list[nodes.Node]:
        node = nodes.section()
        node.document = self.state.document
        content = statemachine.StringList(self.lines(), source=__file__)
        sphinx_nodes.nested_parse_with_titles(
            self.state, content, node, self.content_offset
        )
        return list(node.children)


def table(
    header: tuple[str, ...], rows: list[tuple[str, ...]], widths: str = ''
) -> list[str]:
    """A list-table.

    :param widths: of its columns, as shares; '': equal
    """
    lines = ['.. list-table::', '   :header-rows: 1']
    lines += [f'   :widths: {widths}', ''] if widths else ['']
    for cells in (header, *rows):
        first, *others = cells
        lines.append(f'   * - {first}'.rstrip())
        lines += [f'     - {cell}'.rstrip() for cell in others]
    return [*lines, '']


def plain(text: str) -> str:
    """Text in which nothing is markup."""
    for sign in '\\*`|_<>':
        text = text.replace(sign, f'\\{sign}')
    return text
