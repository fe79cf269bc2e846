# SPDX-License-Identifier: Apache-2.0
"""Does each end of a run have a status of its own, which the page has?"""

import re

from oslotest import base

from kronos.osc.run.exit_status import ExitStatus
from tests import places

PAGE = places.TOP / 'doc' / 'source' / 'client.rst'
TABLE = '.. list-table:: Exit statuses of ``run``\n'


class TestExitStatus(base.BaseTestCase):
    def test_none_is_another_name_of_one(self) -> None:
        names = list(ExitStatus.__members__)
        self.assertEqual(names, [status.name for status in ExitStatus])
        self.assertEqual(0, ExitStatus.DONE)

    def test_the_page_has_each_of_them(self) -> None:
        _, _, rest = PAGE.read_text().partition(TABLE)
        table = re.split(r'\n(?=\S)', rest)[0]
        self.assertEqual(
            [*map(str, sorted(ExitStatus))],
            re.findall(r'^   \* - (\d+)$', table, re.MULTILINE),
        )
