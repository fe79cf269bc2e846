# SPDX-License-Identifier: Apache-2.0
"""Do results, remarks and questions go where they belong?"""

from kronos.osc.run.dialogue import Dialogue
from tests.unit.osc.run import scripted
from tests.unit.osc.run.scripted import Stream


class TestDialogue(scripted.ScriptedTestCase):
    def test_results_alone_are_output(self) -> None:
        self.dialogue.remark('remark')
        self.dialogue.result('result')
        self.assertEqual(('result\n', 'remark\n'), self.shown())

    def test_answers(self) -> None:
        for answer, expected in (
            ('y\n', True),
            (' YES \n', True),
            ('n\n', False),
            ('\n', False),
            ('yess\n', False),
            ('', False),
        ):
            self.talk(answer)
            self.assertIs(expected, self.dialogue.confirm('Start?'))
            self.assertIn('Start? [y/N] ', self.shown()[1])

    def test_both_ends_are_a_terminal(self) -> None:
        for errors in (False, True):
            for answers in (False, True):
                dialogue = Dialogue(
                    Stream(),
                    Stream(is_terminal=errors),
                    Stream('', answers),
                )
                self.assertIs(errors and answers, dialogue.is_interactive)
