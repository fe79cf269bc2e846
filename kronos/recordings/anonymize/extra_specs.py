# SPDX-License-Identifier: Apache-2.0
"""The extra specs of flavors in a recording that names nobody.

Keys and values that Nova or Placement defines stay as they are. The others
keep what planning asks of them: which rules of ``allowed_extra_specs`` cover
them.
"""

from collections.abc import Iterable, Mapping

from kronos.recordings.anonymize import vocabulary
from kronos.recordings.anonymize.names import Names

_OF_AGGREGATES = 'aggregate_instance_extra_specs:'
"""What follows is a key of the metadata of aggregates."""


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
            self._key(key): self._value(key, value)
            for key, value in specs.items()
        }

    def rules(self, rules: Iterable[str]) -> list[str]:
        """Rules that cover the same extra specs, as far as there are any."""
        new_rules: dict[str, None] = {}
        for rule in rules:
            if rule.endswith('*'):
                new_rules |= dict.fromkeys(self._prefix(rule[:-1]))
            else:
                key, equals, value = rule.partition('=')
                new = self._key(key)
                new += f'={self._value(key, value)}' if equals else ''
                new_rules[new] = None
        return list(new_rules)

    def _prefix(self, prefix: str) -> list[str]:
        """The prefix if it is Nova's, and what it covered and no more does."""
        covered = [
            self._key(key)
            for key in sorted(self._keys)
            if key.startswith(prefix)
        ]
        if prefix not in vocabulary.EXTRA_SPEC_PREFIXES:
            return covered
        return [
            f'{prefix}*',
            *(key for key in covered if not key.startswith(prefix)),
        ]

    def _key(self, key: str) -> str:
        if _is_known(key):
            return key
        if key.startswith(_OF_AGGREGATES):
            return _OF_AGGREGATES + self._names.key(
                key.removeprefix(_OF_AGGREGATES)
            )
        of_placement = vocabulary.EXTRA_SPEC_OF_PLACEMENT.fullmatch(key)
        if of_placement:
            kind, group, name = of_placement.groups()
            rename = self._names.trait
            if kind == 'resources':
                rename = self._names.resource_class
            return f'{kind}{group}:{rename(name)}'
        return self._names.key(key)

    def _value(self, key: str, value: str) -> str:
        """A number or a word of Nova, where the key is Nova's, too."""
        if _is_known(key) or vocabulary.EXTRA_SPEC_OF_PLACEMENT.match(key):
            if vocabulary.NUMBER.fullmatch(value):
                return value
            if value.lower() in vocabulary.EXTRA_SPEC_VALUES:
                return value
        return self._names.value(value)


def _is_known(key: str) -> bool:
    return key in vocabulary.EXTRA_SPECS or bool(
        vocabulary.EXTRA_SPEC_OF_NODE.fullmatch(key)
    )
