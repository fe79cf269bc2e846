# SPDX-License-Identifier: Apache-2.0
"""The policy files of a service: what one rule comes to.

Of the files nothing is shown but that rule.
"""

import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kronos.common import yaml_files

CLOSED = '!'
"""To everybody."""
OPEN = frozenset({'', '@'})
"""To everybody."""
MAX_BYTES = 1024 * 1024
"""Of a file; all rules of Nova with their descriptions are some 115 kB."""
_ALIAS = re.compile(r'rule:(\S+)')


class Invalid(Exception):
    """A file cannot be used; the text says why and shows none of it.

    :param path: of the file
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f'{path}: {reason}')
        self.path = path


def files(paths: Sequence[str]) -> Iterator[str]:
    """The files, those of directories in the order of their names."""
    for name in paths:
        path = pathlib.Path(name)
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.is_file())
            yield from (str(file) for file in inside if file.name[0] != '.')
        else:
            yield name


def rules(path: str) -> dict[str, Any]:
    """All of one file.

    :raises Invalid: it cannot be used
    """
    try:
        data = yaml_files.data_of(yaml_files.text_of(path, MAX_BYTES))
    except yaml_files.Unreadable as error:
        # The rest of the text may repeat what is in the file.
        line = re.search(r'\bline \d+', str(error))
        reason = f'not valid YAML ({line[0]})' if line else str(error)
        raise Invalid(path, reason) from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        kind = yaml_files.kind(data)
        raise Invalid(path, f'{kind} instead of a mapping of rules')
    return data


def resolved(text: str, rules: Mapping[str, Any]) -> str | None:
    """What a rule comes to that is only the name of another one.

    :returns: None: it comes to itself
    """
    seen = set()
    while alias := _ALIAS.fullmatch(text):
        if alias[1] in seen:
            return None
        seen.add(alias[1])
        other = rules.get(alias[1])
        if not isinstance(other, str):
            break
        text = other.strip()
    return text


def is_open(paths: Sequence[str], rule: str) -> bool:
    """Whether a rule that is closed by default lets anybody pass.

    :param paths: files, and directories of them; later ones go before
    :raises Invalid: a file, or the rule in it, cannot be used
    """
    merged: dict[str, Any] = {}
    for path in files(paths):
        merged |= rules(path)
    text = merged.get(rule, CLOSED)
    meaning = resolved(text.strip(), merged) if isinstance(text, str) else None
    if meaning is None:
        raise Invalid(', '.join(paths), f'{rule} is not a valid rule')
    return meaning != CLOSED
