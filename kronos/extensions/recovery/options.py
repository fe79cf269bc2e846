# SPDX-License-Identifier: Apache-2.0
"""The options of planning that belong to recovery."""

from dataclasses import dataclass

from kronos.options.row import option


@dataclass
class RecoveryOptions:
    """Of ``[kronos]``."""

    max_closed_hosts: int = option(
        1,
        'Largest number of hosts of an aggregate that kronos_recover may '
        'close, including hosts at fault and hosts that it has closed '
        'before. With more, the cause is the storage or the network, and '
        'Kronos closes no host. Kronos never opens a host again.',
        least=0,
    )
    restart_servers: bool = option(
        False,
        'Whether kronos_recover restarts servers that server_fault_query '
        'returns, for clouds without Masakari: first on their host, after a '
        'second failure or an I/O error on another host; after a third '
        'failure it leaves them alone.',
    )
    recovery_window_seconds: float = option(
        600,
        'Seconds for which the restarts of a server count. Only with '
        'restart_servers.',
        name='recovery_window',
        least=1,
        is_whole=True,
    )
