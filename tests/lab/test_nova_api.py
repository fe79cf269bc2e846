# SPDX-License-Identifier: Apache-2.0
"""Nova's API is in trouble: is a server moved once, and only once?

==============================  =========  ===================================
Nova's API                      Action     It says
==============================  =========  ===================================
answers 500, 503, or 429 with   SUCCEEDED  tried 2 times
Retry-After, to the call
resets or closes the            SUCCEEDED  tried 2 times
connection of the call
carries the call out, and its   SUCCEEDED  nothing: it was not asked again
answer is lost, or late
refuses all tries               FAILED     NovaClientError, tried 3 times; the
                                           next audit plans it again
==============================  =========  ===================================

So many requests to migrate reach Nova as there are migrations: one each.
"""

from typing import Any, ClassVar

from tests.lab import moves
from tests.lab.moves import DESTINATION, SOURCE

BACKOFF = 2
RETRY_AFTER = 7


class TestTheCall(moves.MovesTestCase):
    options: ClassVar[dict[str, Any]] = {
        'retry_backoff': BACKOFF,
        'max_retries': 2,
        'max_concurrent_migrations': 4,
    }

    def rule(self, name: str, answer: int | str, **more: Any) -> Any:
        """What becomes of the request to migrate a server."""
        return {
            'method': 'POST',
            'path': f'/servers/{self.uuids[name]}/action',
            'body': 'os-migrateLive',
            'answer': answer,
            **more,
        }

    def test_it_fails(self):
        """Each server is moved by one request in the end.

        One for which that fails again and again is moved by the next plan.
        """
        again = {'500': 500, '503': 503, '429': 429}
        again |= {'reset': 'reset', 'refuse': 'refuse'}
        once = {'swallow': 'swallow', 'late': 'late'}
        names = [*again, *once]
        lost = 'lost'
        placed = {
            name: (SOURCE, 'cmp3')[number % 2]
            for number, name in enumerate([*names, lost])
        }
        self.boot_at(placed)
        more: dict[str, dict[str, Any]] = {
            '429': {'retry_after': RETRY_AFTER},
            'late': {'seconds': 3},
        }
        self.cloud.set_nova_api(
            [
                self.rule(name, answer, count=1, **more.get(name, {}))
                for name, answer in {**again, **once}.items()
            ]
            + [self.rule(lost, 503)]
        )
        plan = self.started()
        rows = self.ended(plan, 'FAILED')
        for name in names:
            with self.subTest(name):
                words = ['tried 2 times'] if name in again else []
                self.assert_told(rows[name], 'SUCCEEDED', *words)
                if name in once:
                    self.assertNotIn(
                        'tried', rows[name]['status_message'] or ''
                    )
                self.assertEqual(1, len(self.orders_for(name)))
                self.assertEqual('completed', self.status(name))
        asked, answered = self.times('429')
        self.assertGreaterEqual(answered - asked, RETRY_AFTER)
        self.assert_told(
            rows[lost],
            'FAILED',
            'KRONOS:NovaClientError: ',
            'HTTP 503',
            'tried 3 times',
        )
        self.assertEqual([], self.orders_for(lost))
        self.assertEqual(3, len(self.times(lost)))
        goals = dict.fromkeys(names, DESTINATION)
        self.assert_at_rest({**goals, lost: placed[lost]})
        # That was no fault of the instance, which is no reason.
        self.cloud.set_nova_api([])
        self.cloud.set_host(SOURCE, False)
        self.carried_out(self.planned(lost))
        self.assert_at_rest({**goals, lost: DESTINATION})

    def times(self, name: str) -> list[float]:
        """When Watcher asked for the migration of a server."""
        return [
            request['time']
            for request in self.cloud.api_requests()
            if request['action'] == 'os-migrateLive'
            and self.uuids[name] in request['path']
        ]
