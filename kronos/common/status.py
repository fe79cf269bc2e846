# SPDX-License-Identifier: Apache-2.0
"""The text of a status message: what Watcher can hold, and may show."""

import re

from kronos.common import masking, shell_commands

LIMIT = 210
"""Characters: Watcher's column holds 255, and it adds words of its own."""

# MySQL's utf8 has three bytes a character; some have no bytes at all.
_UNSTORABLE = re.compile('[\x00\ud800-\udfff\U00010000-\U0010ffff]')
BETWEEN, MORE = '; ', '...'
"""Stands between two clauses; and for what is cut off."""
_CODES = re.compile(r'KRONOS:(?:\w+: \[\w+\])? ')
"""What a message of an action begins with."""


def fit(text: str) -> str:
    """One line of at most ``LIMIT`` characters, without secrets.

    What a database might refuse is replaced by ``?``. Of a longer text the
    end is cut off; a command that would be cut off goes to the beginning,
    after the first clause where both fit.
    """
    line = masking.masked(' '.join(text.split()))
    line = _UNSTORABLE.sub('?', line)
    if len(line) <= LIMIT:
        return line
    return _command_first(line)[: LIMIT - len(MORE)] + MORE


def _command_first(line: str) -> str:
    """A text whose first command is within the limit, if it has one.

    Its clause goes to the beginning; where that is too long itself, the
    command alone. A first clause that is short says what matters most.
    """
    command = shell_commands.IN_SENTENCE.search(line)
    most = LIMIT - len(MORE)
    if command is None or command.end() <= most:
        return line
    codes = _CODES.match(line)
    head = codes.end() if codes else 0
    begin = line.rfind(BETWEEN, head, command.start())
    begin = head if begin < 0 else begin + len(BETWEEN)
    end = line.find(BETWEEN, command.end())
    end = len(line) if end < 0 else end
    if head + command.end() - begin > most:
        begin = command.start()
    clause, after = line[begin:end], line[end:]
    opening, _, _ = line[head:begin].partition(BETWEEN)
    first = head + len(opening) + len(BETWEEN)
    if first <= begin and first + command.end() - begin <= most:
        if first + len(clause) > most:
            # What the command does can be missed first.
            clause = line[begin : command.end()]
        head = first
    before = line[head:begin].removesuffix(BETWEEN)
    return f'{line[:head]}{clause}{BETWEEN}{before}{after}'
