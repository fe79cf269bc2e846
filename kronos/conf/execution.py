# SPDX-License-Identifier: Apache-2.0
"""The options of carrying moves out."""

from oslo_config import cfg

OPTS = [
    cfg.IntOpt(
        'max_concurrent_migrations',
        default=2,
        min=1,
        help='Most migrations of one scope that may run at the same time, '
        'whoever started them. Further moves wait until one ends. A '
        'host sends at most one and receives at most two at a time.',
    ),
    cfg.FloatOpt(
        'stagger_seconds',
        default=0,
        min=0,
        help='Shortest time between the starts of two migrations of a scope, '
        'in seconds.',
    ),
    cfg.FloatOpt(
        'queue_timeout',
        default=1800,
        min=1,
        help='Seconds that a migration may be queued in Nova before Kronos '
        'aborts it, and seconds that a move waits for other migrations '
        'before Kronos skips it. Time spent waiting for moves of its '
        'own plan is not included.',
    ),
    cfg.FloatOpt(
        'stall_timeout',
        default=300,
        min=0,
        help='Seconds without progress before Kronos aborts a running '
        'migration. 0: only migration_timeout limits it. It has an '
        'effect only if the hypervisor reports progress.',
    ),
    cfg.IntOpt(
        'stall_passes',
        default=3,
        min=0,
        help="Passes over a guest's memory that leave no less to send than "
        'before, until Kronos ends the migration as at_stall defines. '
        '0: only migration_timeout limits it. A pass counts if it '
        'leaves more than half a second sends. With '
        'live_migration_permit_auto_converge in nova.conf, set 15: QEMU '
        'slows a guest by a little in each pass.',
    ),
    cfg.StrOpt(
        'at_stall',
        default='abort',
        choices=[
            (
                'abort',
                'Kronos aborts the migration; the guest stays on its source.',
            ),
            (
                'force',
                'Nova pauses the guest until its memory is sent, unless that '
                'would take longer than max_pause_seconds.',
            ),
            (
                'post_copy',
                'The guest continues at its destination and fetches the rest '
                'of its memory as it needs it. Requires '
                'live_migration_permit_post_copy in nova.conf of all '
                'sources; otherwise Nova pauses the guest, and Kronos aborts '
                'the migration after max_pause_seconds.',
            ),
        ],
        help='Action for a migration that has reached stall_passes.',
    ),
    cfg.FloatOpt(
        'max_pause_seconds',
        default=5,
        min=0,
        help='Longest pause of a guest to complete its migration, in seconds '
        '(at_stall = force). If the expected pause is longer, Kronos '
        'aborts the migration at once; if the actual pause is, Kronos '
        'aborts it then.',
    ),
    cfg.BoolOpt(
        'recover_rows',
        default=False,
        help='Whether Kronos sets a server back to ACTIVE if a failed '
        'migration left it in ERROR. It does so only if all sources '
        'agree that the server is intact: its guest was seen running on '
        'its source after the failure, it has no task, and Placement '
        'has its allocation there alone. If false, Kronos prints the '
        'command instead.',
    ),
    cfg.StrOpt(
        'guest_state_query',
        default='libvirt_domain_state_code{uuid="UUID"}',
        help='PromQL that returns the state of one guest, 1 for running, '
        'with a label host, or else instance, that names the host; UUID '
        'is replaced by the uuid of its server. Kronos runs it, and '
        'checks nova-compute, if a migration has left a server in '
        'ERROR. Empty: Kronos checks nova-compute only. The exporters '
        'of Tinkoff and inovex have libvirt_domain_info_vstate; join it '
        'with the series that has the uuid.',
    ),
    cfg.FloatOpt(
        'migration_poll_interval',
        default=5,
        min=0.1,
        help='Seconds between two checks of a running migration.',
    ),
    cfg.FloatOpt(
        'preflight_wait',
        default=60,
        min=0,
        help='Seconds that a move waits, before it is requested from Nova, '
        'for conditions that end by themselves: a task of its server, a '
        'nova-compute that does not report.',
    ),
    cfg.IntOpt(
        'max_retries',
        default=3,
        min=0,
        help='Further tries of a move that failed for a temporary reason: '
        'Nova cannot be reached, answers 429 or 5xx, or a nova-compute '
        'was stopped before the migration ran.',
    ),
    cfg.FloatOpt(
        'retry_backoff',
        default=30,
        min=0,
        help='Seconds before the first further try of a move; doubled each '
        'time, and longer if Nova requests it (Retry-After).',
    ),
    cfg.StrOpt(
        'window_end',
        default='finish',
        choices=[
            ('finish', 'The migration continues until it ends.'),
            (
                'abort',
                'Kronos aborts the migration; the server stays on its source.',
            ),
        ],
        help='Treatment of a live migration that still runs when the window '
        'of its scope closes.',
    ),
    cfg.BoolOpt(
        'notify',
        default=False,
        help='Whether Kronos sends notifications about migrations through '
        'oslo.messaging, topic kronos.results.<scope>, on the '
        'notification transport of the process.',
    ),
]
