# SPDX-License-Identifier: Apache-2.0
"""The check of Nova's CrossCellWeigher: do resizes stay in their cell?

Nova's own preference is why the hosts of a cell are disabled before servers
leave it by a resize. A multiplier that turns it round moves what nobody
planned.
"""

from kronos.cmd.checks.findings import Findings
from kronos.extensions.cells.checks.needs import Need

NAME = 'cross_cell_move_weight_multiplier'
"""Of the option, and of the metadata of aggregates that goes before it."""
GROUP = 'filter_scheduler'


def judge(what: str, value: float, where: str, findings: Findings) -> Need:
    """Judge a multiplier.

    :param what: the option, or the metadata of an aggregate
    """
    shown = f'{value:.0f}' if value.is_integer() else f'{value:g}'
    if not value > 0.0:
        effect = 'prefer another cell' if value else 'go to any cell'
        findings.warning(
            'cells-weigher',
            f'{where}: {what} = {shown}: servers that anybody who may leave '
            f'a cell resizes, or cold-migrates without a host, will {effect}',
            'set it above 0 (Nova has 1000000); servers that Kronos resizes '
            'leave the cell through close_source',
        )
    return Need(what, shown, where, value > 0.0)
