# SPDX-License-Identifier: Apache-2.0
"""The lost hosts: could a scope lose its fullest hosts after a packing?

``headroom_hosts`` says how many. Pack asks after each host that it empties.
"""

import numpy as np

from kronos.engine.planning.search import ranking
from kronos.engine.planning.search.bin_packing import BinPacking
from kronos.engine.planning.search.packing.pack_scope import PackScope
from kronos.engine.reasons import Code, Reason


def why_not_safe(
    scope: PackScope, packing: BinPacking, number: int
) -> Reason | None:
    """Why the scope could not lose its fullest hosts after a trial.

    All that is on them, fixed instances too, is placed on the others
    that are left in use. What has no profile needs no more there than
    what it asks Placement for.

    :param packing: what was moved in the trial
    :param number: of the hosts that may be lost
    """
    if not number:
        return None
    simulation = scope.simulation
    placement, index = simulation.placement, simulation.utilization.index
    in_use = scope.in_use()
    hosts = np.flatnonzero(in_use)
    order = np.argsort(-ranking.rounded(packing.load[hosts]), kind='stable')
    lost = hosts[order[:number]]
    in_use[lost] = False
    instances = np.flatnonzero(np.isin(placement.host_of, lost))
    rules = simulation.constraints
    with (
        rules.without_hosts(lost.tolist()) as binding,
        placement.trial(),
    ):
        rebuild = BinPacking(simulation, binding)
        rebuild.load = packing.load.copy()
        stuck = rebuild.place(rebuild.heaviest_first(instances), in_use)
    if stuck is None:
        return None
    source = index.hosts[int(placement.host_of[stuck])]
    failing = 'the fullest remaining host fails'
    if len(lost) > 1:
        failing = f'the {len(lost)} fullest remaining hosts fail'
    return Reason(
        f'if {failing} (headroom_hosts is {number}), instance '
        f'{index.server(stuck)} of {source} has no destination',
        Code.PACK_HEADROOM_HOSTS,
    )
