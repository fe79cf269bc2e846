# SPDX-License-Identifier: Apache-2.0
"""The names in a recording, and what stands for each of them."""

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kronos.engine.scoring import labels
from kronos.engine.types import UNASSIGNED
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import (
    ANY,
    SAME,
    CellDrain,
    ForeignMove,
    UnfinishedMove,
)
from kronos.policies import models
from kronos.policies.models import LabelType, Policy
from kronos.recordings.anonymize import pseudonyms, vocabulary
from kronos.recordings.recording import ANY_LABEL, Recording
from kronos.snapshots.cell_hosts import CellScope
from kronos.snapshots.scopes import ALL, AggregateRef

_CUSTOM = 'CUSTOM_NAME'
"""How the traits and resource classes are called that a cloud made up."""


class Names:
    """New names for all that a recording names."""

    def __init__(self, recording: Recording) -> None:
        found = recording.gathered
        cloud, request = found.cloud, recording.request
        every = [*cloud.hosts.values(), *cloud.other_hosts.values()]
        services = (found.services or {}).values()
        found_labels = _labels(recording)
        self.host = pseudonyms.Hosts(
            {host.name for host in every},
            itertools.chain(
                (host.node for host in every),
                (one.host for one in services),
                found.services or (),
                # Of a compute service that was deleted there is no host.
                (one.host for one in found.instances),
                *((one.misallocated_on or ()) for one in found.instances),
                (name for one in cloud.aggregates for name in one.hosts),
                *((one.source, one.destination) for one in found.events),
                *((one.source, one.destination) for one in _moves(recording)),
                (one.host for one in found.cell_needs.unfinished),
                request.excluded_hosts,
                *(one.hosts or () for one in _drains(recording)),
                *((one.drain_hosts or ()) for one in _settings(recording)),
                found_labels[None],
                _hosts_of_series(recording),
            ),
        )
        self.uuid = pseudonyms.uuids(
            itertools.chain(
                (one.uuid for one in found.instances),
                (one.uuid for one in found.cell_needs.offloaded),
                (one.instance for one in _moves(recording)),
                *((o.action, o.plan) for o in found.cell_needs.unfinished),
                (one.uuid for one in found.groups),
                (name for one in found.groups for name in one.members),
                (one.uuid for one in cloud.aggregates),
                *((one.instance, one.plan) for one in found.events),
                request.excluded_instances,
                recording.seeds.instance_cooldowns,
                recording.seeds.instance_quarantines,
                found_labels[LabelType.NOVA_INSTANCE_UUID],
            )
        )
        number = pseudonyms.Numbered
        self.display = number(
            itertools.chain(
                (one.name for one in found.instances),
                (one.name for one in found.cell_needs.offloaded),
                (one.instance_name for one in _moves(recording)),
                found_labels[LabelType.NOVA_DISPLAY_NAME],
            ),
            'server-{}',
        )
        self.internal = number(
            itertools.chain(
                (one.internal_name for one in found.instances),
                found_labels[LabelType.NOVA_INTERNAL_NAME],
            ),
            'instance-{}',
        )
        self.group = number((one.name for one in found.groups), 'group-{}')
        self._scopes = number(
            itertools.chain(
                (one.name for one in cloud.aggregates),
                (one.scope for one in found.events),
                (one for one in _refs(recording) if isinstance(one, str)),
                (one.name for one in _refs(recording) if _is_exactly(one)),
                recording.seeds.aggregate_cooldowns,
            ),
            'aggregate-{}',
        )
        self.zone = number(
            itertools.chain(
                (host.availability_zone for host in every),
                (one.zone for one in services),
                (one.availability_zone for one in cloud.aggregates),
                (
                    one.metadata.get('availability_zone', '')
                    for one in cloud.aggregates
                ),
                (o.pinned_availability_zone or '' for o in found.instances),
                *(
                    (one.how.source_zone, one.how.destination_zone)
                    for one in found.cell_needs.unfinished
                ),
                (one for one in request.availability_zones if one != ALL),
            ),
            'zone-{}',
        )
        self.cell = number(
            itertools.chain((host.cell for host in every), _cells(recording)),
            'cell-{}',
        )
        self.flavor = number(_flavors(recording), 'flavor-{}')
        self.project = number(
            itertools.chain(
                (one.project_id for one in found.instances),
                found.cell_needs.quota_left,
                request.excluded_projects,
            ),
            'project-{}',
        )
        # Others are added as they are met: their order is no matter.
        self.key = functools.cache(_Counter('key'))
        self.value = functools.cache(_Counter('value'))
        self._custom = functools.cache(_Counter(_CUSTOM, '_'))
        self._policy = functools.cache(_Counter('policy'))
        self._ids = {str(one.id) for one in cloud.aggregates}
        self._uuids = {one.uuid for one in cloud.aggregates}
        self._named = {one.name for one in cloud.aggregates}

    def aggregate(self, name: str) -> str:
        """The new name of an aggregate, or of a scope."""
        return name if name in (UNASSIGNED, ALL) else self._scopes(name)

    def ref(self, ref: str | AggregateRef) -> str | AggregateRef:
        """What a request calls an aggregate: a name, else a uuid or id."""
        if isinstance(ref, AggregateRef):
            return AggregateRef(ref.id, self.aggregate(ref.name))
        if ref not in self._named and ref in self._uuids:
            return self.uuid(ref)
        if ref not in self._named and ref in self._ids:
            return ref
        return self.aggregate(ref)

    def label(self, kind: LabelType | None, value: str) -> str:
        """The new value of a label.

        :param kind: of an instance's label; None: it may mean a host
        """
        if kind is None:
            return self.host(value)
        return {
            LabelType.NOVA_INSTANCE_UUID: self.uuid,
            LabelType.NOVA_DISPLAY_NAME: self.display,
            LabelType.NOVA_INTERNAL_NAME: self.internal,
        }[kind](value)

    def policy(self, name: str) -> str:
        """The new name of a policy, unless its words say nothing."""
        words = name.replace('-', '_').split('_')
        if all(one in vocabulary.POLICY_WORDS for one in words):
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
        found: dict[str, str] = {}
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
                    found.setdefault(name, new)
        return found


class _Counter:
    """Numbers names as they come."""

    def __init__(self, word: str, mark: str = '-') -> None:
        self._word = f'{word}{mark}'
        self._next = itertools.count(1)

    def __call__(self, name: str) -> str:
        return f'{self._word}{next(self._next):03}' if name else ''


def _is_exactly(ref: Any) -> bool:
    return isinstance(ref, AggregateRef)


def _refs(recording: Recording) -> Iterator[Any]:
    yield from recording.request.aggregates
    yield from recording.request.excluded_aggregates


def _settings(recording: Recording) -> Iterator[Any]:
    yield recording.settings
    if recording.configured:
        yield recording.configured


def _moves(recording: Recording) -> Iterator[UnfinishedMove | ForeignMove]:
    """The moves to other cells that are not over."""
    yield from recording.gathered.cell_needs.unfinished
    yield from recording.gathered.cell_needs.of_others


def _drains(recording: Recording) -> Iterator[CellScope | CellDrain]:
    """What audits that empty a cell asked for."""
    if recording.request.cells:
        yield recording.request.cells
    for one in _settings(recording):
        if drain := cell_drain.of(one):
            yield drain


def _cells(recording: Recording) -> Iterator[str]:
    """Those of such moves, and of requests; no host may be in them."""
    needs = recording.gathered.cell_needs
    for one in _drains(recording):
        yield from (one.source, *one.targets)
    yield from (foreign.source_cell for foreign in needs.of_others)
    for move in needs.unfinished:
        yield from (move.how.source_cell, move.how.destination_cell)
        yield from move.target_cells


def _flavors(recording: Recording) -> Iterator[str]:
    """Their names; ids are given the new names, too."""
    yield from (one.flavor for one in recording.gathered.instances)
    yield from recording.gathered.cell_needs.flavors
    for move in recording.gathered.cell_needs.unfinished:
        yield from (move.how.source_flavor, move.how.destination_flavor)
    for one in _settings(recording):
        drain = cell_drain.of(one)
        pairs = (drain and drain.flavor_map) or {}
        for pair in pairs.items():
            yield from (name for name in pair if name not in (ANY, SAME))


def kinds(
    policies: Iterable[Policy],
) -> dict[tuple[str, str], LabelType | None]:
    """What the label of each answer means, by query and label.

    None: a host.
    """
    found: dict[tuple[str, str], LabelType | None] = {}
    for policy in policies:
        for row in models.QUERIES:
            query, label = (
                getattr(policy, row.field),
                getattr(policy, row.label),
            )
            sense = getattr(policy, row.label_type) if row.label_type else None
            for one in (label, ANY_LABEL):
                if query is not None:
                    found.setdefault((query, one), sense)
    return found


def _hosts_of_series(recording: Recording) -> Iterator[str]:
    """Where the series are that planning tells apart by it."""
    names = {policy.host_label for policy in recording.policies}
    for reading in recording.answers.values():
        for sample in reading.samples:
            if sample.series:
                told = labels.of_series(sample.series)
                yield from (told[name] for name in names if name in told)


def _labels(recording: Recording) -> dict[LabelType | None, set[str]]:
    """The values of labels, by what they mean."""
    found: dict[LabelType | None, set[str]] = {None: set()}
    found |= {kind: set() for kind in LabelType}
    senses = kinds(recording.policies)
    for key, reading in recording.answers.items():
        if key in senses:
            found[senses[key]] |= {one.label for one in reading.samples}
    return found
