# SPDX-License-Identifier: Apache-2.0
"""The tables of codes, made from the code.

``faults-table`` has each fault of a move, ``reasons-table`` each reason of a
plan, with what they mean and what to do; with an argument, those that begin
with it.
"""

import generated

from kronos.engine import faults, reasons

FAULTS = (
    'Code',
    'Error type',
    'At fault',
    'What happened',
    'Again',
    'Rests',
    'What to do',
)

REASONS = ('Code', 'What it means', 'What lifts it')


def fault_rows():
    """The cells of ``faults-table``, a tuple for each fault."""
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
        return generated.table(FAULTS, list(fault_rows()))


def reason_rows(prefix=''):
    """The cells of ``reasons-table``, a tuple for each code."""
    for code in reasons.Code:
        if code.startswith(prefix):
            yield f'``{code}``', code.means, code.remedy


class ReasonsTable(generated.Generated):
    optional_arguments = 1

    def lines(self):
        rows = list(reason_rows(*self.arguments))
        return generated.table(REASONS, rows, '24 46 30')


def setup(app):
    app.add_directive('reasons-table', ReasonsTable)
    app.add_directive('faults-table', FaultsTable)
    return {'parallel_read_safe': True}
