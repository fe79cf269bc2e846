# SPDX-License-Identifier: Apache-2.0
"""Is what a search says its own?"""

from oslotest import base

from kronos.engine.planning.search.outcome import SearchResult
from kronos.engine.settings import SearchName
from kronos.engine.types import StopReason


class TestSearchResult(base.BaseTestCase):
    def test_no_two_share_their_notices(self):
        one, other = (
            SearchResult(StopReason.STUCK, SearchName.BEST) for _ in range(2)
        )
        one.notices.append('something')
        self.assertEqual([], other.notices)
