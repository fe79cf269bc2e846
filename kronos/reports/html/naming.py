# SPDX-License-Identifier: Apache-2.0
"""Names instead of the uuids in sentences of the planner, where known."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

_UUID = re.compile(r'\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b')
_SENTENCES = ('reason',)
_LISTS = ('warnings',)
_BY_KEY = ('stayed', 'unmovable', 'not_drained', 'unavailable_hosts')
_ROWS = {
    'stages': ('text',),
    'groups': ('broken_before', 'broken_after'),
    'hosts': ('unavailable',),
    'drains': ('reason', 'staying'),
    'steps': ('why',),
}
"""What of a scope are sentences; the keys of mappings stay uuids."""


def named(scope: Mapping[str, Any], names: Mapping[str, str]) -> Any:
    """A copy of a scope of the document whose sentences have names.

    :param names: by uuid; of a name that several have, the uuid is told too
    """
    name_in = _Namer(names).named
    copy = dict(scope)
    for key in (*_SENTENCES, *_LISTS, *_BY_KEY):
        if key in copy:
            copy[key] = name_in(copy[key])
    for key, fields in _ROWS.items():
        copy[key] = [
            row | {name: name_in(row[name]) for name in fields if name in row}
            for row in copy.get(key, [])
        ]
    # An old report is known by what it lacks.
    return {key: copy[key] for key in scope}


class _Namer:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._counts = Counter(names.values())

    def named(self, value: Any) -> Any:
        """A sentence, or a list or a mapping of them, with names."""
        if isinstance(value, str):
            return _UUID.sub(self._name, value)
        if isinstance(value, list):
            return [self.named(part) for part in value]
        if isinstance(value, dict):
            return {key: self.named(part) for key, part in value.items()}
        return value

    def _name(self, match: re.Match[str]) -> str:
        name = self._names.get(match[0])
        if not name or name == match[0]:
            return match[0]
        return name if self._counts[name] == 1 else f'{name} ({match[0]})'
