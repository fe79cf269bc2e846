# SPDX-License-Identifier: Apache-2.0
"""The check of nova-api's policy files: may a server leave its cell?

No API tells it: where it is closed, Nova says that the host of the other cell
could not be found. Of the files nothing is shown but this one rule.
"""

import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kronos.cmd.checks.cells.needs import Need
from kronos.cmd.checks.findings import Findings
from kronos.common import yaml_files

RULE = 'compute:servers:resize:cross_cell'
CLOSED = '!'
"""To everybody; Nova's default of this rule."""
OPEN = frozenset({'', '@'})
"""To everybody."""
ALIAS = re.compile(r'rule:(\S+)')
MAX_BYTES = 1024 * 1024
"""Of a file; all rules of Nova with their descriptions are some 115 kB."""
MEND = (
    f'write "{RULE}": "rule:admin_api" into the policy.yaml of every nova-api'
)


class _Invalid(Exception):
    """A file cannot be used; the text says why and shows none of it."""


def check(paths: Sequence[str], findings: Findings) -> Need:
    """Read the rule.

    :param paths: files, and directories of them; later ones go before
    """
    if not paths:
        findings.note(
            'cells-policy-unknown',
            f'whether nova-api lets servers leave their cell ({RULE}) was '
            'not looked at: no API tells it, and it is closed by default',
            'give the policy.yaml of nova-api with --nova-policy',
        )
        return Need(RULE, 'unknown', '-', None)
    rules: dict[str, Any] = {}
    where = paths[0]
    for path in _files(paths):
        try:
            found = _rules(path)
        except _Invalid as error:
            findings.error('config-invalid', str(error), 'correct the file')
            return Need(RULE, 'unknown', path, None)
        where = path if RULE in found else where
        rules |= found
    return _judged(rules, where, findings)


def _judged(rules: Mapping[str, Any], where: str, to: Findings) -> Need:
    text = rules.get(RULE, CLOSED)
    if not isinstance(text, str):
        kind = yaml_files.kind(text)
        to.error('config-invalid', f'{where}: {RULE}: {kind}, no text', MEND)
        return Need(RULE, 'invalid', where, False)
    text, meant = text.strip(), _resolved(text.strip(), rules)
    if meant is None:
        to.error(
            'config-invalid', f'{where}: {RULE} is defined by itself', MEND
        )
    elif meant == CLOSED:
        why = 'is closed' if RULE in rules else 'is not set, thus closed'
        to.error(
            'cells-policy',
            f'{where}: {RULE} {why}: Nova refuses every move to another cell '
            'as if the host could not be found',
            MEND,
        )
    elif meant in OPEN:
        to.warning(
            'cells-policy-open',
            f'{where}: {RULE} is open to everybody: a resize that a tenant '
            'asks for may leave the cell',
            MEND,
        )
    shown = yaml_files.clip(text) or '""'
    return Need(RULE, shown, where, meant not in (None, CLOSED))


def _resolved(text: str, rules: Mapping[str, Any]) -> str | None:
    """What a rule comes to that is only the name of another one.

    :returns: None: it comes to itself
    """
    seen = set()
    while alias := ALIAS.fullmatch(text):
        if alias[1] in seen:
            return None
        seen.add(alias[1])
        other = rules.get(alias[1])
        if not isinstance(other, str):
            break
        text = other.strip()
    return text


def _files(paths: Sequence[str]) -> Iterator[str]:
    for name in paths:
        path = pathlib.Path(name)
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.is_file())
            yield from (str(x) for x in inside if x.name[0] != '.')
        else:
            yield name


def _rules(path: str) -> dict[str, Any]:
    """:raises _Invalid: the file cannot be used"""
    try:
        data = yaml_files.data_of(yaml_files.text_of(path, MAX_BYTES))
    except yaml_files.Unreadable as error:
        # The rest of the text may repeat what stands there.
        line = re.search(r'\bline \d+', str(error))
        reason = f'not valid YAML ({line[0]})' if line else str(error)
        raise _Invalid(f'{path}: {reason}') from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        kind = yaml_files.kind(data)
        raise _Invalid(f'{path}: {kind} instead of a mapping of rules')
    return data
