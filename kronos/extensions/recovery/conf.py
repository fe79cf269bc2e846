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
        help='PromQL that returns the hosts that kronos_recover closes and '
        'drains: those with a value other than 0. Its label host, or '
        'else instance, names the host, matched by host_match. By '
        'default these are the hosts on which two servers or more had '
        'I/O errors, as reported by kronos-instance-monitor. Leave out '
        'failures that a guest can cause itself, such as hang and '
        'panic. If the query fails, Kronos recovers no host and no '
        'server.',
    ),
    cfg.StrOpt(
        'server_fault_query',
        default=SERVER_FAULT_QUERY,
        help='PromQL that returns the servers that failed, with the labels '
        'instance_uuid and kind. Its value is the Unix time of the last '
        'report of the failure. kronos_recover does not live-migrate '
        'these servers. If the query fails, Kronos recovers no host and '
        'no server.',
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
