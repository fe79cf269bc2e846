# SPDX-License-Identifier: Apache-2.0
"""The options of single phases, and of what planning remembers."""

from oslo_config import cfg

SEARCH_OPTS = [
    cfg.StrOpt(
        'search',
        default='best',
        choices=[
            ('greedy', 'the best migration, again and again'),
            (
                'best',
                'greedy and a search for target windows, then a local '
                'search; the lowest one is taken',
            ),
            (
                'optimal',
                'an exact solver, where the scope is small enough; else best',
            ),
        ],
        help='By which search kronos_spread plans. All are deterministic and '
        'obey the same rules. kronos_pack and drains know two: greedy, and '
        'one that empties more; best and optimal are the same there. '
        'Repairs of server groups have one search.',
    ),
    cfg.StrOpt(
        'veto_reference',
        default='step',
        choices=[
            ('step', 'as it was before the migration'),
            ('initial', 'as it was before the plan'),
        ],
        help='What the imbalance of a policy is compared with: no migration '
        'may leave a policy above its threshold and worse than that. With '
        'initial a plan may go lower, since a policy may lose again what it '
        'has gained in the plan.',
    ),
    cfg.FloatOpt(
        'min_gain',
        default=0.0005,
        min=0.0,
        help='What every migration of a plan must buy in combined imbalance, '
        'unless a policy needs it to come within its threshold. With search '
        '= greedy it has no effect.',
    ),
    cfg.FloatOpt(
        'min_plan_gain',
        default=0.04,
        min=0.0,
        help='By how much a plan that spreads must lower the imbalance of '
        'one policy at least. Less is what measuring errs by, and each audit '
        'would find as much again. Less than 2.5 times as much counts only if '
        'what the instances are measured to use becomes more even, too. With '
        'search = greedy it has no effect.',
    ),
    cfg.IntOpt(
        'optimal_limit',
        default=1000,
        min=0,
        help='A solver looks at a scope with at most so many instances '
        'times hosts: it plans with search = optimal, and says how much '
        'lower any plan could get with search = best. It needs scipy, which '
        'the extra "optimal" installs. With 0 there is no solver.',
    ),
    cfg.FloatOpt(
        'optimal_time_limit',
        default=25.0,
        min=0.1,
        help='So many seconds the solver may take for a scope. When they '
        'are over, the best plan so far is taken.',
    ),
    cfg.FloatOpt(
        'cost_weight',
        default=0.001,
        min=0.0,
        help='What every 100 GiB of memory that a plan copies must buy in '
        'combined imbalance, unless a policy needs them to come within its '
        'threshold. Repairs of server groups move by it what is smaller, '
        'too. Where kronos_spread spreads it has an effect with search = best '
        'alone; for greedy see tie_break. Drains and kronos_pack move what '
        'they must.',
    ),
    cfg.FloatOpt(
        'migration_bandwidth',
        default=800,
        min=0.1,
        help='MiB that a live migration copies in a second. It tells how long '
        'a migration is expected to take, until live migrations inside the '
        'scope that arrived, and that Nova remembers, tell it themselves. '
        'The default is about what one stream makes of 10 Gbit/s.',
    ),
]

DRAIN_OPTS = [
    cfg.BoolOpt(
        'evacuate_disabled_hosts',
        default=False,
        help='Whether kronos_spread and kronos_pack drain the hosts whose '
        'nova-compute is disabled, before anything else. An audit may say '
        'otherwise; kronos_evacuate drains in any case.',
    ),
    cfg.BoolOpt(
        'drain_may_exceed_threshold',
        default=False,
        help='Whether a migration that drains a host may push a policy past '
        'its threshold. The capacity_threshold of the policies holds in any '
        'case.',
    ),
]

AFFINITY_OPTS = [
    cfg.BoolOpt(
        'enforce_hard_affinity',
        default=False,
        help='Whether kronos_spread and kronos_pack repair server groups of '
        'the policies affinity and anti-affinity whose rule is broken. '
        'kronos_affinity does so in any case.',
    ),
    cfg.BoolOpt(
        'enforce_soft_affinity',
        default=False,
        help='Whether kronos_spread, kronos_pack and kronos_affinity repair '
        'server groups of the policies soft-affinity and soft-anti-affinity.',
    ),
    cfg.StrOpt(
        'soft_rules',
        default='veto',
        choices=[
            ('veto', 'no migration breaks a soft rule'),
            ('penalty', 'one that spreads may, for soft_rule_penalty'),
        ],
        help='What soft server-group policies mean to a plan. Hard ones are '
        'never broken. In mode pack soft ones are not either, also where '
        'hosts are drained, and nowhere with enforce_soft_affinity.',
    ),
    cfg.FloatOpt(
        'soft_rule_penalty',
        default=0.05,
        min=0.0,
        help='What a migration that spreads must gain in combined imbalance '
        'for each soft rule that it breaks. One that drains a host need not '
        'gain it: in mode spread it may break soft rules whatever the '
        'penalty, which only counts in the choice. Only with soft_rules = '
        'penalty.',
    ),
]

PACK_OPTS = [
    cfg.BoolOpt(
        'pack_partial_drains',
        default=False,
        help='Whether kronos_pack may move some of the instances of a host '
        'that it cannot empty. If false, it begins only with hosts that can '
        'be emptied whole; where the budget of an audit is smaller than such '
        'a host, the next audits go on with it.',
    ),
    cfg.IntOpt(
        'keep_hosts',
        default=1,
        min=1,
        help='Hosts in use that kronos_pack leaves in every scope.',
    ),
    cfg.IntOpt(
        'headroom_hosts',
        default=0,
        min=0,
        help='So many of the fullest hosts that kronos_pack leaves in use '
        'the scope must be able to lose: what runs there must fit on the '
        'others.',
    ),
]

MEMORY_OPTS = [
    cfg.IntOpt(
        'cooldown',
        default=600,
        min=0,
        help='Seconds before a scope is planned again after an instance '
        'came to one of its hosts or left it: by a live or cold migration '
        'or an evacuation, whoever started it; and after an action of a '
        'started plan failed. Resizes, of which tenants make many, start '
        'none. It should be longer than the longest window of the policies, '
        'so that the metrics show what was moved. kronos_evacuate does not '
        'wait.',
    ),
    cfg.IntOpt(
        'instance_cooldown',
        default=900,
        min=0,
        help='Seconds for which an instance is left alone after it was '
        'moved or a move of it failed, whether by Kronos or by hand. Actions '
        'that were skipped, or cancelled before they began, start none.',
    ),
    cfg.IntOpt(
        'instance_quarantine_seconds',
        default=3600,
        min=-1,
        help='Seconds for which an instance is left alone after its '
        'migration by Kronos failed for good; -1 means for ever. Any later '
        'move of it that arrives ends that.',
    ),
    cfg.IntOpt(
        'stuck_after',
        default=86400,
        min=600,
        help='Seconds after which a migration under way of which Nova tells '
        'nothing new is stuck. It then no longer counts in the budget and '
        'in max_concurrent_migrations of its scope, nor does the scope '
        'cool down for it; its server and its hosts remain held, and every '
        'audit warns.',
    ),
    cfg.IntOpt(
        'return_guard',
        default=21600,
        min=0,
        help='Seconds for which spread and pack do not move an instance back '
        'to a host that it was moved away from.',
    ),
]

REPORT_OPTS = [
    cfg.StrOpt(
        'report_dir',
        help='Directory in which every audit leaves its whole report as a '
        'JSON file. It must exist and be writable for the decision engine. '
        'Unset: no files.',
    ),
    cfg.IntOpt(
        'report_keep',
        default=100,
        min=1,
        help='Reports that are kept; older ones are deleted, with their '
        'pages.',
    ),
    cfg.BoolOpt(
        'report_html',
        default=False,
        help='Whether every audit leaves its report as an HTML page too, '
        'beside the JSON file and of the same name. The page needs no '
        'network and runs no script. Related options: report_dir, '
        'report_keep.',
    ),
    cfg.StrOpt(
        'record_dir',
        help='Directory in which every audit leaves what it planned by, as a '
        'recording that kronos-replay can plan again. It must exist and be '
        'writable for the decision engine. A recording names instances, '
        'hosts and projects; no credential is in it. Unset: no recordings. '
        'Related options: record_keep, record_max_age.',
    ),
    cfg.IntOpt(
        'record_keep',
        default=100,
        min=1,
        help='Recordings that are kept in record_dir; older ones are '
        'deleted. One of 20,000 instances has some 20 MB.',
    ),
    cfg.IntOpt(
        'record_max_age',
        default=30,
        min=1,
        help='Days after which a recording in record_dir is deleted, at the '
        'next audit that records.',
    ),
]

OPTS = [
    *SEARCH_OPTS,
    *DRAIN_OPTS,
    *AFFINITY_OPTS,
    *PACK_OPTS,
    *MEMORY_OPTS,
    *REPORT_OPTS,
]
