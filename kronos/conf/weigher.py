# SPDX-License-Identifier: Apache-2.0
"""The options of nova-scheduler's weigher."""

from oslo_config import cfg

OPTS = [
    cfg.FloatOpt(
        'weight_multiplier',
        default=100.0,
        help='How much the weigher of nova-scheduler counts beside those of '
        'Nova, most of which have 1.0. With 100, a hundredth of a '
        "host's load counts as much as the most that one of those can say. "
        'A host aggregate may have its own in its metadata: '
        'kronos_weight_multiplier.',
    ),
    cfg.FloatOpt(
        'refresh_seconds',
        default=30,
        min=1,
        help='Seconds between two times at which each process of '
        'nova-scheduler asks Prometheus, one query per policy.',
    ),
    cfg.FloatOpt(
        'score_step',
        default=0.01,
        min=0,
        max=1,
        help='Weights of hosts are rounded to a multiple of this, so that '
        'hosts that are about alike are alike: [filter_scheduler] '
        'shuffle_best_same_weighed_hosts then takes any of them. 0: they '
        'are not rounded.',
    ),
    cfg.FloatOpt(
        'settling_seconds',
        default=120,
        min=0,
        help='Seconds until the load of a server that was just placed is '
        "wholly in the samples: the longest window of the policies' "
        'queries. So long the weigher reckons with what its vCPUs will '
        'bring, less and less.',
    ),
]
