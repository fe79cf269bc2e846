# SPDX-License-Identifier: Apache-2.0
"""The options of planning that belong to emptying a cell."""

from dataclasses import dataclass

from kronos.options.row import option


@dataclass
class CellOptions:
    """Of ``[kronos]``."""

    cell_move_lossy: bool = option(
        False,
        'Whether kronos_cell_drain moves servers that lose data by the move: '
        'Nova takes no ephemeral or swap disk, no vTPM and no Manila share '
        'along to another cell.',
    )
    long_rpc_timeout_seconds: float = option(
        1800,
        'The option of this name in nova.conf, in seconds. A server whose '
        'snapshot would take longer stays in its cell.',
        name='long_rpc_timeout',
        least=1,
    )
    snapshot_mb_per_second: float = option(
        100,
        'MB of a snapshot that a host uploads in a second. Kronos estimates '
        'from it the duration of the snapshot of a server that leaves its '
        'cell.',
        least=0.1,
    )
