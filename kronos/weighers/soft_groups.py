# SPDX-License-Identifier: Apache-2.0
"""The soft server groups of a new server, in its weights.

Nova knows soft groups as one voice of many. A plan of Kronos keeps their
rules, or weighs what breaking one gains; so a new server does, too.
"""

from collections.abc import Sequence
from typing import Any

APART, TOGETHER = 'soft-anti-affinity', 'soft-affinity'
FULL_PENALTY = 1.0
"""As much as the greatest difference in load."""


def bound(
    weights: list[float], hosts: Sequence[str], spec: Any, penalty: float
) -> list[float]:
    """The weights, less on hosts that break the rule of a soft group.

    :param weights: one for each of the hosts
    :param spec: Nova's ``RequestSpec``
    :param penalty: by so much
    """
    group = getattr(spec, 'instance_group', None)
    policy = getattr(group, 'policy', None)
    if group is None or policy not in (APART, TOGETHER):
        return weights
    members_on = set(group.hosts or ())
    if not members_on.intersection(hosts):
        return weights
    apart = policy == APART
    return [
        max(0.0, weight - penalty) if (host in members_on) is apart else weight
        for weight, host in zip(weights, hosts, strict=True)
    ]
