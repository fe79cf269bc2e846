# SPDX-License-Identifier: Apache-2.0
"""Does nobody count as done unless a query is set?"""

from oslotest import base

from tests.unit.strategies import declared


class TestOptions(base.BaseTestCase):
    def test_defaults(self) -> None:
        options = declared.kronos()
        self.assertEqual(
            ('', ''),
            (options.maintenance_done_query, options.maintenance_ready_query),
        )

    def test_queries_are_taken_as_they_are(self) -> None:
        query = 'node_uname_info{release="6.1, new"} == 1'
        options = declared.kronos(maintenance_done_query=query)
        self.assertEqual(query, options.maintenance_done_query)
