# SPDX-License-Identifier: Apache-2.0
"""The arrays of a scope, built from its snapshot and scorecard."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from kronos.engine.arrays import FloatArray, Index, IntArray
from kronos.engine.constraints.base import CapacityReadings
from kronos.engine.scoring.profiles import Profiles
from kronos.engine.scoring.scorecard import Scorecard
from kronos.engine.simulation.utilization import Utilization
from kronos.engine.types import Snapshot
from kronos.policies.models import Policy


def build(
    snapshot: Snapshot,
    scorecard: Scorecard,
    profiles: Profiles,
    factors: Mapping[str, float],
) -> Utilization:
    """Lay a scope out in arrays; the order of no dict matters.

    Instances without a profile weigh nothing here: they are part of their
    host's score and stay there.

    :param scorecard: at least one policy in use, one host that counts
    :param factors: by policy what usages are multiplied by
    :raises ValueError: if a weight or usage is negative, or a capacity is
        not above 0
    """
    index = Index(snapshot)
    used = [result for result in scorecard.results if not result.skipped]
    names = [result.name for result in used]
    counting = set.intersection(*(set(scorecard.values[n]) for n in names))
    instances = [snapshot.instances[uuid] for uuid in index.instances]
    none = dict.fromkeys(names, 0.0)
    usages = [
        profiles.profiles[instance.uuid].usage
        if instance.uuid in profiles.profiles
        else none
        for instance in instances
    ]
    factor = np.array([factors.get(name, 1.0) for name in names])
    usage = np.array(
        [[usage[name] for usage in usages] for name in names], dtype=float
    ).reshape(len(names), len(instances))
    return Utilization(
        index=index,
        policies=names,
        weights=np.array([result.weight for result in used]),
        thresholds=np.array([result.threshold for result in used]),
        scores=_by_host(scorecard.values, names, index, 0.0),
        usage=usage * factor[:, None],
        capacity=_by_host(profiles.capacities, names, index, 1.0),
        counts=np.array([host in counting for host in index.hosts]),
        memory_mb=np.array(
            [instance.memory_mb for instance in instances], dtype=np.intp
        ),
        factors=factor,
    )


def capacity_readings(
    utilization: Utilization,
    scorecard: Scorecard,
    profiles: Profiles,
    policies: Sequence[Policy],
    host_of: IntArray,
) -> CapacityReadings:
    """How full the hosts are, by the same arrays.

    :param policies: those in use, in the order of the scorecard
    :param host_of: [V], where each instance was before the plan
    """
    usage = utilization.unscaled(utilization.usage)
    for p, name in enumerate(utilization.policies):
        bounds = profiles.bounds.get(name, {})
        for v, uuid in enumerate(utilization.index.instances):
            if uuid in profiles.profiles and uuid in bounds:
                usage[p, v] = bounds[uuid]
    return CapacityReadings(
        utilization.policies,
        _by_host(
            scorecard.loads, utilization.policies, utilization.index, math.nan
        ),
        np.array([policy.capacity_threshold for policy in policies]),
        usage,
        utilization.capacity,
        _by_host(
            profiles.charges, utilization.policies, utilization.index, 0.0
        ),
        host_of,
        np.maximum(1.0, utilization.factors),
    )


def _by_host(
    values: dict[str, dict[str, float]],
    policies: list[str],
    index: Index,
    default: float,
) -> FloatArray:
    return np.array(
        [
            [values.get(name, {}).get(host, default) for host in index.hosts]
            for name in policies
        ]
    )
