# SPDX-License-Identifier: Apache-2.0
"""A scope whose plan a window, budgets and consent limit all at once."""

from kronos.engine.eligibility import consent
from kronos.engine.planning import propose
from kronos.engine.settings import Settings
from kronos.engine.types import (
    AggregateResult,
    CycleReport,
    Disruption,
    ScopeWindow,
    ServerGroup,
)
from tests.builders import scopes

NOW = 1_800_000_000.0
"""2027-01-15T08:00:00Z"""
ACME, OTHER = 'acme', 'other'


def report() -> CycleReport:
    """Six servers on one host of three; those of acme have moved lately.

    v0 of project acme allows drains only, v5 has an unknown value, and v4 is
    a member of a group.
    """
    policy = scopes.policy('cpu')
    servers = [
        scopes.vm(
            f'v{number}',
            'a',
            [0.1],
            name=f'web{number}',
            project_id=ACME if number < 4 else OTHER,
        )
        for number in range(6)
    ]
    snapshot = scopes.scope(
        [policy],
        {'a': [0.6], 'b': [0.0], 'c': [0.0]},
        servers,
        groups=[ServerGroup('g', 'soft-anti-affinity', ['v4'], name='pair')],
    )
    snapshot.taken_at = NOW
    snapshot.instances['v0'].metadata = {consent.KEY: 'drain'}
    snapshot.instances['v5'].tags = [consent.TAG_PREFIX + 'perhaps']
    snapshot.disruptions = [Disruption('gone', ACME, NOW - 600)]
    snapshot.window = ScopeWindow(
        True,
        '2027-01-15 10:00 (UTC)',
        NOW + 7200,
        move_seconds=60,
        most_moves=120,
    )
    settings = Settings(
        max_migrations=10, project_budget='2/3600', group_budget='1'
    )
    return propose.propose([snapshot], [policy], settings)


def scope() -> AggregateResult:
    """The only scope of the report."""
    [result] = report().scopes
    return result
