# SPDX-License-Identifier: Apache-2.0
"""The reason codes of a maintenance run."""

from kronos.engine.extension import ReasonCode


class MaintenanceCode(ReasonCode):
    """Why a server stays while hosts are maintained."""

    HOST_NOT_TO_DO = (
        'maintenance_not_to_do',
        'The host of the server needs no maintenance, or is done.',
    )
    HOST_WAITS = (
        'maintenance_host_waits',
        'The host of the server is maintained later in the run.',
    )
    NO_ROOM_YET = (
        'maintenance_no_room_yet',
        'The host is being emptied, and no host that is done, or needs no '
        'maintenance, has room for the server.',
        'Wait until the next host is done, or add hosts that need no '
        'maintenance.',
    )
