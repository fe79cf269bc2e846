# SPDX-License-Identifier: Apache-2.0
"""The text of a status message: what Watcher can hold, and may show."""

import re

from kronos.common import masking

LIMIT = 210
"""Characters: Watcher's column holds 255, and it adds words of its own."""

# MySQL's utf8 has three bytes a character; some have no bytes at all.
_UNTOLD = re.compile('[\x00\ud800-\udfff\U00010000-\U0010ffff]')


def fit(text: str) -> str:
    """One line of at most ``LIMIT`` characters, without secrets.

    What a database might refuse is replaced by ``?``.
    """
    line = masking.masked(' '.join(text.split()))
    line = _UNTOLD.sub('?', line)
    return line if len(line) <= LIMIT else line[: LIMIT - 3] + '...'
