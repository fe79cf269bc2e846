# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios share that cancel an action plan?"""

from typing import Any

from tests.lab import moves
from tests.lab.moves import HELD, SOURCE

CANCELLED = (
    'KRONOS:MigrationCancelled: [plan_cancelled] its plan was cancelled'
)


class CancelTestCase(moves.MovesTestCase):
    def cancel_under_way(
        self, state: str, rule: dict[str, Any], answer: int | None = None
    ) -> None:
        """Exactly this migration is aborted.

        :param rule: keeps the migration in its state
        :param answer: to the request to abort it, before it is set free;
            None: it need not be
        """
        self.boot_here('a', 'b')
        plan = self.planned()
        self.cloud.set_migrations({'default': rule})
        self.start(plan)
        name, other = self.first(state)
        self.cancel(plan)
        if answer:
            self.wait(lambda: answer in self.aborts(), 'its abort')
            self.assertEqual(state, self.status(name))
            self.cloud.set_migrations({'default': HELD})
        rows = self.ended(plan, 'CANCELLED')
        self.assert_told(rows[name], 'FAILED', CANCELLED)
        self.assert_never_started(rows[other])
        self.assertEqual('cancelled', self.status(name))
        self.assert_at_rest({'a': SOURCE, 'b': SOURCE})
        self.assertEqual(1, len(self.orders()))
