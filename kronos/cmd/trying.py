# SPDX-License-Identifier: Apache-2.0
"""The trial of a remedy on a recording."""

import dataclasses

from kronos.engine.explain.remedies import Remedy
from kronos.engine.types import PlanningInput
from kronos.recordings import overrides


def arguments(remedy: Remedy) -> list[str]:
    """Those of kronos-replay and kronos-explain that try it."""
    found = []
    for name, value in remedy.overrides.items():
        found += ['--set', f'{name}={value}']
    if remedy.max_migrations is not None:
        found += ['--max-migrations', str(remedy.max_migrations)]
    if remedy.mode is not None:
        found += ['--mode', remedy.mode.value]
    return found


def changed(case: PlanningInput, remedy: Remedy) -> PlanningInput:
    """What the planner is given with these arguments."""
    settings = dataclasses.replace(case.settings)
    overrides.apply(settings, remedy.overrides)
    if remedy.max_migrations is not None:
        settings.max_migrations = remedy.max_migrations
    if remedy.mode is not None:
        settings.rebalance = True
    policies = overrides.policies(case.policies, remedy.overrides)
    return dataclasses.replace(case, settings=settings, policies=policies)
