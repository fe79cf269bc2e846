# SPDX-License-Identifier: Apache-2.0
"""The directive ``faults-table``: each fault of a move, from the code."""

from docutils import statemachine
from docutils.parsers import rst

from kronos.engine import faults

HEADER = (
    'Code',
    'Error type',
    'At fault',
    'What happened',
    'Again',
    'Rests',
    'What to do',
)


def rows():
    """The cells of the table, a tuple for each fault."""
    for fault, row in faults.TABLE.items():
        again = 'waits' if row.waits else ''
        again += ', ' if row.waits and row.retried else ''
        again += 'tries' if row.retried else ''
        rests = 'server in quarantine' if row.quarantines else row.rests.value
        yield (
            f'``{fault}``',
            f'``{row.error}``' if row.error else 'any other',
            row.whose.value,
            row.means,
            again or 'no',
            rests,
            row.remedy,
        )


class FaultsTable(rst.Directive):
    def run(self):
        lines = ['.. list-table::', '   :header-rows: 1', '']
        for cells in (HEADER, *rows()):
            first, *others = cells
            lines.append(f'   * - {first}')
            lines += [f'     - {cell}' for cell in others]
        node = rst.nodes.section()
        node.document = self.state.document
        content = statemachine.StringList(lines, source=__file__)
        self.state.nested_parse(content, self.content_offset, node)
        return node.children


def setup(app):
    app.add_directive('faults-table', FaultsTable)
    return {'parallel_read_safe': True}
