# SPDX-License-Identifier: Apache-2.0
"""The format cluster/1, read as a snapshot.

The format is made for planning: scores and shares by policy, no services,
no queries. A host with ``available: false`` takes nothing, but its scores
count and its instances may leave.
"""

import contextlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pydantic

from kronos.common.exceptions import ArchiveError
from kronos.engine.server_groups import APART, TOGETHER
from kronos.engine.types import (
    ComputeService,
    Headroom,
    Host,
    Instance,
    PolicyReadings,
    Reading,
    Sample,
    ServerGroup,
    Snapshot,
)
from kronos.policies.models import LabelType, Mode, Policy, PolicyFile
from kronos.recordings import safe_files
from kronos.recordings.schema import MOST

FORMAT = 'cluster/1'
ROUNDING = 0.05
"""How far above 1 a score may be: the files round scores and shares, so a
full host can come out above it. It is taken for 1, with a warning."""
_NOT_ASKED = 'recorded'
"""Begins the queries, which the format does not have."""


@dataclass
class Cluster:
    """One scope and the policies to plan it by."""

    snapshot: Snapshot
    policies: list[Policy]
    warnings: list[str] = field(default_factory=list)


def read(path: str) -> Cluster:
    """Read a file, gzipped or not.

    :raises ArchiveError: if it cannot be read or is not of this format; the
        message names the file and the field
    """
    document = safe_files.document(path)
    try:
        return _Reader().cluster(document)
    except _Fault as fault:
        raise ArchiveError(path=path, reason=str(fault)) from fault


class _Fault(Exception):
    """What is wrong, and where; never leaves this module."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f'{where:.200}: {what:.200}')


def _number(value: Any, where: str) -> float:
    # bool is an int to Python, and an int may be larger than any float.
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            if math.isfinite(value):
                return float(value)
    raise _Fault(where, f'must be a finite number, is {_shown(value)}')


def _amount(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _Fault(
            where, f'must be an integer of at least 0, is {_shown(value)}'
        )
    if value > MOST:
        raise _Fault(where, f'must be at most {MOST}')
    return value


def _text(value: Any, where: str) -> str:
    if isinstance(value, str) and 0 < len(value) <= safe_files.MAX_TEXT:
        return value
    raise _Fault(where, f'must be a non-empty string, is {_shown(value)}')


def _flag(value: Any, where: str) -> bool:
    if isinstance(value, bool):
        return value
    raise _Fault(where, f'must be true or false, is {_shown(value)}')


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + '...'


class _Row:
    """An object of the document that knows where it stands."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _Fault(where, f'must be an object, is {_shown(value)}')
        self._value = value
        self.where = where

    def get(self, key: str, kind: Callable[[Any, str], Any]) -> Any:
        where = f'{self.where}.{key}' if self.where else key
        if key not in self._value:
            raise _Fault(where, 'is missing')
        return kind(self._value[key], where)

    def rows(self, key: str) -> Iterator['_Row']:
        for at, value in enumerate(self.get(key, _list)):
            yield _Row(value, f'{key}[{at}]')

    def numbers(self, key: str) -> dict[str, float]:
        """A mapping of names to finite numbers."""
        row = self.get(key, _Row)
        return {name: row.get(name, _number) for name in row._value}


def _list(value: Any, where: str) -> list[Any]:
    if isinstance(value, list):
        return value
    raise _Fault(where, f'must be a list, is {_shown(value)}')


class _Reader:
    """Fills a snapshot part by part."""

    def __init__(self) -> None:
        self._hosts: dict[str, Host] = {}
        self._instances: dict[str, Instance] = {}
        self._readings: dict[str, PolicyReadings] = {}
        self._warnings: list[str] = []

    def cluster(self, document: Any) -> Cluster:
        if not isinstance(document, dict):
            raise _Fault('document', 'must be a JSON object')
        if document.get('format') != FORMAT:
            raise _Fault(
                'format',
                f'must be "{FORMAT}", is {_shown(document.get("format"))}',
            )
        top = _Row(document, '')
        policies = self._policies(top)
        for row in top.rows('hosts'):
            self._host(row)
        for row in top.rows('instances'):
            self._instance(row)
        snapshot = Snapshot(
            scope='cluster',
            hosts=self._hosts,
            instances=self._instances,
            readings=self._readings,
            services={
                name: ComputeService(name, state='up', status='enabled')
                for name in self._hosts
            },
            groups=self._groups(top),
        )
        return Cluster(snapshot, policies, self._warnings)

    def _policies(self, top: _Row) -> list[Policy]:
        policies = []
        for row in top.rows('policies'):
            name = row.get('name', _text)
            if row.get('mode', _text) != 'spread':
                raise _Fault(f'{row.where}.mode', 'only spread is supported')
            try:
                policy = Policy(
                    name=name,
                    mode=Mode.SPREAD,
                    weight=row.get('weight', _number),
                    threshold=row.get('threshold', _number),
                    imbalance_query=f'{_NOT_ASKED} score of {name}',
                    vm_profile_query=f'{_NOT_ASKED} share of {name}',
                    vm_profile_label_type=LabelType.NOVA_INSTANCE_UUID,
                )
            except pydantic.ValidationError as error:
                raise _invalid(row.where, error) from error
            self._readings[name] = PolicyReadings(
                Reading(policy.imbalance_query),
                Reading(policy.vm_profile_query),
            )
            policies.append(policy)
        try:
            PolicyFile(policies=policies)
        except pydantic.ValidationError as error:
            raise _invalid('policies', error) from error
        return policies

    def _host(self, row: _Row) -> None:
        name = self._unused(row, self._hosts)
        for policy, value in row.numbers('scores').items():
            reading = self._reading(policy, f'{row.where}.scores').imbalance
            if 1.0 < value <= 1.0 + ROUNDING:
                self._warnings.append(
                    f'{row.where}.scores.{policy}: {value:g} is taken for 1'
                )
                value = 1.0
            reading.samples.append(Sample(name, value, 0.0))
        available = row.get('available', _flag)
        self._hosts[name] = Host(
            name,
            headroom={
                'MEMORY_MB': Headroom(row.get('memory_mb', _amount), 0),
                'VCPU': Headroom(row.get('vcpus', _amount), 0),
            },
            closed='' if available else 'available is false',
        )

    def _instance(self, row: _Row) -> None:
        name = self._unused(row, self._instances)
        host = row.get('host', _text)
        if host not in self._hosts:
            raise _Fault(f'{row.where}.host', f'there is no host {host}')
        for policy, value in row.numbers('shares').items():
            if value < 0.0:
                raise _Fault(
                    f'{row.where}.shares.{policy}',
                    f'must be at least 0, is {value:g}',
                )
            profile = self._reading(policy, f'{row.where}.shares').profile
            if profile is not None:
                profile.samples.append(Sample(name, value, 0.0))
        instance = Instance(
            name,
            host,
            name=name,
            memory_mb=row.get('memory_mb', _amount),
            vcpus=row.get('vcpus', _amount),
        )
        if not row.get('movable', _flag):
            instance.unmovable = 'movable is false'
        self._instances[name] = instance
        headroom = self._hosts[host].headroom or {}
        headroom['MEMORY_MB'].used += instance.memory_mb
        headroom['VCPU'].used += instance.vcpus

    def _groups(self, top: _Row) -> list[ServerGroup]:
        groups: dict[str, ServerGroup] = {}
        for row in top.rows('groups'):
            name = self._unused(row, groups)
            policy = row.get('policy', _text)
            if policy not in APART | TOGETHER:
                raise _Fault(
                    f'{row.where}.policy',
                    f'must be one of {", ".join(sorted(APART | TOGETHER))}, '
                    f'is {policy}',
                )
            members = [
                _text(member, f'{row.where}.members[{at}]')
                for at, member in enumerate(row.get('members', _list))
            ]
            groups[name] = ServerGroup(name, policy, members, name)
        return list(groups.values())

    @staticmethod
    def _unused(row: _Row, taken: dict[str, Any]) -> str:
        name: str = row.get('name', _text)
        if name in taken:
            raise _Fault(f'{row.where}.name', f'{name} is used twice')
        return name

    def _reading(self, policy: str, where: str) -> PolicyReadings:
        if policy not in self._readings:
            raise _Fault(f'{where}.{policy}', 'there is no such policy')
        return self._readings[policy]


def _invalid(where: str, error: pydantic.ValidationError) -> _Fault:
    first = error.errors()[0]
    field = ''.join(f'.{part}' for part in first['loc'])
    return _Fault(where + field, first['msg'])
