# SPDX-License-Identifier: Apache-2.0
"""The names in a recording, and what stands for each of them."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar, assert_never

from kronos.clients.nova.rows import HostAggregate
from kronos.common.names.name_marks import Name
from kronos.engine.scoring import labels
from kronos.engine.types import UNASSIGNED
from kronos.policies import models
from kronos.policies.models import LabelType, Policy
from kronos.recordings import parts
from kronos.recordings.anonymize import marked, pseudonyms, vocabulary
from kronos.recordings.recording import ANY_LABEL, Recording
from kronos.snapshots.scopes import ALL

T = TypeVar('T')
_CUSTOM = 'CUSTOM_NAME_'
"""How the traits and resource classes are called that a cloud made up."""


class Names:
    """New names for all that a recording names."""

    def __init__(self, recording: Recording) -> None:
        by_kind = marked.collected(recording)
        of_labels = _labels(recording)
        cloud = recording.gathered.cloud
        aggregates = cloud.aggregates
        every = [*cloud.hosts.values(), *cloud.other_hosts.values()]
        self.host = pseudonyms.Hosts(
            {host.name for host in every},
            [
                *by_kind[Name.HOST],
                *of_labels[None],
                *_hosts_of_series(recording),
            ],
        )
        self.uuid = pseudonyms.uuids(
            by_kind[Name.UUID] | of_labels[LabelType.NOVA_INSTANCE_UUID]
        )
        number = pseudonyms.Numbered
        names = by_kind[Name.SERVER] | of_labels[LabelType.NOVA_DISPLAY_NAME]
        self.display = number(names, 'server-{}')
        names = by_kind[Name.DOMAIN] | of_labels[LabelType.NOVA_INTERNAL_NAME]
        self.internal = number(names, 'instance-{}')
        self.group = number(by_kind[Name.GROUP], 'group-{}')
        self._scopes = number(
            by_kind[Name.SCOPE] | by_kind[Name.REFERENCE], 'aggregate-{}'
        )
        of_metadata = {
            aggregate.metadata.get('availability_zone', '')
            for aggregate in aggregates
        }
        self.zone = number(
            (by_kind[Name.ZONE] | of_metadata) - {ALL}, 'zone-{}'
        )
        self.cell = number(by_kind[Name.CELL], 'cell-{}')
        self._special = _special()
        flavors = by_kind[Name.FLAVOR] - self._special[Name.FLAVOR]
        self.flavor = number(flavors, 'flavor-{}')
        self.project = number(by_kind[Name.PROJECT], 'project-{}')
        self._prepare(aggregates)

    def _prepare(self, aggregates: Iterable[HostAggregate]) -> None:
        """By what a request may mean an aggregate; and what is numbered."""
        # Of these the order is no matter.
        self.key, self.value = _as_met('key-'), _as_met('value-')
        self._custom, self._policy = _as_met(_CUSTOM), _as_met('policy-')
        every = list(aggregates)
        self._ids = {str(aggregate.id) for aggregate in every}
        self._uuids = {aggregate.uuid for aggregate in every}
        self._named = {aggregate.name for aggregate in every}

    def aggregate(self, name: str) -> str:
        """The new name of an aggregate, or of a scope."""
        return name if name in (UNASSIGNED, ALL) else self._scopes(name)

    def renamed(self, value: T) -> T:
        """A copy of an object, with the new names."""
        return marked.renamed(value, self._new)

    def _new(self, kind: Name, name: str) -> str:
        if name in self._special[kind]:
            return name
        return self._by_kind[kind](name)

    @functools.cached_property
    def _by_kind(self) -> Mapping[Name, Callable[[str], str]]:
        return {
            Name.HOST: self.host,
            Name.UUID: self.uuid,
            Name.SERVER: self.display,
            Name.DOMAIN: self.internal,
            Name.GROUP: self.group,
            Name.SCOPE: self.aggregate,
            Name.REFERENCE: self._reference,
            Name.ZONE: self.zone,
            Name.CELL: self.cell,
            Name.FLAVOR: self.flavor,
            Name.PROJECT: self.project,
        }

    def _reference(self, ref: str) -> str:
        """What a request calls an aggregate: a name, else a uuid or id."""
        if ref not in self._named and ref in self._uuids:
            return self.uuid(ref)
        if ref not in self._named and ref in self._ids:
            return ref
        return self.aggregate(ref)

    def label(self, kind: LabelType | None, value: str) -> str:
        """The new value of a label.

        :param kind: of an instance's label; None: it may mean a host
        """
        match kind:
            case None:
                return self.host(value)
            case LabelType.NOVA_INSTANCE_UUID:
                return self.uuid(value)
            case LabelType.NOVA_DISPLAY_NAME:
                return self.display(value)
            case LabelType.NOVA_INTERNAL_NAME:
                return self.internal(value)
            case _:
                assert_never(kind)

    def policy(self, name: str) -> str:
        """The new name of a policy, unless its words say nothing."""
        words = name.replace('-', '_').split('_')
        if all(word in vocabulary.POLICY_WORDS for word in words):
            return name
        return self._policy(name)

    def trait(self, name: str) -> str:
        return name if name in vocabulary.TRAITS else self._custom(name)

    def resource_class(self, name: str) -> str:
        if name in vocabulary.RESOURCE_CLASSES:
            return name
        return self._custom(name)

    def known(self, text: str) -> str:
        """The new name of a text that is a name; '' if it is none."""
        return self._table.get(text, '')

    @functools.cached_property
    def _table(self) -> Mapping[str, str]:
        """All names, in whatever sense; the first sense of each counts."""
        new_names: dict[str, str] = {}
        for table in (
            self.uuid.table,
            self.host.shorts,
            self.host.addresses,
            self.host.domains,
            self._scopes.table,
            self.zone.table,
            self.cell.table,
            self.flavor.table,
            self.group.table,
            self.display.table,
            self.internal.table,
            self.project.table,
        ):
            for name, new in table.items():
                if name not in (UNASSIGNED, ALL):
                    new_names.setdefault(name, new)
        return new_names


def _special() -> dict[Name, set[str]]:
    """What is no name, though it stands where one may be."""
    special: dict[Name, set[str]] = {kind: set() for kind in Name}
    special[Name.ZONE].add(ALL)
    for part in parts.every():
        for kind, words in part.special.items():
            special[kind].update(words)
    return special


def _as_met(word: str) -> Callable[[str], str]:
    """New names that are a word and a number, as the old ones are met."""
    numbers = itertools.count(1)
    return functools.cache(lambda name: name and f'{word}{next(numbers):03}')


def kinds(
    policies: Iterable[Policy],
) -> dict[tuple[str, str], LabelType | None]:
    """What the label of each answer means, by query and label.

    None: a host.
    """
    senses: dict[tuple[str, str], LabelType | None] = {}
    for policy in policies:
        for row in models.QUERIES:
            query, label = (
                getattr(policy, row.field),
                getattr(policy, row.label),
            )
            sense = getattr(policy, row.label_type) if row.label_type else None
            for key in (label, ANY_LABEL):
                if query is not None:
                    senses.setdefault((query, key), sense)
    return senses


def _hosts_of_series(recording: Recording) -> Iterator[str]:
    """Where the series are that planning tells apart by it."""
    names = {policy.host_label for policy in recording.policies}
    for reading in recording.answers.values():
        for sample in reading.samples:
            if sample.series:
                of_series = labels.of_series(sample.series)
                yield from (
                    of_series[name] for name in names if name in of_series
                )


def _labels(recording: Recording) -> dict[LabelType | None, set[str]]:
    """The values of labels, by what they mean."""
    values: dict[LabelType | None, set[str]] = {None: set()}
    values |= {kind: set() for kind in LabelType}
    senses = kinds(recording.policies)
    for key, reading in recording.answers.items():
        if key in senses:
            values[senses[key]] |= {sample.label for sample in reading.samples}
    return values
