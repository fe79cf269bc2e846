# SPDX-License-Identifier: Apache-2.0
"""The dialogue with whoever gives the command: progress, results, questions.

Results go to standard output; progress, questions and remarks to standard
error, so that a pipe gets the results alone.
"""

from typing import TextIO

from kronos.osc.run.displays import Display, LineDisplay, TerminalDisplay
from kronos.osc.run.views import View


class Dialogue:
    """The streams of a command.

    :param output: of results
    :param errors: of progress, questions and remarks
    :param answers: where a person answers
    """

    def __init__(
        self, output: TextIO, errors: TextIO, answers: TextIO
    ) -> None:
        self._output, self._errors, self._answers = output, errors, answers
        self._display: Display = (
            TerminalDisplay(errors) if errors.isatty() else LineDisplay(errors)
        )

    @property
    def is_interactive(self) -> bool:
        """Whether somebody can see a question and answer it."""
        return self._errors.isatty() and self._answers.isatty()

    def show(self, view: View) -> None:
        self._display.show(view)

    def close(self) -> None:
        self._display.close()

    def result(self, text: str) -> None:
        self._display.close()
        self._output.write(f'{text}\n')
        self._output.flush()

    def remark(self, text: str) -> None:
        self._display.close()
        self._errors.write(f'{text}\n')
        self._errors.flush()

    def confirm(self, question: str) -> bool:
        """Whether the answer is yes; no is the default.

        :raises KeyboardInterrupt: the answer is Ctrl-C
        """
        self._display.close()
        self._errors.write(f'{question} [y/N] ')
        self._errors.flush()
        answer = self._answers.readline()
        if not answer.endswith('\n'):
            # The end of the input: the cursor is still behind the question.
            self._errors.write('\n')
        return answer.strip().lower() in ('y', 'yes')
