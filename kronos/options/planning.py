# SPDX-License-Identifier: Apache-2.0
"""The options of planning: what holds for every plan, or in one phase."""

from dataclasses import dataclass

from kronos.common.names.name_marks import Text
from kronos.options.choices import (
    EffectUse,
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
        'that is pinned to a zone always stays there.',
    )
    require_all_policies: bool = option(
        False,
        'Whether Kronos plans no migrations for a scope if it cannot use one '
        'of its policies. If false, the weights of the other policies are '
        'scaled to 1.',
    )
    min_host_coverage: float = option(
        0.9,
        'Share of the available hosts of a scope that must have a fresh '
        'sample; with fewer, Kronos skips the policy.',
        least=0.0,
        most=1.0,
    )
    unexplained_load: UnexplainedLoad = option(
        UnexplainedLoad.IGNORED,
        'Treatment of host load that the usage of its instances does not '
        'explain, beyond the load of a host without instances, when they '
        'leave. A plan warns about hosts with much of it. Set stays if the '
        'hosts have much load of their own, such as storage daemons.',
        configured=UnexplainedLoad.FOLLOWS,
    )
    host_match: HostMatch = option(
        HostMatch.EXACT,
        'Rule by which Kronos matches a label value of Prometheus to a Nova '
        'host.',
    )
    partial_answers: PartialAnswers = option(
        PartialAnswers.WARN,
        'Treatment of a policy if Prometheus marks its answer to one of the '
        'queries as partial (isPartial of VictoriaMetrics, warnings of '
        'Thanos and Prometheus): hosts and servers may be missing, and sums '
        'are too small. This applies to dirty_rate_query, too. Kronos never '
        'uses partial answers to exclude_hosts_query, host_fault_query and '
        'server_fault_query.',
    )
    check_disk: bool = option(
        False,
        'Whether a destination needs Placement headroom for DISK_GB too. '
        'Leave it off if instances are on shared storage.',
    )
    require_headroom: bool = option(
        False,
        'Whether Kronos refuses a host as a destination if Placement does '
        'not show its inventory.',
        configured=True,
    )
    check_hypervisor_version: bool = option(
        True,
        'Whether Kronos refuses a host as a destination if its hypervisor is '
        'older than that of the source, as Nova does. Turn it off if '
        'nova.conf has skip_hypervisor_version_check_on_lm.',
    )
    allowed_extra_specs: list[Text] = option(
        [],
        'Flavor extra specs that do not keep an instance from being moved: a '
        'key, a key=value, or a prefix that ends in "*". Kronos does not '
        'move an instance whose flavor has any other, and reports it.',
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
        'Whether kronos_spread and kronos_pack first drain the hosts whose '
        'nova-compute is disabled. An audit may override this; '
        'kronos_evacuate always drains.',
        name='evacuate_disabled_hosts',
    )
    drain_may_exceed_threshold: bool = option(
        False,
        'Whether a migration that drains a host may push a policy past its '
        'threshold. The capacity_threshold of the policies always applies.',
    )
    enforce_hard_affinity: bool = option(
        False,
        'Whether kronos_spread and kronos_pack repair server groups with the '
        'policies affinity and anti-affinity whose rule is broken. '
        'kronos_affinity always does.',
    )
    enforce_soft_affinity: bool = option(
        False,
        'Whether kronos_spread, kronos_pack and kronos_affinity repair '
        'server groups with the policies soft-affinity and '
        'soft-anti-affinity.',
    )
    soft_rules: SoftRules = option(
        SoftRules.VETO,
        'Effect of soft server-group policies on a plan. Hard rules are '
        'never broken. Soft rules are not broken in mode pack, also when it '
        'drains hosts, nor in any mode with enforce_soft_affinity.',
    )
    soft_rule_penalty: float = option(
        0.05,
        'Reduction of combined imbalance that a migration that spreads must '
        'bring for each soft rule that it breaks. A migration that drains a '
        'host needs no such gain: in mode spread it may break soft rules '
        'whatever the penalty, which only affects the choice. Only with '
        'soft_rules = penalty.',
        least=0.0,
    )
    pack_partial_drains: bool = option(
        False,
        'Whether kronos_pack may move some of the instances of a host that '
        'it cannot empty. If false, it begins only with hosts that it can '
        'empty completely; if the budget of an audit is too small for such a '
        'host, the next audits continue with it.',
    )
    keep_hosts: int = option(
        1,
        'Number of hosts that kronos_pack keeps in use in every scope.',
        least=1,
    )
    headroom_hosts: int = option(
        0,
        'Number of the fullest hosts in use whose loss the scope must '
        'survive after kronos_pack: their instances must fit on the other '
        'hosts that it keeps in use.',
        least=0,
    )
    cooldown_seconds: float = option(
        0,
        'Seconds before Kronos plans a scope again after a plan started in '
        'which an instance came to or left one of its hosts, or an action '
        'failed. A live or cold migration or an evacuation that anybody else '
        'started has the same effect; resizes, which tenants often make, '
        'have none. At least half of the cooldown follows the last move. Set '
        'it longer than rate() of a server looks back, so that the metrics '
        'contain the moves. kronos_evacuate does not wait, nor does the '
        'relief of overfull hosts by kronos_pack.',
        name='cooldown',
        configured=600,
        least=0,
        is_whole=True,
    )
    instance_cooldown_seconds: float = option(
        0,
        'Seconds for which spread and pack do not move an instance after a '
        'move of it ended or failed, whether by Kronos or by hand. Drains '
        'and repairs wait for at most 900 of them. Actions that were '
        'skipped, or cancelled before they began, start no cooldown.',
        name='instance_cooldown',
        configured=21600,
        least=0,
        is_whole=True,
    )
    quarantine_seconds: float = option(
        0,
        'Seconds for which Kronos does not move an instance after its '
        'migration by Kronos failed for good; -1 means for ever. Any later '
        'successful move of the instance ends this quarantine.',
        name='instance_quarantine_seconds',
        configured=3600,
        least=-1,
        is_whole=True,
    )
    stuck_seconds: float = option(
        86400,
        'Seconds without news from Nova after which Kronos treats a running '
        'migration as stuck. A stuck migration no longer uses the budget and '
        'max_concurrent_migrations of its scope, and starts no cooldown '
        'there; its server and its hosts remain blocked, and every audit '
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
        'Seconds for which spread and pack do not move a new instance: most '
        'instances that are deleted soon are young. Drains and repairs of '
        'server groups move instances of any age. kronos_pack does, too, to '
        'relieve a host, if moving older ones is not enough. 0: off.',
        name='min_age',
        configured=3600,
        least=0,
        is_whole=True,
    )
    plateau_moves: bool = option(
        True,
        'Whether spread may end a stall with moves that keep the combined '
        'imbalance: moves that lower the variance, and moves that even out '
        'the other hosts if no move helps the worst ones.',
    )
    swap_moves: SwapMoves = option(
        SwapMoves.SAFE,
        'Exchanges of two instances that spread may use to end a stall. '
        '"true" is "safe", and "false" is "none".',
    )
    tie_break: TieBreak = option(
        TieBreak.VARIANCE, 'Choice among several equally good migrations.'
    )
    search: Text = option(
        SearchName.GREEDY,
        'Search with which kronos_spread plans. All searches are '
        'deterministic and obey the same rules. kronos_pack and drains have '
        'two: greedy, and one that empties more; best and optimal both '
        'select the second. Repairs of server groups have one search.',
        configured=SearchName.BEST,
        plugins=SEARCHES,
    )
    veto_reference: VetoReference = option(
        VetoReference.STEP,
        'Reference for the imbalance of a policy: no migration may leave a '
        'policy above its threshold and worse than this reference. With '
        'initial, a plan may get better results, since a policy may lose '
        'again what it has gained in the plan.',
    )
    min_gain: float = option(
        0.0,
        'Least reduction of combined imbalance for each migration of a plan, '
        'unless a policy needs the migration to come within its threshold. '
        'It has no effect with search = greedy.',
        configured=0.0005,
        least=0.0,
    )
    min_plan_gain: float = option(
        0.0,
        'Least reduction of the imbalance of one policy by a plan that '
        'spreads. Smaller reductions are within the error of measurement, '
        'and each audit would find as much again. A reduction of less than '
        '2.5 times this value counts only if the measured usage of the '
        'instances becomes more even, too. It has no effect with search = '
        'greedy.',
        configured=0.04,
        least=0.0,
    )
    optimal_limit: int = option(
        1000,
        'Largest product of instances and hosts of a scope for which a '
        'solver is used: it plans with search = optimal, and computes how '
        'much lower any plan could get with search = best. It needs scipy, '
        'which the extra "optimal" installs. 0: no solver.',
        least=0,
    )
    optimal_seconds: float = option(
        25.0,
        'Longest time of the solver for a scope, in seconds. After that, '
        'Kronos uses the best plan so far.',
        name='optimal_time_limit',
        least=0.1,
    )
    use_effect: EffectUse = option(
        EffectUse.OFF,
        'Use of the measured effect of earlier plans of a scope.',
    )
    canary_moves: int = option(
        3,
        'Number of migrations for balance (spread, pack and relief) that a '
        'plan may have while use_effect = limit applies. Drains and repairs '
        'of server groups are not limited.',
        least=0,
    )
    cost_weight: float = option(
        0.0,
        'Least reduction of combined imbalance for each 100 GiB of memory '
        'that a plan copies, unless a policy needs the migrations to come '
        'within its threshold. With it, repairs of server groups also prefer '
        'to move smaller instances. When kronos_spread spreads, it has an '
        'effect only with search = best; for greedy see tie_break. It does '
        'not limit drains and kronos_pack.',
        configured=0.001,
        least=0.0,
    )
    migration_bandwidth: float = option(
        800,
        'MiB that a live migration copies in a second. Kronos estimates the '
        'duration of a migration from it, until Nova has records of live '
        'migrations that arrived inside the scope. The default is about what '
        'one stream reaches on 10 Gbit/s.',
        least=0.1,
    )
    migration_timeout_seconds: float = option(
        600,
        'Seconds after leaving the queue before Kronos aborts a migration, '
        'or more if there is much to send (migration_timeout_per_gib).',
        name='migration_timeout',
        least=1,
    )
    migration_timeout_per_gib: float = option(
        16,
        'Seconds after leaving the queue before Kronos aborts a migration, '
        "for each GiB of the guest's memory and of local disks that are "
        'copied, if that is more than migration_timeout. The default is '
        'about twice the time that 1 Gbit/s needs. Plans warn about servers '
        'that are not expected to arrive in time. It has an effect while it '
        "is less than nova-compute's own live_migration_completion_timeout "
        '(800).',
        least=0,
    )
