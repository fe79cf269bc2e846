# SPDX-License-Identifier: Apache-2.0
"""The options of planning that belong to recovery."""

from dataclasses import dataclass

from kronos.options.row import option


@dataclass
class RecoveryOptions:
    """Of ``[kronos]``."""

    max_closed_hosts: int = option(
        1,
        'Hosts of an aggregate that kronos_recover may close: those at fault '
        'and those that it has closed before count. If there are more, it is '
        'the storage or the network, and none is closed. Kronos never opens a '
        'host again.',
        least=0,
    )
    restart_servers: bool = option(
        False,
        'Whether kronos_recover starts servers again that server_fault_query '
        'names, for clouds without Masakari: first on their host, after a '
        'second failure or an I/O error on another, and after a third it '
        'leaves them alone.',
    )
    recovery_window_seconds: float = option(
        600,
        'Seconds for which the restarts of a server count. Only with '
        'restart_servers.',
        name='recovery_window',
        least=1,
        is_whole=True,
    )
