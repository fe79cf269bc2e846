# SPDX-License-Identifier: Apache-2.0
"""The options of the searches: how good a plan is, and what it may cost."""

from dataclasses import dataclass

from kronos.common.names.name_marks import Text
from kronos.options.choices import (
    SearchName,
    SwapMoves,
    TieBreak,
    VetoReference,
)
from kronos.options.row import option

SEARCHES = 'kronos.searches'
"""Group of the entry points by which packages bring searches that spread."""


@dataclass
class SearchOptions:
    """Of ``[kronos]``."""

    plateau_moves: bool = option(
        True,
        'Whether spread may leave a stall by moves that keep the combined '
        'imbalance: those that lower the variance, and those that even out '
        'the hosts beside the ones that no move helps.',
    )
    swap_moves: SwapMoves = option(
        SwapMoves.SAFE,
        'Which exchanges of two instances may lead spread out of a stall. '
        '"true" is "safe", and "false" is "none".',
    )
    tie_break: TieBreak = option(
        TieBreak.VARIANCE,
        'Which of several equally good migrations is taken.',
    )
    search: Text = option(
        SearchName.GREEDY,
        'By which search kronos_spread plans. All are deterministic and obey '
        'the same rules. kronos_pack and drains know two: greedy, and one '
        'that empties more; best and optimal are the same there. Repairs of '
        'server groups have one search.',
        configured=SearchName.BEST,
        plugins=SEARCHES,
    )
    veto_reference: VetoReference = option(
        VetoReference.STEP,
        'What the imbalance of a policy is compared with: no migration may '
        'leave a policy above its threshold and worse than that. With initial '
        'a plan may go lower, since a policy may lose again what it has '
        'gained in the plan.',
    )
    min_gain: float = option(
        0.0,
        'What every migration of a plan must buy in combined imbalance, '
        'unless a policy needs it to come within its threshold. With search = '
        'greedy it has no effect.',
        configured=0.0005,
        least=0.0,
    )
    min_plan_gain: float = option(
        0.0,
        'By how much a plan that spreads must lower the imbalance of one '
        'policy at least. Less is what measuring errs by, and each audit '
        'would find as much again. Less than 2.5 times as much counts only if '
        'what the instances are measured to use becomes more even, too. With '
        'search = greedy it has no effect.',
        configured=0.04,
        least=0.0,
    )
    optimal_limit: int = option(
        1000,
        'A solver looks at a scope with at most so many instances times '
        'hosts: it plans with search = optimal, and says how much lower any '
        'plan could get with search = best. It needs scipy, which the extra '
        '"optimal" installs. With 0 there is no solver.',
        least=0,
    )
    optimal_seconds: float = option(
        25.0,
        'So many seconds the solver may take for a scope. When they are over, '
        'the best plan so far is taken.',
        name='optimal_time_limit',
        least=0.1,
    )
    cost_weight: float = option(
        0.0,
        'What every 100 GiB of memory that a plan copies must buy in combined '
        'imbalance, unless a policy needs them to come within its threshold. '
        'Repairs of server groups move by it what is smaller, too. Where '
        'kronos_spread spreads it has an effect with search = best alone; for '
        'greedy see tie_break. Drains and kronos_pack move what they must.',
        configured=0.001,
        least=0.0,
    )
    migration_bandwidth: float = option(
        800,
        'MiB that a live migration copies in a second. It tells how long a '
        'migration is expected to take, until live migrations inside the '
        'scope that arrived, and that Nova remembers, tell it themselves. The '
        'default is about what one stream makes of 10 Gbit/s.',
        least=0.1,
    )
    migration_timeout_seconds: float = option(
        600,
        'Seconds after leaving the queue before a migration is aborted, or '
        'more where there is much to send (migration_timeout_per_gib).',
        name='migration_timeout',
        least=1,
    )
    migration_timeout_per_gib: float = option(
        16,
        'Seconds after leaving the queue before a migration is aborted, for '
        "each GiB of the guest's memory and of local disks that are copied, "
        'where that is more than migration_timeout. The default is about '
        'twice what 1 Gbit/s needs. Plans warn of servers that are not '
        'expected to arrive in time. It has an effect while it is less than '
        "nova-compute's own live_migration_completion_timeout (800).",
        least=0,
    )
