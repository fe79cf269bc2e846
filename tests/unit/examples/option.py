# SPDX-License-Identifier: Apache-2.0
"""An option of planning: for operators, for the engine, and between them."""

from dataclasses import dataclass

from kronos.options import row


@dataclass
class PlanningOptions:
    spare_hosts: int = row.option(
        0,
        'Hosts that are left without instances in every scope.',
        least=0,
    )
