# SPDX-License-Identifier: Apache-2.0
"""The options of nova-scheduler's weigher."""

from oslo_config import cfg

OPTS = [
    cfg.FloatOpt(
        'weight_multiplier',
        default=100.0,
        help="Multiplier of Kronos' weigher in nova-scheduler. Most weighers "
        "of Nova have 1.0. With 100, a hundredth of a host's load has "
        'the same weight as the full range of one of those. A host '
        'aggregate may override it in its metadata: '
        'kronos_weight_multiplier.',
    ),
    cfg.FloatOpt(
        'refresh_seconds',
        default=30,
        min=1,
        help='Interval in seconds at which each process of nova-scheduler '
        'queries Prometheus, with one query per policy.',
    ),
    cfg.FloatOpt(
        'score_step',
        default=0.01,
        min=0,
        max=1,
        help='Weights of hosts are rounded to a multiple of this, so that '
        'hosts with nearly the same load get the same weight: '
        '[filter_scheduler] shuffle_best_same_weighed_hosts then '
        'chooses any of them. 0: no rounding.',
    ),
    cfg.FloatOpt(
        'settling_seconds',
        default=120,
        min=0,
        help='Seconds until the samples contain the whole load of a new '
        "server: the longest window of the policies' queries. During "
        'this time the weigher adds the expected load of its vCPUs, '
        'less and less.',
    ),
    cfg.FloatOpt(
        'slot_weight',
        default=0,
        min=0,
        help='The weigher subtracts this from the weight of a host for each '
        'slot that a new server would cost there. A slot is room for one '
        'more server of a flavor of watched_flavors. 1: as much as the '
        'largest difference in load. 0: slots do not matter. Related '
        'options: watched_flavors, hold_until.',
    ),
    cfg.StrOpt(
        'hold_until',
        default='',
        help='Date at which slot_weight ceases to apply, such as 2026-12-31 '
        'or 2026-12-31T18:00+01:00. Without a time zone, it is in UTC. '
        'Empty: no end.',
    ),
]
