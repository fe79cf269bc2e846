# SPDX-License-Identifier: Apache-2.0
"""The options of the metrics of Watcher's services and nova-scheduler."""

from oslo_config import cfg

GROUP = 'kronos_metrics'

OPTS = [
    cfg.StrOpt(
        'directory',
        help='Directory to which each process writes its metrics as a file '
        'for the textfile collector of node_exporter or for '
        'kronos-exporter. It must exist and be writable for the service. A '
        'change requires a restart of the service. Unset: no metrics.',
    ),
    cfg.FloatOpt(
        'interval',
        default=15,
        min=1,
        help='Interval in seconds at which each process writes its file.',
    ),
    cfg.BoolOpt(
        'per_host',
        default=False,
        help='Whether to write metrics about single hosts, too. They add '
        'series for each host and policy.',
    ),
    cfg.FloatOpt(
        'scope_ttl',
        default=3600,
        min=60,
        help='Seconds after which the decision engine drops the metrics of a '
        'scope that it did not plan, such as after a failover to another '
        'decision engine. It must be longer than the interval of the audits.',
    ),
]
