# SPDX-License-Identifier: Apache-2.0
"""Which of a server's requests are taken for one whose answer was lost?

That Nova gets one request at most is tested with the moves that send it.
"""

from oslotest import base

from kronos.actions.core.own_requests import OwnRequests
from kronos.common import exceptions


class TestOwnRequests(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.listed = ['req-before']
        self.requests = OwnRequests(lambda: self.listed)

    def test_what_was_there_before(self) -> None:
        self.assertEqual('', self.requests.begin())
        self.requests.in_doubt = True
        self.assertEqual('', self.requests.late())

    def test_what_came_without_doubt(self) -> None:
        """It is of somebody else."""
        self.requests.begin()
        self.listed.insert(0, 'req-of-another')
        self.assertEqual('', self.requests.late())
        self.assertEqual('', self.requests.begin())
        self.requests.in_doubt = True
        self.assertEqual('', self.requests.late())

    def test_the_newest_that_is_new(self) -> None:
        self.requests.begin()
        self.requests.in_doubt = True
        self.listed[:0] = ['req-2', 'req-1']
        for answer in (self.requests.late(), self.requests.begin()):
            self.assertEqual('req-2', answer)

    def test_one_that_is_followed(self) -> None:
        self.requests.begin()
        self.requests.in_doubt = True
        self.listed.insert(0, 'req-1')
        self.requests.take('req-1')
        self.assertFalse(self.requests.in_doubt)
        self.requests.in_doubt = True
        self.assertEqual('', self.requests.late())

    def test_nova_is_away(self) -> None:
        def away() -> list[str]:
            raise exceptions.NovaClientError(reason='away')

        requests = OwnRequests(away)
        self.assertRaises(exceptions.NovaClientError, requests.begin)
        self.assertEqual('', requests.late())
