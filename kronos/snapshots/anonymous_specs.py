# SPDX-License-Identifier: Apache-2.0
"""What are flavors' extra specs called in a recording that names nobody?

Those of Nova stay as they are. The others keep what planning asks of them:
which rules of ``allowed_extra_specs`` cover them.
"""

import re
from collections.abc import Iterable, Mapping

from kronos.snapshots.anonymous_names import CUSTOM, Names

_NOVA = re.compile(
    r'(hw|hw_rng|hw_video|quota|os|trait|resources)\d*:|group_policy$'
)
"""Keys whose names Nova, or Placement, defines."""
_PLAIN = re.compile(
    r'[-+\d.]*|true|false|yes|no|required|forbidden|'
    r'(?i:dedicated|shared|mixed|isolate|prefer|require|share|any|large|'
    r'small|auto|isolated|none|preferred|legacy|poweroff|reset|pause|'
    r'disabled|socket|uefi|bios)'
)
"""Values that say nothing of a cloud."""
_CUSTOM = re.compile(rf'{CUSTOM}\w+')


class Specs:
    """New keys and values of extra specs, and of the rules for them.

    :param flavors: the extra specs of all instances
    """

    def __init__(
        self, names: Names, flavors: Iterable[Mapping[str, str]]
    ) -> None:
        self._names = names
        self._keys = {key for specs in flavors for key in specs}

    def extra_specs(self, specs: Mapping[str, str]) -> dict[str, str]:
        return {
            self._key(key): self._value(value) for key, value in specs.items()
        }

    def rules(self, rules: Iterable[str]) -> list[str]:
        """Rules that cover the same extra specs, as far as there are any."""
        found: dict[str, None] = {}
        for rule in rules:
            if rule.endswith('*'):
                found |= dict.fromkeys(self._prefix(rule))
            else:
                key, equals, value = rule.partition('=')
                new = self._key(key)
                new += f'={self._value(value)}' if equals else ''
                found[new] = None
        return list(found)

    def _prefix(self, rule: str) -> list[str]:
        """A prefix that is Nova's, or else all keys that it covers."""
        prefix = rule[:-1]
        covered = sorted(key for key in self._keys if key.startswith(prefix))
        if not prefix or _NOVA.match(prefix) or prefix == _OF_AGGREGATES:
            return [rule] if CUSTOM not in prefix else self._all(covered)
        return self._all(covered)

    def _all(self, keys: Iterable[str]) -> list[str]:
        return [self._key(key) for key in keys]

    def _key(self, key: str) -> str:
        if _NOVA.match(key):
            return _CUSTOM.sub(lambda one: self._names.custom(one[0]), key)
        if key.startswith(_OF_AGGREGATES):
            return _OF_AGGREGATES + self._names.key(
                key.removeprefix(_OF_AGGREGATES)
            )
        return self._names.key(key)

    def _value(self, value: str) -> str:
        return value if _PLAIN.fullmatch(value) else self._names.value(value)


_OF_AGGREGATES = 'aggregate_instance_extra_specs:'
"""What follows is a key of the metadata of aggregates."""
