# SPDX-License-Identifier: Apache-2.0
"""Is every code documented, and does a reason keep its own?"""

import copy
import pickle
import re

from oslotest import base

from kronos.engine.reasons import Code, Reason
from tests import documented

ROW = re.compile(
    r'^ {3}\* - ``(\w+)``\n {5}- (.+(?:\n {7}.+)*)\n {5}-(.*(?:\n {7}.+)*)',
    re.MULTILINE,
)


def flat(text: str) -> str:
    return ' '.join(text.split())


class TestCodes(base.BaseTestCase):
    def test_the_documentation_has_them_all(self) -> None:
        """Table and enum agree, in order and in words."""
        page = documented.TOP / 'doc' / 'source' / 'explaining.rst'
        found = [
            (code, flat(means), flat(remedy))
            for code, means, remedy in ROW.findall(page.read_text())
        ]
        self.assertEqual(
            [(one.value, one.means, one.remedy) for one in Code],
            found,
        )

    def test_each_code_has_a_meaning(self) -> None:
        self.assertEqual(list(Code), [one for one in Code if one.means])

    def test_a_reason_is_its_text_and_keeps_its_code(self) -> None:
        made = Reason('no room', Code.NO_ROOM, 'VCPU', 2.0, 'cmp1')
        copies = copy.deepcopy(made), pickle.loads(pickle.dumps(made))
        for one in (made, *copies, made.worded('no room')):
            self.assertEqual('no room', one)
            self.assertIs(Code.NO_ROOM, one.code)
            self.assertEqual(
                ('VCPU', 2.0, 'cmp1'), (one.about, one.value, one.host)
            )

    def test_a_text_without_a_code_is_refused(self) -> None:
        self.assertRaises(TypeError, Reason, 'no room')
