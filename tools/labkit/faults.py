# SPDX-License-Identifier: Apache-2.0
"""The rules by which a migration, or Nova's API, goes wrong.

Standard library only. A rule of migrations.json, all keys optional::

    seconds             how long the transfer takes                     1
    writes              how fast the guest writes to its memory, in shares
                        of the speed at which that is copied: more is left
                        for the next pass, and from 1 on it has no end  0.25
    post_copy           true: what is forced goes on at the destination;
                        false: the guest is paused                      false
    stall_at            share of the transfer, 0 to 1, at which it stands
                        still until it is aborted or the rule changes   -
    end                 completed; failed (rolled back); error (the server
                        too); lost (called completed, the server stays
                        and is busy for ever); stayed (the same, the
                        server is idle)                         completed
    fail_at             share at which ``failed`` or ``error`` comes    1
    fail                where it fails: destination-check, source-check
                        (the server does not fit), destination-crash (the
                        check itself breaks: the server is in ERROR),
                        pre, post-source or post-destination            -
    accepted_seconds    the check at the destination takes so long      0
    queued_seconds      another migration holds the source's slot       0
    preparing_seconds   the destination takes so long to prepare        0
    post_seconds        the destination takes so long to take over      0

A move to another cell has phases, in this order: claim and binding (for the
destination), power-off, snapshot and destroy (at the source), spawn (at the
destination); then confirm or revert (at the source). ``fail`` may be one of
them, and each has its seconds::

    claim_seconds, binding_seconds, power_off_seconds, snapshot_seconds,
    destroy_seconds, spawn_seconds, confirm_seconds, revert_seconds     0

``null`` for one of the seconds means: until the rule says otherwise.
"""

import time
from typing import Any

from labkit import layout

CELL_PHASES = (
    'claim',
    'binding',
    'power-off',
    'snapshot',
    'destroy',
    'spawn',
    'confirm',
    'revert',
)
"""Of a move to another cell."""


def seconds_of(phase: str) -> str:
    """The key of how long a phase takes longer."""
    return f'{phase.replace("-", "_")}_seconds'


SECONDS = (
    'seconds',
    'accepted_seconds',
    'queued_seconds',
    'preparing_seconds',
    'post_seconds',
    *(seconds_of(phase) for phase in CELL_PHASES),
)
SHARES = ('stall_at', 'fail_at')
RATES = ('writes',)
CHOICES: dict[str, tuple[Any, ...]] = {
    'post_copy': (True, False),
    'end': ('completed', 'failed', 'error', 'lost', 'stayed'),
    'fail': (
        'destination-check',
        'destination-crash',
        'source-check',
        'pre',
        'post-source',
        'post-destination',
        *CELL_PHASES,
    ),
}
BROKEN = 'the lab was told to break this: {}'
DEFAULT: dict[str, Any] = {
    'seconds': 1.0,
    'writes': 0.25,
    'end': 'completed',
}
API_KEYS = {
    'method',
    'path',
    'body',
    'answer',
    'count',
    'retry_after',
    'seconds',
}
API_ANSWERS = ('reset', 'swallow', 'refuse', 'hang', 'late')


def rule_for(
    instance: Any, source: str, destination: str | None
) -> dict[str, Any]:
    """How a migration goes: the most specific rule, over the default.

    Read anew each time.

    :raises ValueError: what is wrong with the file
    """
    rules = migration_rules()
    chosen = dict(DEFAULT)
    for key in (
        'default',
        f'source:{source}',
        f'destination:{destination}',
        instance.display_name,
        instance.uuid,
    ):
        chosen.update(rules.get(key, {}))
    return chosen


def migration_rules() -> dict[str, Any]:
    """All rules of migrations.json.

    :raises ValueError: what is wrong with the file
    """
    try:
        rules = layout.read_json(layout.MIGRATIONS)
    except ValueError:
        time.sleep(0.2)  # an editor may have written half of it
        rules = layout.read_json(layout.MIGRATIONS)
    check_migrations(rules)
    return rules


def check_migrations(rules: dict[str, Any]) -> None:
    """:raises ValueError: names the rule and the key that is wrong"""
    for name, rule in rules.items():
        for key, value in rule.items():
            if not _is_good(key, value):
                raise ValueError(
                    f'{layout.MIGRATIONS}: {name}: {key}: {value!r} is not '
                    'possible; tools/labkit/faults.py lists what is'
                )


def _is_good(key: str, value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if key in SECONDS:
        return value is None or (number and value >= 0)
    if key in RATES:
        return number and value >= 0
    if key in SHARES:
        return value is None or (number and 0 <= value <= 1)
    return key in CHOICES and (value is None or value in CHOICES[key])


def check_api(rules: list[dict[str, Any]]) -> None:
    """:raises ValueError: names the rule and the key that is wrong"""
    for number, rule in enumerate(rules):
        where = f'{layout.NOVA_API}: rule {number}'
        unknown = set(rule) - API_KEYS
        if unknown:
            raise ValueError(f'{where}: unknown: {", ".join(sorted(unknown))}')
        answer = rule.get('answer')
        if answer not in API_ANSWERS and not (
            isinstance(answer, int) and 400 <= answer <= 599
        ):
            raise ValueError(
                f'{where}: answer: {answer!r} is neither a status from 400 '
                f'to 599 nor one of {", ".join(API_ANSWERS)}'
            )
