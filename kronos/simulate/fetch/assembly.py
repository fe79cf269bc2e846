# SPDX-License-Identifier: Apache-2.0
"""The assembly of a load: the arrays of what was fetched.

They are written piece by piece, so that none is in memory as a whole.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kronos.common.exceptions import ArchiveError
from kronos.engine import instance_keys
from kronos.engine.scoring import labels
from kronos.engine.settings import HostMatch
from kronos.policies.models import QUERIES, Policy
from kronos.recordings.recording import Recording
from kronos.simulate import load_schema
from kronos.simulate.fetch import limits
from kronos.simulate.fetch.lives import Life, Places, Whereabouts, columns_of
from kronos.simulate.fetch.ranges import Block, Floats
from kronos.simulate.fetch.workplace import (
    Piece,
    Plan,
    PolicyPlan,
    Workplace,
    host_piece,
    usage_piece,
)

_READING = QUERIES[0]
"""Of the hosts: ``imbalance_query``."""
_KINDS = {np.int32: '<i4', np.float32: '<f4'}


@dataclass
class Columns:
    """The servers and hosts of a load, in the order of its arrays."""

    lives: list[Life]
    hosts: list[str]
    places: Whereabouts


def columns(plan: Plan, recording: Recording, lives: list[Life]) -> Columns:
    """The servers that are on one of the hosts at any tick."""
    hosts = sorted(recording.gathered.cloud.hosts)
    every = Whereabouts(lives, hosts, plan.start, plan.step)
    is_placed = np.zeros(len(lives), np.bool_)
    for piece in plan.pieces():
        block = every.block(piece.first, piece.ticks)
        is_placed |= (block >= 0).any(axis=0)
    own = [life for life, is_it in zip(lives, is_placed, strict=True) if is_it]
    places = Whereabouts(own, hosts, plan.start, plan.step)
    return Columns(own, hosts, places)


def write_placement(place: Workplace, plan: Plan, own: Columns) -> None:
    """:raises ArchiveError: it cannot be written"""
    shape = (plan.ticks, len(own.lives))
    with array_file(place, load_schema.PLACEMENT, np.int32, shape) as rows:
        for piece in plan.pieces():
            rows.add(own.places.block(piece.first, piece.ticks))


class PolicyAssembly:
    """The arrays of one policy.

    One class, since what is of no server is known by all the others.

    :param workplace: has all pieces
    :param policy_plan: what is read for the policy
    """

    def __init__(
        self,
        workplace: Workplace,
        plan: Plan,
        policy_plan: PolicyPlan,
        recording: Recording,
        own: Columns,
    ) -> None:
        self._workplace, self._plan, self._own = workplace, plan, own
        self._name = policy_plan.name
        [policy] = [
            each
            for each in recording.policies
            if each.name == policy_plan.name
        ]
        key = instance_keys.key_of(policy.vm_profile_label_type)
        self._servers, repeated = columns_of(
            [getattr(life.server, key) for life in own.lives]
        )
        self._match = recording.settings.host_match
        self._hosts = {name: place for place, name in enumerate(own.hosts)}
        self._capacity = self._read_capacity(policy, recording)
        self._seen = limits.Seen(
            policy_plan, plan, len(own.lives), len(own.hosts)
        )
        self._seen.repeated = repeated

    def write(self, name: str) -> list[str]:
        """Write the arrays.

        :param name: that the policy has in the load
        :returns: what they cannot tell, as sentences
        :raises ArchiveError: one cannot be written, or a piece is missing
        """
        plan, own, place = self._plan, self._own, self._workplace
        of_servers = (plan.ticks, len(own.lives))
        of_hosts = (plan.ticks, len(own.hosts))
        usage = load_schema.usage_file(name)
        remainder = load_schema.remainder_file(name)
        with (
            array_file(place, usage, np.float32, of_servers) as usages,
            array_file(place, remainder, np.float32, of_hosts) as remainders,
        ):
            for piece in plan.pieces():
                places = own.places.block(piece.first, piece.ticks)
                used = self._usage(piece, places)
                usages.add(used)
                remainders.add(self._remainder(piece, used, places))
        capacity = load_schema.capacity_file(name)
        shape = self._capacity.shape
        with array_file(place, capacity, np.float32, shape) as rows:
            rows.add(self._capacity)
        return self._seen.sentences()

    def _usage(self, piece: Piece, places: Places) -> Floats:
        block = self._piece(usage_piece(self._name, piece), piece)
        used = np.full(places.shape, np.nan, np.float32)
        columns = [
            (number, self._servers[label])
            for number, label in enumerate(block.labels)
            if label in self._servers
        ]
        if columns:
            numbers, servers = map(list, zip(*columns, strict=True))
            used[:, servers] = block.values[:, numbers]
        is_right = np.isfinite(used) & (used >= 0) & (places >= 0)
        used[~is_right] = np.nan
        self._seen.usage(
            used, places, [x for x in block.labels if x not in self._servers]
        )
        return used

    def _remainder(self, piece: Piece, used: Floats, places: Places) -> Floats:
        block = self._piece(host_piece(self._name, piece), piece)
        read = self._by_host(block)
        self._seen.hosts(read)
        own = np.empty_like(read)
        amounts = np.nan_to_num(used)
        for tick in range(piece.ticks):
            is_placed = places[tick] >= 0
            own[tick] = np.bincount(
                places[tick, is_placed],
                amounts[tick, is_placed],
                len(self._hosts),
            )
        return read * self._capacity - own

    def _by_host(self, block: Block) -> Floats:
        """The readings that can be used, by tick and host."""
        read = np.full(
            (len(block.values), len(self._hosts)), np.nan, np.float32
        )
        for label, host in self._matched(block.labels).items():
            column = block.values[:, block.labels.index(label)]
            place = self._hosts[host]
            read[:, place] = np.fmax(read[:, place], column)
        with np.errstate(invalid='ignore'):
            is_right = (read >= _READING.least) & (read <= _READING.most)
        read[~is_right] = np.nan
        return read

    def _matched(self, names: Sequence[str]) -> dict[str, str]:
        how: HostMatch = self._match
        return labels.match_hosts(names, self._hosts, how).hosts

    def _read_capacity(self, policy: Policy, recording: Recording) -> Floats:
        """What the usage on each host is divided by; NaN: not known."""
        hosts = len(self._hosts)
        query, label = policy.host_capacity_query, policy.host_label
        if query is None:
            return np.ones(hosts, np.float32)
        capacity = np.full(hosts, np.nan, np.float32)
        reading = recording.answers.get((query, label))
        samples = {
            sample.label: sample.value
            for sample in (reading.samples if reading else [])
        }
        for name, host in self._matched(list(samples)).items():
            if np.isfinite(samples[name]) and samples[name] > 0:
                capacity[self._hosts[host]] = samples[name]
        return capacity

    def _piece(self, name: str, piece: Piece) -> Block:
        block = self._workplace.read(name, piece.ticks)
        if block is None:
            raise ArchiveError(
                path=str(self._workplace.path / name),
                reason='it is missing or broken. Give the same command '
                'again: it is fetched once more',
            )
        return block


class Rows:
    """An array that grows by rows."""

    def __init__(self, file: Any, kind: str) -> None:
        self._file, self._kind = file, kind

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Write some rows behind the others."""
        self._file.write(np.ascontiguousarray(rows, self._kind).tobytes())


@contextlib.contextmanager
def array_file(
    place: Workplace, name: str, kind: type[Any], shape: tuple[int, ...]
) -> Iterator[Rows]:
    """Write an array of a load whole, or not at all.

    :raises ArchiveError: it cannot be written
    """
    header = {
        'descr': _KINDS[kind],
        'fortran_order': False,
        'shape': shape,
    }
    with place.published(name) as file:
        np.lib.format.write_array_header_1_0(file, header)
        yield Rows(file, _KINDS[kind])
