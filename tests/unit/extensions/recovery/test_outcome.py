# SPDX-License-Identifier: Apache-2.0
"""What does a result keep of a recovery?"""

from oslotest import base

from kronos.engine.types import (
    AggregateResult,
    Drain,
    InstanceStanding,
    StopReason,
)
from kronos.extensions.recovery import outcome
from kronos.extensions.recovery.failures import NAME
from kronos.extensions.recovery.outcome import RecoveryOutcome, Restart

HERE = Restart('v', 'v', 'h1', 'h1', 1, 'crash', 9.0)


def result(**fields: object) -> AggregateResult:
    scope = AggregateResult('a', StopReason.DONE, 'done')
    vars(scope).update(fields)
    return scope


class TestOutcome(base.BaseTestCase):
    def test_nothing(self) -> None:
        self.assertEqual(RecoveryOutcome(), outcome.of(result()))
        self.assertEqual(set(), outcome.trouble(result()))

    def test_restarts(self) -> None:
        scope = result(beside={NAME: RecoveryOutcome(restarts=[HERE])})
        self.assertEqual([('a', HERE)], outcome.restarts([result(), scope]))
        self.assertFalse(HERE.is_elsewhere)

    def test_trouble(self) -> None:
        """What failed, what is restarted, and what shares a host with it."""
        scope = result(
            beside={NAME: RecoveryOutcome({}, {'w': 'hang'}, [HERE])},
            drains=[Drain('h2', 'it is at fault', 1, 1)],
            instances={
                'x': InstanceStanding('x', 'h2'),
                'y': InstanceStanding('y', 'h3'),
            },
        )
        self.assertEqual({'v', 'w', 'x'}, outcome.trouble(scope))
