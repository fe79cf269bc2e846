# SPDX-License-Identifier: Apache-2.0
"""The overrides NAME=VALUE of policies and settings."""

import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kronos.common.exceptions import ConfigurationError
from kronos.common.names import near_names
from kronos.engine.settings import Settings
from kronos.policies import loader
from kronos.policies.models import Mode, Policy
from kronos.snapshots import settings_from_conf

EXAMPLES = 5
"""Policies that a hint names."""


def require_sense(
    before: Sequence[Policy], overrides: Mapping[str, str]
) -> None:
    """Look at the names, and at the values of options, before any counts.

    :param overrides: values as text by ``FIELD.POLICY`` or by option of
        ``[kronos]``
    :raises ConfigurationError: names all overrides at fault
    """
    names = {policy.name: policy for policy in before}
    faults = [
        fault
        for name, text in overrides.items()
        if (fault := _fault(name, text, names))
    ]
    if faults:
        raise ConfigurationError(reason='; '.join(faults))


def policies(
    before: Sequence[Policy], overrides: Mapping[str, str]
) -> list[Policy]:
    """The policies with their overrides, validated as a whole file is.

    :param overrides: of which :func:`require_sense` has nothing to say;
        names without a dot are no matter here
    :raises ConfigurationError: names the fields at fault
    """
    rows = {policy.name: policy.model_dump(mode='json') for policy in before}
    changed = [name for name in overrides if '.' in name]
    if not changed:
        return list(before)
    for name in changed:
        field, _, policy = name.partition('.')
        rows[policy][field] = _value(field, overrides[name])
    return loader.validated(
        {'policies': list(rows.values())},
        f'with {", ".join(f"{name}={overrides[name]}" for name in changed)}',
    ).policies


def of_mode(
    before: Sequence[Policy], mode: Mode, recorded: Collection[tuple[str, str]]
) -> list[Policy]:
    """The policies as if they were written for another mode.

    Packing asks how full a host is: by ``capacity_query`` if that was
    recorded, else by what ``imbalance_query`` says.

    :param recorded: query and label of each answer
    """
    rows = [policy.model_dump(mode='json') for policy in before]
    for row in rows:
        row['mode'] = mode.value
        answer = (row['capacity_query'], row['host_label'])
        if mode is Mode.PACK and answer not in recorded:
            row['capacity_query'] = row['imbalance_query']
    where = 'with --convert-policies'
    return loader.validated({'policies': rows}, where).policies


def apply(settings: Settings, overrides: Mapping[str, str]) -> None:
    """Set what has the name of an option of ``[kronos]``.

    :param overrides: of which :func:`require_sense` has nothing to say
    """
    for name, text in overrides.items():
        if '.' not in name:
            settings_from_conf.override(settings, name, text)


def _fault(name: str, text: str, by_name: Mapping[str, Policy]) -> str:
    """What is wrong with an override; '' if nothing, as far as it shows."""
    field, dot, policy = name.partition('.')
    if dot:
        if policy not in by_name:
            return _bad(
                name, f'there is no policy "{policy}"', policy, by_name
            )
        if field not in Policy.model_fields:
            what = f'a policy has no field "{field}"'
            return _bad(name, what, field, Policy.model_fields)
        return ''
    try:
        settings_from_conf.understood(name, text)
    except KeyError:
        what = (
            'neither an option of [kronos] that planning uses, nor a field '
            'of a policy, written as FIELD.POLICY'
        )
        if name == 'mode':
            return (
                'mode: all policies must have the same mode; use --mode with '
                '--convert-policies'
            )
        if fields := _fields_of(name, by_name):
            return f'{name}: {what}; did you mean {fields}?'
        return _bad(name, what, name, settings_from_conf.by_name())
    except ValueError as error:
        return f'{name}={text}: {error}'
    return ''


def _fields_of(name: str, names_of_policies: Collection[str]) -> str:
    """The field of each policy that a name without a policy may mean."""
    field = name
    if name not in Policy.model_fields:
        if near_names.near(name, settings_from_conf.by_name()):
            return ''
        field = next(iter(near_names.near(name, Policy.model_fields)), '')
    names = [f'{field}.{policy}' for policy in names_of_policies][:EXAMPLES]
    if not field or len(names) < 2:
        return ''.join(names) if field else ''
    return f'{", ".join(names[:-1])} or {names[-1]}'


def _value(field: str, text: str) -> Any:
    """Numbers and flags are what YAML takes them for; the rest is text."""
    kind = typing.get_type_hints(Policy)[field]
    kinds = {kind, *typing.get_args(kind)}
    return loader.scalar(text) if kinds & {float, int, bool} else text


def _bad(name: str, what: str, wrong: str, choices: Mapping[str, Any]) -> str:
    return f'{name}: {what}; {near_names.of_fields(wrong, sorted(choices))}'
