# SPDX-License-Identifier: Apache-2.0
"""The tally of one check of an upgrade: what it found, the worst first."""

from oslo_upgradecheck import upgradecheck

from kronos.cmd.checks.findings import Findings, Level
from kronos.common import masking, plain_text

Code = upgradecheck.Code
_CODES = {
    Level.ERROR: Code.FAILURE,
    Level.WARNING: Code.WARNING,
    Level.NOTE: Code.SUCCESS,
}


class Tally:
    """What a check found."""

    def __init__(self) -> None:
        self._texts: list[tuple[Code, str]] = []

    def fine(self, text: str) -> None:
        """It is as it should be."""
        self._add(Code.SUCCESS, text)

    def warn(self, text: str, remedy: str = '') -> None:
        """It may go wrong, or could not be looked at.

        :param remedy: what to do
        """
        self._add(Code.WARNING, text, remedy)

    def fail(self, text: str, remedy: str) -> None:
        """It will go wrong.

        :param remedy: what to do
        """
        self._add(Code.FAILURE, text, remedy)

    def take(self, findings: Findings) -> None:
        """Add what a check of kronos-test-config found."""
        for finding in findings.items:
            self._add(_CODES[finding.level], finding.text, finding.remedy)

    def result(self) -> upgradecheck.Result:
        """All of it; what is fine is left out where anything is not."""
        worst = max((code for code, _ in self._texts), default=Code.SUCCESS)
        rows = sorted(self._texts, key=lambda row: -row[0])
        texts = [text for code, text in rows if code or not worst]
        return upgradecheck.Result(worst, ' '.join(texts))

    def _add(self, code: Code, text: str, remedy: str = '') -> None:
        said = f'{text}.' + (f' Remedy: {remedy}.' if remedy else '')
        # Names, texts of errors: others wrote them.
        self._texts.append((code, plain_text.line(masking.masked(said))))
