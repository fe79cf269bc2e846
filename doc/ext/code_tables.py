# SPDX-License-Identifier: Apache-2.0
"""The tables of codes, made from the code.

``faults-table`` has each fault of a move, ``reasons-table`` each reason of a
plan, with what they mean and what to do; with an argument, those that begin
with it. ``metrics-table`` has each metric of a service or of the exporter.
"""

import generated

from kronos.engine import faults, reasons
from kronos.extensions.maintenance.codes import MaintenanceCode
from kronos.metrics import catalogue

FAULTS = (
    'Code',
    'Error type',
    'At fault',
    'What happened',
    'Again',
    'Rests',
    'What to do',
)

METRICS = ('Metric', 'Type', 'Labels', 'Unit', 'Meaning')

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
    for code in (*reasons.Code, *MaintenanceCode):
        if code.startswith(prefix):
            yield f'``{code}``', code.means, code.remedy


class ReasonsTable(generated.Generated):
    optional_arguments = 1

    def lines(self):
        rows = list(reason_rows(*self.arguments))
        return generated.table(REASONS, rows, '24 46 30')


def metric_rows(source):
    """The cells of ``metrics-table``, a tuple for each metric.

    :param source: as :class:`kronos.metrics.metric.Source` has it
    """
    for row in catalogue.METRICS:
        if row.source == source:
            text = f'{row.help}. With ``per_host`` only.'
            yield (
                f'``{row.name}``',
                row.kind.value,
                ', '.join(f'``{label}``' for label in row.labels),
                row.unit,
                text if row.per_host else f'{row.help}.',
            )


class MetricsTable(generated.Generated):
    required_arguments = 1
    final_argument_whitespace = True

    def lines(self):
        rows = list(metric_rows(*self.arguments))
        return generated.table(METRICS, rows, '34 10 16 12 28')


def setup(app):
    app.add_directive('reasons-table', ReasonsTable)
    app.add_directive('faults-table', FaultsTable)
    app.add_directive('metrics-table', MetricsTable)
    return {'parallel_read_safe': True}
