# SPDX-License-Identifier: Apache-2.0
"""From a policies file to policies, or to one message with all its faults."""

from collections.abc import Iterable, Sequence
from typing import Any

import pydantic
import yaml

from kronos.common import yaml_files
from kronos.common.exceptions import PolicyFileError
from kronos.policies import models
from kronos.policies.models import Mode, Policy, PolicyFile

_AGGREGATES = (
    'choose the aggregates in the audit or with [kronos] aggregates; the '
    'policies apply to each of them'
)
_COOLDOWN = (
    'a scope has one cooldown for all its policies: [kronos] cooldown, in '
    'seconds'
)
MOST_POLICIES = 1000
MOST_FIELDS = 100
"""Of a policy, before it is said what is wrong with each."""
ELSEWHERE = {
    'aggregate': _AGGREGATES,
    'aggregates': _AGGREGATES,
    'cooldown': _COOLDOWN,
    'cooldown_seconds': _COOLDOWN,
}
"""Fields that kronos-openstack had, or that one may look for here."""
NEEDED = {
    'vm_profile_query': (
        ' (kronos-openstack assumed the usage of servers, Kronos measures it)'
    )
}
"""Why a field must be there that kronos-openstack could do without."""


def load(path: str) -> PolicyFile:
    """Read and validate a policies file.

    :param path: of a YAML file with the key ``policies``
    :raises PolicyFileError: when it cannot be read, is not YAML or breaks
        a rule; the message names every policy, field and rule at fault
    """
    return parse(read(path), path)


def parse(text: str, path: str) -> PolicyFile:
    """The same for the text of a file.

    :param path: where it comes from, for the message
    """
    return validated(_data(text, path), path)


def validated(data: Any, path: str) -> PolicyFile:
    """The same for what YAML says."""
    if data is None:
        raise PolicyFileError(path=path, reason='it is empty')
    if not isinstance(data, dict):
        raise PolicyFileError(
            path=path,
            reason='it must be a mapping with the key policies, not '
            f'{yaml_files.kind(data)}',
        )
    if fault := _too_many(data):
        raise PolicyFileError(path=path, reason=fault)
    try:
        return PolicyFile.model_validate(data)
    except pydantic.ValidationError as error:
        faults = _faults(error, data)
        raise PolicyFileError(path=path, reason='; '.join(faults)) from None


def dump(policies: Sequence[Policy]) -> str:
    """Policies as the text of a file."""
    rows = [
        policy.model_dump(mode='json', exclude_none=True)
        for policy in policies
    ]
    return yaml.safe_dump({'policies': rows}, sort_keys=False)


def scalar(text: str) -> Any:
    """What a value on a line of a policies file stands for.

    :returns: the text itself, if YAML takes it for something else
    """
    try:
        value = yaml_files.data_of(text)
    except yaml_files.Unreadable:
        return text
    return value if isinstance(value, bool | int | float) else text


def require_mode(policies: PolicyFile, mode: Mode, path: str) -> None:
    """Refuse a file that was written for another strategy.

    :param mode: the one that the calling strategy plans
    :param path: of the file, for the message
    :raises PolicyFileError: if the policies are of another mode
    """
    if policies.mode is not mode:
        raise PolicyFileError(
            path=path,
            reason=f'mode: the policies have mode {policies.mode}, but the '
            f'strategy kronos_{mode} needs mode {mode}',
        )


def read(path: str) -> str:
    """The text of a policies file.

    :raises PolicyFileError: it cannot be read, is too large or no text
    """
    try:
        return yaml_files.text_of(path)
    except yaml_files.Unreadable as error:
        raise PolicyFileError(path=path, reason=str(error)) from None


def _data(text: str, path: str) -> Any:
    try:
        return yaml_files.data_of(text)
    except yaml_files.Unreadable as error:
        raise PolicyFileError(path=path, reason=str(error)) from None


def _too_many(data: dict[Any, Any]) -> str:
    """Why the faults are not looked for; '' if they are.

    Aliases of YAML repeat a policy, with all of its faults.
    """
    rows = data.get('policies')
    rows = rows if isinstance(rows, list) else []
    if len(rows) > MOST_POLICIES:
        return (
            f'policies: there are {len(rows)}, more than the limit of '
            f'{MOST_POLICIES}; remove some'
        )
    for row, place in zip([data, *rows], ['', *_places(rows)], strict=True):
        if isinstance(row, dict) and len(row) > MOST_FIELDS:
            where = f'{place}: ' if place else ''
            return (
                f'{where}it has {len(row)} fields, most of them unknown; '
                f'known: {", ".join(_fields(row is data))}'
            )
    return ''


def _fields(of_file: bool) -> Iterable[str]:
    return PolicyFile.model_fields if of_file else Policy.model_fields


def _faults(
    error: pydantic.ValidationError, data: dict[Any, Any]
) -> list[str]:
    rows = data.get('policies')
    rows = rows if isinstance(rows, list) else []
    faults = yaml_files.faults(
        error, PolicyFile, _places(rows), _instead, _more
    )
    return faults + models.conflicts(
        [row if isinstance(row, dict) else {} for row in rows]
    )


def _places(rows: list[Any]) -> list[str]:
    return yaml_files.places(rows, 'policy')


def _instead(name: str, kind: str, value: Any) -> str:
    if kind == 'value_error':  # the one rule that hangs on another field
        return ELSEWHERE.get(name, 'is required in mode pack')
    return ELSEWHERE.get(name, '')


def _more(name: str, kind: str, value: Any) -> str:
    return NEEDED.get(name, '') if kind == 'missing' else ''
