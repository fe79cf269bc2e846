# SPDX-License-Identifier: Apache-2.0
"""The options of maintenance: which hosts are done, and who hears of it."""

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
    cfg.StrOpt(
        'maintenance_webhook_url',
        secret=True,
        help='https:// address to which the applier posts a signed notice '
        'when a maintenance run has closed, handed over or reopened a host. '
        'Its path may contain a secret, so logs of options hide it. A change '
        'of this option or of the other maintenance_webhook options requires '
        'a restart of the applier. Unset: no webhook. Related: '
        'maintenance_webhook_key_file, maintenance_outbox_file.',
    ),
    cfg.StrOpt(
        'maintenance_webhook_key_file',
        help='File with the key of the signatures (HMAC-SHA-256), of 16 bytes '
        'or more. It is read again for each request. Required for '
        'maintenance_webhook_url.',
    ),
    cfg.StrOpt(
        'maintenance_webhook_cafile',
        help="CA certificates to trust instead of the system's for "
        'maintenance_webhook_url.',
    ),
    cfg.FloatOpt(
        'maintenance_webhook_timeout',
        default=10,
        min=0.1,
        max=600,
        help='Seconds before a try to deliver a notice fails. Failed tries '
        'are repeated after pauses of up to a minute.',
    ),
    cfg.StrOpt(
        'maintenance_outbox_file',
        default='/var/lib/watcher/kronos-maintenance.db',
        help='Path of the file that keeps notices until '
        'maintenance_webhook_url has accepted them. Each applier needs its '
        'own file, in a directory that only its user can write to.',
    ),
]


class MaintenanceOpts(extensions.ExtensionOpts):
    """The options of maintenance."""

    OPTS: ClassVar = OPTS
