# SPDX-License-Identifier: Apache-2.0
"""What fits into a status message of Watcher, and may be shown there?"""

import re

LIMIT = 210
"""Characters: Watcher's column holds 255, and it adds words of its own."""

_USER_INFO = re.compile(r'://[^/@\s]+@')


def fit(text: str) -> str:
    """One line of at most ``LIMIT`` characters, without a URL's user."""
    line = _USER_INFO.sub('://', ' '.join(text.split()))
    return line if len(line) <= LIMIT else line[: LIMIT - 3] + '...'
