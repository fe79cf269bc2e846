# SPDX-License-Identifier: Apache-2.0
"""The examples: recordings that come with Kronos.

``examples/NAME`` means one of them wherever there is nothing else of that
name, so that the same command works in a clone and without one.
"""

import os
import re

import kronos
from kronos.common.exceptions import ArchiveError
from kronos.common.names import near_names

PREFIX = 'examples'
README = 'README.rst'
_ENTRY = re.compile(r'^``([a-z-]+)``\n((?:    .+\n)+)', re.MULTILINE)


def located(path: str) -> str:
    """The path, or the example that it names.

    :raises ArchiveError: it names an example that there is not
    """
    parts = os.path.normpath(path).split(os.sep)
    if parts[0] != PREFIX or len(parts) > 2 or os.path.lexists(path):
        return path
    if len(parts) == 1:
        return _home()
    if parts[1] not in listed():
        raise ArchiveError(
            path=path,
            reason='there is no such file, nor an example of this name; '
            + near_names.of_fields(parts[1], listed()),
        )
    return os.path.join(_home(), parts[1])


def listed() -> dict[str, str]:
    """What each example shows, by name."""
    path = os.path.join(_home(), README)
    with open(path, encoding='utf-8') as file:
        entries = _ENTRY.findall(file.read())
    return {name: ' '.join(text.split()) for name, text in entries}


def _home() -> str:
    return os.path.join(os.path.dirname(kronos.__file__), PREFIX)
