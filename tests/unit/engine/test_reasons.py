# SPDX-License-Identifier: Apache-2.0
"""Does every code have a meaning, and does a reason keep its own?"""

import copy
import pickle

from oslotest import base

from kronos.engine.reasons import Code, Reason


class TestCodes(base.BaseTestCase):
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
