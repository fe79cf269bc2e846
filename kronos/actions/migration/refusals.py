# SPDX-License-Identifier: Apache-2.0
"""Nova's words for a refusal, and whose fault they tell of."""

import re

from kronos.actions.migration import preflight
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault

_NOT_UP = re.compile(r'Compute service of (\S+) is unavailable')


def refused(
    task: preflight.MigrationTask, reason: str, after: str = ''
) -> exceptions.MigrationError:
    """The error of a move that Nova refused before anything moved.

    :param reason: Nova's words
    :param after: what is not as it was, to go behind them
    """
    found = _NOT_UP.search(reason)
    host = found[1] if found else ''
    if host == task.source:
        return faults.error(
            Fault.SOURCE_NOT_UP, f'source refused: {reason}{after}'
        )
    fault = Fault.DESTINATION_REFUSED
    if host == task.destination:
        fault = Fault.DESTINATION_NOT_UP
    return faults.error(fault, f'destination refused: {reason}{after}')
