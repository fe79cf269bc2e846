# SPDX-License-Identifier: Apache-2.0
"""The options of carrying moves out."""

from oslo_config import cfg

OPTS = [
    cfg.IntOpt(
        'max_concurrent_migrations',
        default=2,
        min=1,
        help='Migrations of one scope that may be under way at a time, '
        'whoever started them: a move waits for its turn. A host gives at '
        'most one and takes at most two at a time.',
    ),
    cfg.FloatOpt(
        'stagger_seconds',
        default=0,
        min=0,
        help='Seconds that pass at least between the starts of two '
        'migrations of a scope.',
    ),
    cfg.FloatOpt(
        'queue_timeout',
        default=1800,
        min=1,
        help="Seconds in Nova's queue before a migration is aborted, and "
        'seconds that a move waits for its turn before it is skipped, '
        'without those that it waits for moves of its own plan.',
    ),
    cfg.FloatOpt(
        'stall_timeout',
        default=300,
        min=0,
        help='Seconds without any progress before a running migration is '
        'aborted; 0: it may stand still until migration_timeout. It only '
        'binds where the hypervisor tells progress.',
    ),
    cfg.IntOpt(
        'stall_passes',
        default=3,
        min=0,
        help="Passes over a guest's memory after which no less is left than "
        'before, until its migration is ended as at_stall says; 0: it goes '
        'on until migration_timeout. Passes count where more is left than '
        'half a second sends. With live_migration_permit_auto_converge in '
        'nova.conf take 15: QEMU slows a guest by a little in each pass.',
    ),
    cfg.StrOpt(
        'at_stall',
        default='abort',
        choices=[
            ('abort', 'The guest stays on its source.'),
            (
                'force',
                'Nova pauses the guest until its memory is sent, unless that '
                'takes longer than max_pause_seconds.',
            ),
            (
                'post_copy',
                'The guest goes on at its destination and fetches what it '
                'needs. Only with live_migration_permit_post_copy in '
                'nova.conf of all sources: a guest that Nova pauses instead '
                'is taken back after max_pause_seconds.',
            ),
        ],
        help='What is done with a migration whose passes are in vain '
        '(stall_passes).',
    ),
    cfg.FloatOpt(
        'max_pause_seconds',
        default=5,
        min=0,
        help='Seconds that a guest may be paused so that its migration comes '
        'to an end (at_stall = force). Where they would not suffice, it is '
        'aborted; where they did not, it is aborted then.',
    ),
    cfg.BoolOpt(
        'recover_rows',
        default=False,
        help='Whether a server that a failed migration has left in ERROR is '
        'set to ACTIVE again, where all agree that nothing has happened to '
        'it: its guest is seen running on its source after the failure, it '
        'has no task, and Placement holds it there alone. Else the command '
        'is named that does it.',
    ),
    cfg.StrOpt(
        'guest_state_query',
        default='libvirt_domain_state_code{uuid="UUID"}',
        help='PromQL that gives the state of one guest, 1 where it runs, with '
        'a label host, or else instance, that names the host; UUID stands '
        'for the uuid of its server. It is asked when a migration has left a '
        'server in ERROR, besides nova-compute; empty: it is not. The '
        'exporters of Tinkoff and inovex have '
        'libvirt_domain_info_vstate, to be joined with the series that '
        'names the uuid.',
    ),
    cfg.FloatOpt(
        'migration_poll_interval',
        default=5,
        min=0.1,
        help='Seconds between two looks at a running migration.',
    ),
    cfg.FloatOpt(
        'preflight_wait',
        default=60,
        min=0,
        help='Seconds that a move waits for what goes away by itself before '
        'Nova is asked: a task of its server, a nova-compute that does not '
        'report.',
    ),
    cfg.IntOpt(
        'max_retries',
        default=3,
        min=0,
        help='Further tries of a move that failed for a passing reason: '
        'Nova cannot be reached, answers 429 or 5xx, or a nova-compute was '
        'stopped before the migration ran.',
    ),
    cfg.FloatOpt(
        'retry_backoff',
        default=30,
        min=0,
        help='Seconds before the first further try of a move; doubled each '
        'time, and longer if Nova asks for it (Retry-After).',
    ),
    cfg.BoolOpt(
        'notify',
        default=False,
        help='Whether migrations are told as notifications of '
        'oslo.messaging, topic kronos.results.<scope>, on the notification '
        'transport of the process.',
    ),
]
