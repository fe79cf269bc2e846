# SPDX-License-Identifier: Apache-2.0
"""A migration's task: which instance is to go from where to where."""

import re
from dataclasses import dataclass
from typing import Any, Self

from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault

_NOT_UP = re.compile(r'Compute service of (\S+) is unavailable')


@dataclass
class MigrationTask:
    """One planned move, as the action's parameters have it."""

    instance: str
    source: str
    destination: str
    phase: str
    aggregate: str = ''
    name: str = ''
    source_closed: bool = False
    """Whether it is only right while the source's nova-compute is disabled:
    an action before it closes that host."""

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Self:
        return cls(
            instance=parameters['resource_id'],
            source=parameters['source_node'],
            destination=parameters['destination_node'],
            phase=parameters['phase'],
            aggregate=parameters['aggregate'],
            name=parameters.get('resource_name', ''),
            source_closed=parameters.get('source_closed', False),
        )

    def refused(
        self, reason: str, after: str = ''
    ) -> exceptions.MigrationError:
        """The error if Nova refused the move before anything moved.

        :param reason: Nova's words
        :param after: what is not as it was, to go behind them
        """
        found = _NOT_UP.search(reason)
        host = found[1] if found else ''
        if host == self.source:
            return faults.error(
                Fault.SOURCE_NOT_UP, f'source refused: {reason}{after}'
            )
        fault = Fault.DESTINATION_REFUSED
        if host == self.destination:
            fault = Fault.DESTINATION_NOT_UP
        return faults.error(fault, f'destination refused: {reason}{after}')
