# SPDX-License-Identifier: Apache-2.0
"""A row of PHASES_OF_MODE: drain and repair, and do not rebalance."""

from kronos.engine.settings import ModePhases, When

ROW = ModePhases(
    policies=None,
    evacuate=When.ALWAYS,
    enforce_hard_affinity=When.ALWAYS,
    enforce_soft_affinity=When.IF_ASKED,
    rebalance=False,
    drains_named_hosts=True,
)
