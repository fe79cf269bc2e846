# SPDX-License-Identifier: Apache-2.0
"""The placement of the instances on hosts.

As Nova's scheduler would have it, which goes by free memory: of some hosts
with room the one with the most, with noise, since others were there before,
and with some hosts that it likes more, or less, than it should.
"""

import random

from generator.cloud import APART, Cloud, Group, Host, Server
from generator.wanted import WantedError

LOOKED_AT = 8
"""Hosts that are compared for an instance."""
NOISE = 0.25


class Placer:
    """Puts instances onto hosts.

    :param hosts: that take instances
    """

    def __init__(self, hosts: list[Host], rng: random.Random) -> None:
        self._rng = rng
        self._by_aggregate: dict[int, list[Host]] = {}
        for host in hosts:
            self._by_aggregate.setdefault(host.aggregate, []).append(host)

    def place(self, server: Server) -> None:
        """Boot it; a group for which there is no host is left.

        :raises WantedError: there is no room for it anywhere
        """
        hosts = self._by_aggregate.get(server.aggregate, [])
        host = self._found(server, hosts)
        if host is None and server.group is not None:
            server.group.members.remove(server)
            server.group = None
            host = self._found(server, hosts)
        if host is None:
            server.vcpus, server.memory_mb = 1, 2048
            host = self._found(server, hosts)
        if host is None:
            raise WantedError(
                'there are too many instances for the hosts: not even one of '
                '1 vCPU and 2 GiB finds room; give more --hosts'
            )
        server.put(host)

    def _found(self, server: Server, hosts: list[Host]) -> Host | None:
        some = hosts
        if server.group is None or server.group.policy in APART:
            some = self._rng.sample(hosts, min(LOOKED_AT, len(hosts)))
        return self._best(server, some) or self._best(server, hosts)

    def _best(self, server: Server, hosts: list[Host]) -> Host | None:
        fit = [host for host in hosts if host.has_room(server)]
        if server.group is not None:
            fit = [host for host in fit if server.group.allows(host)]
        if not fit:
            return None
        return max(fit, key=self._liking)

    def _liking(self, host: Host) -> float:
        noise = self._rng.uniform(1.0 - NOISE, 1.0 + NOISE)
        return (host.memory_mb - host.used_mb) * host.pull * noise


def place_all(found: Cloud, rng: random.Random) -> None:
    """Boot all servers.

    :raises WantedError: there is no room for them
    """
    placer = Placer([host for host in found.hosts if not host.is_new], rng)
    for server in found.servers:
        placer.place(server)
    # A group of one is none.
    for group in found.groups:
        if len(group.members) == 1:
            group.members[0].group = None
    found.groups = [one for one in found.groups if len(one.members) > 1]


def break_groups(found: Cloud, rng: random.Random) -> None:
    """Move a member of some groups to where it should not be.

    :raises WantedError: there are not so many groups that can be broken
    """
    groups = rng.sample(found.groups, len(found.groups))
    done = 0
    for group in groups:
        if done == found.wanted.broken:
            return
        done += _broken(group, found, rng)
    if done < found.wanted.broken:
        raise WantedError(
            f'only {done} server groups can be broken; give more '
            '--instances, or a larger ratio that is --grouped'
        )


def _broken(group: Group, found: Cloud, rng: random.Random) -> bool:
    member = group.members[0]
    others = {one.host.name for one in group.members[1:] if one.host}
    apart = group.policy in APART
    fit = [
        host
        for host in found.hosts
        if host.aggregate == member.aggregate
        and not host.is_new
        and host.has_room(member)
        and (host.name in others) == apart
    ]
    if fit:
        member.frozen = ''
        member.put(rng.choice(fit))
    return bool(fit)
