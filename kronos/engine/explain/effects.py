# SPDX-License-Identifier: Apache-2.0
"""What would moves do to the policies, seen from a moment of a plan?"""

import numpy as np

from kronos.engine.arrays import BoolArray, FloatArray, IntArray
from kronos.engine.explain.scenario import PlanningMoment
from kronos.engine.reasons import Code, Reason
from kronos.engine.simulation.utilization import objects


def known(
    moment: PlanningMoment, instances: IntArray, hosts: IntArray
) -> BoolArray:
    """[n]: whether the scores at both ends of moves are known."""
    state = moment.draft.state
    here = state.counts | moment.phases.draining
    found: BoolArray = state.counts[hosts] & here[state.host_of[instances]]
    return found


def widths(
    moment: PlanningMoment, instances: IntArray, hosts: IntArray
) -> FloatArray:
    """[P, n]: the imbalances that moves would leave."""
    state = moment.draft.state
    sources = state.host_of[instances]
    ends = state.shifted(instances, sources, hosts)
    return np.array(list(state.widths_after(sources, hosts, *ends)))


def objections(moment: PlanningMoment, left: dict[str, float]) -> list[Reason]:
    """The policies that object to what a move would leave (B7)."""
    state = moment.draft.state
    after = np.array([left[name] for name in state.policies])
    objecting = objects(state.imbalances, after, state.thresholds)
    return [
        Reason(
            f'policy {state.policies[p]} would get worse, from '
            f'{state.imbalances[p]:.4f} to {after[p]:.4f}, over its threshold '
            f'of {state.thresholds[p]:g}',
            Code.WORSENS_POLICY,
            state.policies[p],
            float(after[p]),
        )
        for p in np.flatnonzero(objecting).tolist()
    ]
