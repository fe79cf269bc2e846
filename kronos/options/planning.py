# SPDX-License-Identifier: Apache-2.0
"""The options of planning: what holds for every plan, or in one phase."""

from dataclasses import dataclass

from kronos.common.names.name_marks import Text
from kronos.options.choices import (
    HostMatch,
    PartialAnswers,
    SearchName,
    SoftRules,
    SwapMoves,
    TieBreak,
    UnexplainedLoad,
    VetoReference,
)
from kronos.options.row import option

SEARCHES = 'kronos.searches'
"""Group of the entry points by which packages bring searches that spread."""


@dataclass
class PlanningOptions:
    """Of ``[kronos]``. One class, since it is a table with a row for each."""

    restrict_to_az: bool = option(
        False,
        'Whether a migration must stay in its availability zone. An instance '
        'that is pinned to a zone stays there in any case.',
    )
    require_all_policies: bool = option(
        False,
        'Whether a scope stands still when one of its policies cannot be '
        'used. If false, the weights of the others are scaled to 1.',
    )
    min_host_coverage: float = option(
        0.9,
        'Share of the available hosts of a scope that must have a fresh '
        'sample; with fewer the policy is skipped.',
        least=0.0,
        most=1.0,
    )
    unexplained_load: UnexplainedLoad = option(
        UnexplainedLoad.IGNORED,
        'What becomes of the load of a host that its instances do not '
        'explain, beyond what a host without instances shows, when they '
        'leave. A plan warns of hosts where that is much. Set it to stays '
        'where the hosts have much load of their own, such as storage '
        'daemons.',
        configured=UnexplainedLoad.FOLLOWS,
    )
    host_match: HostMatch = option(
        HostMatch.EXACT, 'How a label value of Prometheus finds its Nova host.'
    )
    partial_answers: PartialAnswers = option(
        PartialAnswers.WARN,
        'What becomes of a policy if Prometheus says that its answer to one '
        'of the queries of the policy is partial (isPartial of '
        'VictoriaMetrics, warnings of Thanos and Prometheus): hosts and '
        'servers may be missing, and sums are too small. The same holds for '
        'dirty_rate_query. Partial answers to exclude_hosts_query, '
        'host_fault_query and server_fault_query are never used.',
    )
    check_disk: bool = option(
        False,
        'Whether a destination needs Placement headroom for DISK_GB too. '
        'Leave it off where instances live on shared storage.',
    )
    require_headroom: bool = option(
        False,
        'Whether a host whose inventory Placement does not show is refused as '
        'a destination.',
        configured=True,
    )
    allowed_extra_specs: list[Text] = option(
        [],
        'Flavor extra specs that do not keep an instance from being moved: a '
        'key, a key=value, or a prefix that ends in "*". An instance whose '
        'flavor has any other stays where it is and is reported.',
        configured=[
            'aggregate_instance_extra_specs:*',
            'hw_rng:*',
            'hw_video:*',
            'hw:cpu_cores',
            'hw:cpu_max_cores',
            'hw:cpu_max_sockets',
            'hw:cpu_max_threads',
            'hw:cpu_policy=shared',
            'hw:cpu_sockets',
            'hw:cpu_threads',
            'hw:vif_multiqueue_enabled',
            'hw:watchdog_action',
            'quota:*',
        ],
    )
    evacuate: bool = option(
        False,
        'Whether kronos_spread and kronos_pack drain the hosts whose '
        'nova-compute is disabled, before anything else. An audit may say '
        'otherwise; kronos_evacuate drains in any case.',
        name='evacuate_disabled_hosts',
    )
    drain_may_exceed_threshold: bool = option(
        False,
        'Whether a migration that drains a host may push a policy past its '
        'threshold. The capacity_threshold of the policies holds in any case.',
    )
    enforce_hard_affinity: bool = option(
        False,
        'Whether kronos_spread and kronos_pack repair server groups of the '
        'policies affinity and anti-affinity whose rule is broken. '
        'kronos_affinity does so in any case.',
    )
    enforce_soft_affinity: bool = option(
        False,
        'Whether kronos_spread, kronos_pack and kronos_affinity repair server '
        'groups of the policies soft-affinity and soft-anti-affinity.',
    )
    soft_rules: SoftRules = option(
        SoftRules.VETO,
        'What soft server-group policies mean to a plan. Hard ones are never '
        'broken. In mode pack soft ones are not either, also where hosts are '
        'drained, and nowhere with enforce_soft_affinity.',
    )
    soft_rule_penalty: float = option(
        0.05,
        'What a migration that spreads must gain in combined imbalance for '
        'each soft rule that it breaks. One that drains a host need not gain '
        'it: in mode spread it may break soft rules whatever the penalty, '
        'which only counts in the choice. Only with soft_rules = penalty.',
        least=0.0,
    )
    pack_partial_drains: bool = option(
        False,
        'Whether kronos_pack may move some of the instances of a host that it '
        'cannot empty. If false, it begins only with hosts that can be '
        'emptied whole; where the budget of an audit is smaller than such a '
        'host, the next audits go on with it.',
    )
    keep_hosts: int = option(
        1, 'Hosts in use that kronos_pack leaves in every scope.', least=1
    )
    headroom_hosts: int = option(
        0,
        'So many of the fullest hosts that kronos_pack leaves in use the '
        'scope must be able to lose: what runs there must fit on the others.',
        least=0,
    )
    cooldown_seconds: float = option(
        0,
        'Seconds before a scope is planned again after the start of a plan '
        'of which an instance came to one of its hosts or left it, or an '
        'action failed; and after a live or cold migration or an evacuation '
        'that anybody else started. At least half of it follows the last '
        'move. Resizes, of which tenants make many, start none. It should be '
        'longer than what rate() of a server looks back, so that the metrics '
        'show what was moved. kronos_evacuate does not wait, nor do overfull '
        'hosts that kronos_pack relieves.',
        name='cooldown',
        configured=600,
        least=0,
        is_whole=True,
    )
    instance_cooldown_seconds: float = option(
        0,
        'Seconds for which spread and pack leave an instance alone after it '
        'was moved or a move of it failed, whether by Kronos or by hand. '
        'Drains and repairs wait for 900 of them at most. Actions that were '
        'skipped, or cancelled before they began, start none.',
        name='instance_cooldown',
        configured=21600,
        least=0,
        is_whole=True,
    )
    quarantine_seconds: float = option(
        0,
        'Seconds for which an instance is left alone after its migration by '
        'Kronos failed for good; -1 means for ever. Any later move of it that '
        'arrives ends that.',
        name='instance_quarantine_seconds',
        configured=3600,
        least=-1,
        is_whole=True,
    )
    stuck_seconds: float = option(
        86400,
        'Seconds after which a migration under way of which Nova tells '
        'nothing new is stuck. It then no longer counts in the budget and in '
        'max_concurrent_migrations of its scope, nor does the scope cool down '
        'for it; its server and its hosts remain held, and every audit '
        'warns.',
        name='stuck_after',
        least=600,
        is_whole=True,
    )
    return_guard_seconds: float = option(
        0,
        'Seconds for which spread and pack do not move an instance back to a '
        'host that it was moved away from.',
        name='return_guard',
        configured=86400,
        least=0,
        is_whole=True,
    )
    min_age_seconds: float = option(
        0,
        'Seconds for which spread and pack leave an instance alone after it '
        'was created: most of those that are deleted soon are young. Drains '
        'and repairs of server groups move them at any age, and so does a '
        'host that kronos_pack relieves, if nothing else on it suffices. 0 is '
        'off.',
        name='min_age',
        configured=3600,
        least=0,
        is_whole=True,
    )
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
        TieBreak.VARIANCE, 'Which of several equally good migrations is taken.'
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
