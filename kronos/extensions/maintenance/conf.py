# SPDX-License-Identifier: Apache-2.0
"""The options of maintenance: which hosts are done, and which may serve."""

from typing import ClassVar

from oslo_config import cfg

from kronos.conf import extensions

OPTS = [
    cfg.StrOpt(
        'maintenance_done_query',
        default='',
        help='PromQL that returns the hosts that are done, for audits of '
        'kronos_maintain without a done_query of their own: those with a '
        'value other than 0. Its label host, or else instance, names the '
        'host, matched by host_match. Query for the new state, such as '
        'node_uname_info{release="NEW"}, and not for the absence of the old '
        'one: a host that is rebooting has no series at all. If the query '
        'fails, no host is done, and Kronos closes and opens none.',
    ),
    cfg.StrOpt(
        'maintenance_ready_query',
        default='',
        help='PromQL that returns the hosts that may serve again, for audits '
        'of kronos_maintain without a ready_query of their own. Empty: every '
        'host that is done, and whose nova-compute is up.',
    ),
]


class MaintenanceOpts(extensions.ExtensionOpts):
    """The options of maintenance."""

    OPTS: ClassVar = OPTS
