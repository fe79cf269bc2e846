# SPDX-License-Identifier: Apache-2.0
"""The options of recovery: which hosts are at fault, what is done then."""

from typing import ClassVar

from oslo_config import cfg

from kronos.conf import extensions

HOST_FAULT_QUERY = (
    'count by (host) (count by (host, instance_uuid) '
    '(kronos_vm_failed{kind="io_error"})) >= 2'
)
"""Each server once, however many Prometheus servers scrape its agent."""
SERVER_FAULT_QUERY = 'timestamp(kronos_vm_failed)'


OPTS = [
    cfg.StrOpt(
        'host_fault_query',
        default=HOST_FAULT_QUERY,
        help='PromQL that names the hosts that kronos_recover closes and '
        'drains, by a label host, or else instance, as host_match says: those '
        'with a value other than 0. By default these are the hosts on which '
        'two servers or more had I/O errors, as kronos-instance-monitor '
        'tells. Leave out failures that a guest can cause itself, such as '
        'hang and panic. When the query fails, nothing is recovered.',
    ),
    cfg.StrOpt(
        'server_fault_query',
        default=SERVER_FAULT_QUERY,
        help='PromQL that names the servers that failed, by the labels '
        'instance_uuid and kind. Its value is the Unix time at which that '
        'was last said. kronos_recover live-migrates none of these. When the '
        'query fails, nothing is recovered.',
    ),
    cfg.FloatOpt(
        'restart_timeout',
        default=300,
        min=1,
        help='Seconds that each step of a restart may take: to stop, to '
        'migrate, to confirm, and to start.',
    ),
]


class RecoveryOpts(extensions.ExtensionOpts):
    """The options of recovery."""

    OPTS: ClassVar = OPTS
