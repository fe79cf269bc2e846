# SPDX-License-Identifier: Apache-2.0
"""From the text of event rules to rules, or to all its faults at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pydantic

from kronos.common import exceptions, yaml_files
from kronos.common.names import near_names
from kronos.common.units import time_units
from kronos.monitor.events import Kind
from kronos.monitor.rules.models import Rule, RuleFile

DEFAULT = """\
rules:
  - name: ended
    match: {kind: [crash, panic]}
    action: send
    severity: critical
  - name: stands-still
    match: {kind: [hang, io_error, postcopy_failed, paused]}
    action: send
    severity: error
  - name: degraded
    match: {kind: [memory_error, control_error]}
    action: send
    severity: warning
"""
"""What holds where there is no file."""
MOST_VALUES = 20_000
"""Of a file; each may be a fault, and aliases of YAML repeat it."""
MOST_FAULTS = 50
"""That a message names."""


def parse(text: str, path: str, sinks: Sequence[str]) -> list[Rule]:
    """The rules of a file's text.

    :param path: where it comes from, for the message
    :param sinks: all that there are
    :raises ConfigurationError: names every rule, field and remedy at fault
    """
    try:
        data = yaml_files.data_of(text)
    except yaml_files.Unreadable as error:
        raise refused(path, str(error)) from None
    if not isinstance(data, dict):
        reason = 'it is empty' if data is None else 'it must be a mapping'
        raise refused(path, f'{reason}: it needs the key rules')
    if (count := yaml_files.size_of(data)) > MOST_VALUES:
        raise refused(
            path,
            f'it has {count} values, aliases included; at most {MOST_VALUES} '
            'are read: remove some',
        )
    faults = _faults_between(data, sinks)
    try:
        rules = RuleFile.model_validate(data).rules
    except pydantic.ValidationError as error:
        faults[:0] = yaml_files.faults(
            error, RuleFile, _places(data), more=_hint
        )
    if faults:
        unique = [*dict.fromkeys(faults)]
        more = len(unique) - MOST_FAULTS
        rest = [f'and {more} more'] if more > 0 else []
        raise refused(path, '; '.join(unique[:MOST_FAULTS] + rest))
    return rules


def refused(path: str, reason: str) -> exceptions.ConfigurationError:
    """The error of a rules file."""
    return exceptions.ConfigurationError(f'Event rules {path}: {reason}')


def _rows(data: Mapping[Any, Any]) -> list[Mapping[Any, Any]]:
    rows = data.get('rules')
    rows = rows if isinstance(rows, list) else []
    return [row if isinstance(row, dict) else {} for row in rows]


def _places(data: Mapping[Any, Any]) -> list[str]:
    return yaml_files.places(_rows(data), 'rule')


def _faults_between(
    data: Mapping[Any, Any], sinks: Sequence[str]
) -> list[str]:
    """What is wrong with each rule beside the others and the options."""
    faults = []
    rows = _rows(data)
    names = Counter(
        row['name'] for row in rows if isinstance(row.get('name'), str)
    )
    for name, count in names.items():
        if count > 1:
            clipped = yaml_files.clip(name)
            faults.append(f'rule {clipped}: name: {count} rules have it')
    for place, row in zip(_places(data), rows, strict=True):
        chosen = row.get('sinks')
        chosen = [chosen] if isinstance(chosen, str) else chosen
        for sink in chosen if isinstance(chosen, list) else []:
            if isinstance(sink, str) and sink not in sinks:
                hint = near_names.of_fields(sink, sinks or ['none'])
                faults.append(
                    f'{place}: sinks: [kronos_monitor] sinks has no '
                    f'{yaml_files.clip(sink)}, {hint}'
                )
    return faults


def _hint(name: str, kind: str, value: Any) -> str:
    """What may have been meant by a value."""
    if kind == 'missing' or not isinstance(value, str):
        return ''
    if name == 'kind':
        return f', {near_names.of_fields(value, [*Kind])}'
    field = Rule.model_fields.get(name)
    if field is None or 'seconds' not in (field.description or ''):
        return ''
    hint = time_units.hint(value)
    return hint and f': {hint}'
