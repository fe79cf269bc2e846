# SPDX-License-Identifier: Apache-2.0
"""What does ``--set NAME=VALUE`` change in policies and settings?"""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from kronos.common.exceptions import ConfigurationError
from kronos.engine.settings import Settings
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.snapshots import configured


def policies(
    known: Sequence[Policy], overrides: Mapping[str, str]
) -> list[Policy]:
    """The policies with their overrides, validated as a whole file is.

    :param overrides: ``FIELD.POLICY`` to a value as YAML writes it; names
        without a dot are no matter here
    :raises ConfigurationError: names the override at fault
    """
    rows = {one.name: one.model_dump(mode='json') for one in known}
    changed = [name for name in overrides if '.' in name]
    if not changed:
        return list(known)
    for name in changed:
        field, _, policy = name.partition('.')
        if policy not in rows:
            raise _bad(name, f'there is no policy "{policy}"', policy, rows)
        if field not in Policy.model_fields:
            raise _bad(
                name,
                f'a policy has no field "{field}"',
                field,
                Policy.model_fields,
            )
        rows[policy][field] = _value(field, overrides[name])
    return loader.validated(
        {'policies': list(rows.values())},
        f'with {", ".join(f"{one}={overrides[one]}" for one in changed)}',
    ).policies


def apply(settings: Settings, overrides: Mapping[str, str]) -> None:
    """Set what has the name of an option of ``[kronos]``.

    :raises ConfigurationError: names the override at fault
    """
    for name, text in overrides.items():
        if '.' in name:
            continue
        try:
            value = configured.understood(name, text)
        except KeyError:
            raise _bad(
                name,
                'is no option of [kronos] that planning looks at, nor '
                'FIELD.POLICY',
                name,
                configured.FIELDS,
            ) from None
        except ValueError as error:
            raise ConfigurationError(
                reason=f'{name}={text}: {error}'
            ) from None
        setattr(settings, configured.FIELDS[name], value)


def _value(field: str, text: str) -> Any:
    """Numbers and flags are what YAML takes them for; the rest is text."""
    kinds = Policy.model_fields[field].annotation
    return loader.scalar(text) if kinds in (float, int, bool) else text


def _bad(
    name: str, what: str, wrong: str, known: Mapping[str, Any]
) -> ConfigurationError:
    alike = difflib.get_close_matches(wrong, known, 1)
    hint = f'known: {", ".join(sorted(known))}'
    if alike:
        hint = f'did you mean {alike[0]}?'
    return ConfigurationError(reason=f'{name}: {what}; {hint}')
