# SPDX-License-Identifier: Apache-2.0
"""The options of planning that belong to emptying a cell."""

from dataclasses import dataclass

from kronos.options.row import option


@dataclass
class CellOptions:
    """Of ``[kronos]``."""

    cell_move_lossy: bool = option(
        False,
        'Whether kronos_cell_drain moves servers that lose data by it: Nova '
        'takes no ephemeral or swap disk, no vTPM and no Manila share along '
        'to another cell.',
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
        'MB that a host uploads of a snapshot in a second. It tells how long '
        'the snapshot of a server takes that is to leave its cell.',
        least=0.1,
    )
