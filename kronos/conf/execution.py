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
        'migration_timeout',
        default=600,
        min=1,
        help='Seconds after leaving the queue before a migration is aborted.',
    ),
    cfg.FloatOpt(
        'queue_timeout',
        default=1800,
        min=1,
        help="Seconds in Nova's queue before a migration is aborted, and "
        'seconds that a move waits for its turn before it is skipped.',
    ),
    cfg.FloatOpt(
        'stall_timeout',
        default=300,
        min=0,
        help='Seconds without any progress before a running migration is '
        'aborted; 0: it may stand still until migration_timeout. It only '
        'binds where the hypervisor tells progress.',
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
