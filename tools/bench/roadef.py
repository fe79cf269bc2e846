# SPDX-License-Identifier: Apache-2.0
"""The machine reassignment problem of the ROADEF/EURO challenge 2012.

Its data are public and not ours: they are read where they lie, as
``model_NAME.txt`` with ``assignment_NAME.txt`` beside it. A machine is a
host, a process an instance, the processes of a service a group that is to be
apart. The first three resources are the policies, and the room of the hosts;
further ones, locations, neighborhoods, dependencies and what a process
needs on both machines while it moves are left out.
"""

import pathlib
from typing import NoReturn

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
from kronos.policies.models import LabelType, Mode, Policy
from kronos.recordings.formats.cluster import Cluster

PREFIX, BESIDE = 'model_', 'assignment_'
WEIGHTS = (0.5, 0.3, 0.2)
"""Of the resources, scaled where there are fewer."""
THRESHOLD = 0.15
CLASSES = ('VCPU', 'MEMORY_MB', 'DISK_GB')


class RoadefError(Exception):
    """A file is not there, or not of the challenge's format."""


class _Numbers:
    """The numbers of a file, one after the other."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        try:
            self._words = path.read_text().split()
        except (OSError, UnicodeDecodeError) as error:
            raise RoadefError(f'{path}: it cannot be read: {error}') from error
        self._at = 0

    def next(self, what: str, below: int | None = None) -> int:
        """:raises RoadefError: there is none, or none of that kind"""
        if self._at == len(self._words):
            self.refuse(f'it ends before {what}')
        word = self._words[self._at]
        self._at += 1
        if not word.isdecimal() or (below is not None and int(word) >= below):
            least = 'a whole number of at least 0'
            most = '' if below is None else f' and less than {below}'
            self.refuse(f'{what} must be {least}{most}, is {word:.20}')
        return int(word)

    def some(self, number: int, what: str) -> list[int]:
        return [self.next(what) for _ in range(number)]

    def end(self) -> None:
        if left := len(self._words) - self._at:
            self.refuse(f'{left} numbers are left at its end')

    def refuse(self, why: str) -> NoReturn:
        raise RoadefError(f'{self._path}: {why}')


def models(path: str) -> list[str]:
    """The models of a folder, or the one that is named.

    :raises RoadefError: there is none
    """
    place = pathlib.Path(path)
    found = [place] if place.is_file() else place.glob(f'{PREFIX}*.txt')
    names = sorted(str(one) for one in found if is_model(str(one)))
    if not names:
        raise RoadefError(f'{path}: there is no {PREFIX}NAME.txt')
    return names


def is_model(path: str) -> bool:
    return pathlib.Path(path).name.startswith(PREFIX)


def read(path: str) -> Cluster:
    """A model and its assignment as one scope.

    :raises RoadefError: names the file and what is wrong in it
    """
    place = pathlib.Path(path)
    numbers = _Numbers(place)
    resources = numbers.next('the number of resources')
    if not resources:
        numbers.refuse('there must be a resource')
    numbers.some(2 * resources, 'a resource')
    machines = _machines(numbers, resources)
    services = _services(numbers)
    processes = _processes(numbers, resources, services)
    for _ in range(numbers.next('the number of balance costs')):
        numbers.some(4, 'a balance cost')
    numbers.some(3, 'a weight')
    numbers.end()
    beside = place.with_name(BESIDE + place.name.removeprefix(PREFIX))
    on = _Numbers(beside)
    hosts = [
        on.next(f'the machine of process {number}', len(machines))
        for number in range(len(processes))
    ]
    on.end()
    return _cluster(machines, processes, hosts)


def _machines(numbers: _Numbers, resources: int) -> list[list[int]]:
    """What each has of each resource."""
    number = numbers.next('the number of machines')
    if number < 2:
        numbers.refuse('there must be two machines')
    found = []
    for at in range(number):
        what = f'machine {at}'
        numbers.some(2, what)
        found.append(numbers.some(resources, what))
        if not all(found[-1][: len(CLASSES)]):
            numbers.refuse(f'{what} has none of a resource')
        numbers.some(resources + number, what)
    return found


def _services(numbers: _Numbers) -> int:
    number = numbers.next('the number of services')
    for at in range(number):
        numbers.next(f'service {at}')
        dependencies = numbers.next(f'service {at}')
        numbers.some(dependencies, f'service {at}')
    return number


def _processes(
    numbers: _Numbers, resources: int, services: int
) -> list[tuple[int, list[int]]]:
    """The service of each, and what it needs of each resource."""
    found = []
    for number in range(numbers.next('the number of processes')):
        what = f'process {number}'
        service = numbers.next(f'the service of process {number}', services)
        found.append((service, numbers.some(resources, what)))
        numbers.next(what)
    return found


def _cluster(
    machines: list[list[int]],
    processes: list[tuple[int, list[int]]],
    on: list[int],
) -> Cluster:
    instances, services = {}, dict[int, list[str]]()
    for index, (service, needs) in enumerate(processes):
        vcpus, memory_mb, disk_gb = [*needs, 0, 0][: len(CLASSES)]
        uuid = f'p{index}'
        instances[uuid] = Instance(
            uuid,
            f'm{on[index]}',
            name=uuid,
            vcpus=vcpus,
            memory_mb=memory_mb,
            disk_gb=disk_gb,
        )
        services.setdefault(service, []).append(uuid)
    hosts = _hosts(machines, instances)
    policies = [_policy(name) for name in CLASSES[: len(machines[0])]]
    snapshot = Snapshot(
        scope='machines',
        hosts=hosts,
        instances=instances,
        readings={
            policy.name: _readings(policy, name, hosts, instances)
            for name, policy in zip(CLASSES, policies, strict=False)
        },
        services={
            name: ComputeService(name, state='up', status='enabled')
            for name in hosts
        },
        groups=[
            ServerGroup(f's{at}', 'anti-affinity', members, f's{at}')
            for at, members in services.items()
            if len(members) > 1
        ],
    )
    return Cluster(snapshot, policies)


def _hosts(
    machines: list[list[int]], instances: dict[str, Instance]
) -> dict[str, Host]:
    hosts = {
        f'm{index}': Host(
            f'm{index}',
            headroom={
                name: Headroom(capacity, 0)
                for name, capacity in zip(CLASSES, machine, strict=False)
            },
        )
        for index, machine in enumerate(machines)
    }
    for instance in instances.values():
        room = hosts[instance.host].headroom or {}
        for name, amount in instance.demand.items():
            if name in room:
                room[name].used += amount
    return hosts


def _policy(name: str) -> Policy:
    at = CLASSES.index(name)
    return Policy(
        name=f'resource-{at}',
        mode=Mode.SPREAD,
        weight=WEIGHTS[at],
        threshold=THRESHOLD,
        imbalance_query=f'use of {name}',
        vm_profile_query=f'need of {name}',
        vm_profile_label_type=LabelType.NOVA_INSTANCE_UUID,
        host_capacity_query=f'capacity of {name}',
    )


def _readings(
    policy: Policy,
    name: str,
    hosts: dict[str, Host],
    instances: dict[str, Instance],
) -> PolicyReadings:
    rooms = {host: (one.headroom or {})[name] for host, one in hosts.items()}
    return PolicyReadings(
        _reading(
            policy.imbalance_query,
            {host: room.used / room.capacity for host, room in rooms.items()},
        ),
        _reading(
            policy.vm_profile_query,
            {
                uuid: instance.demand[name]
                for uuid, instance in instances.items()
            },
        ),
        _reading(
            policy.host_capacity_query or '',
            {host: room.capacity for host, room in rooms.items()},
        ),
    )


def _reading(query: str, values: dict[str, float]) -> Reading:
    return Reading(
        query,
        samples=[Sample(label, one, 0.0) for label, one in values.items()],
    )
