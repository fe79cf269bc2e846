# SPDX-License-Identifier: Apache-2.0
"""The directive ``faults-table``: each fault of a move, from the code."""

import generated

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


class FaultsTable(generated.Generated):
    def lines(self):
        return generated.table(HEADER, list(rows()))


def setup(app):
    app.add_directive('faults-table', FaultsTable)
    return {'parallel_read_safe': True}
