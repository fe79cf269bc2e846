# SPDX-License-Identifier: Apache-2.0
"""The effects of moves on the policies, seen from a moment of a plan."""

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.explain.scenario import PlanningMoment
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.utilization import objects


def known(
    moment: PlanningMoment, instances: IntArray, hosts: IntArray
) -> BoolArray:
    """[n]: whether the scores at both ends of moves are known."""
    utilization = moment.utilization
    here = utilization.counts | moment.phases.draining
    found: BoolArray = (
        utilization.counts[hosts] & here[moment.placement.host_of[instances]]
    )
    return found


def widths(
    moment: PlanningMoment, instances: IntArray, hosts: IntArray
) -> FloatArray:
    """[P, n]: the imbalances that moves would leave."""
    utilization = moment.utilization
    sources = moment.placement.host_of[instances]
    ends = utilization.scores_after(instances, sources, hosts)
    return np.array(list(utilization.imbalances_after(sources, hosts, *ends)))


def objections(moment: PlanningMoment, left: dict[str, float]) -> list[Reason]:
    """The policies that object to what a move would leave."""
    utilization = moment.utilization
    after = np.array([left[name] for name in utilization.policies])
    objecting = objects(utilization.veto, after, utilization.thresholds)
    return [
        Reason(
            f'policy {utilization.policies[p]} would get worse, from '
            f'{utilization.veto[p]:.4f} to {after[p]:.4f}, over its '
            f'threshold of {utilization.thresholds[p]:g}',
            Code.WORSENS_POLICY,
            utilization.policies[p],
            float(after[p]),
        )
        for p in np.flatnonzero(objecting).tolist()
    ]
