# SPDX-License-Identifier: Apache-2.0
"""The options of emptying a cell."""

from oslo_config import cfg

OPTS = [
    cfg.BoolOpt(
        'cell_move_lossy',
        default=False,
        help='Whether kronos_cell_drain moves servers that lose data by it: '
        'Nova takes no ephemeral or swap disk, no vTPM and no Manila share '
        'along to another cell.',
    ),
    cfg.FloatOpt(
        'long_rpc_timeout',
        default=1800,
        min=1,
        help='The option of this name in nova.conf, in seconds. A server '
        'whose snapshot would take longer stays in its cell.',
    ),
    cfg.FloatOpt(
        'snapshot_mb_per_second',
        default=100,
        min=0.1,
        help='MB that a host uploads of a snapshot in a second. It tells how '
        'long the snapshot of a server takes that is to leave its cell.',
    ),
]
