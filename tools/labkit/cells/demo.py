# SPDX-License-Identifier: Apache-2.0
"""The demonstration of a cell drain, from end to end."""

import time
from typing import Any

from labkit import cleaning, running
from labkit.cells import choice, network
from labkit.demo import Demo
from labkit.lab import Lab
from labkit.wanted import Wanted

HOSTS = 2
"""Of the new cell, where the lab has no data yet."""
RUNNING = ('web-1', 'web-2', 'web-3', 'web-4')
STOPPED = ('off-1', 'off-2')
LOCKED = 'locked-1'
KEPT = ('id', 'created', 'addresses', 'security_groups', 'status')
"""What a server must not lose by a move."""
NOVA = '2.100'


def run(lab: Lab, down: bool = False) -> int:
    """Run the demonstration.

    :param down: bring the lab down afterwards
    :returns: 0 if the cell is empty, and its servers are what they were
    """
    begin = time.monotonic()
    lab.up(cells=2, hosts=None if choice.read() else HOSTS)
    try:
        return CellsDemo(lab).run(begin)
    finally:
        if down:
            lab.down()


class CellsDemo(Demo):
    """One run, with the servers as they were before."""

    def run(self, begin: float) -> int:
        self._step('Seven servers in an old cell', self._build)
        before = self._servers()
        self._show(before)
        wrong = self._empty(leaving=len(before) - 1)
        self._step(f'{LOCKED} is unlocked', self._unlock)
        wrong += self._empty(leaving=1)
        after = self._servers()
        self._show(after)
        return self._verdict(wrong + self._lost(before, after), begin)

    def _empty(self, leaving: int) -> list[str]:
        """One audit and its plan; what is not as it should be.

        :param leaving: how many servers it is to move
        """
        audit = self._step('An audit', self._drain)
        plan = self._step('Its action plan', self._start_plan, audit)
        wrong = self._actions_wrong(plan)
        left = len(self._here(self._servers()))
        print(f'left in {choice.SECOND}: {left}')
        moves = self.cloud.watcher(f'/v1/actions?action_plan_uuid={plan}')
        if len(moves['actions']) != leaving:
            wrong.append(f'the plan has not {leaving} actions')
        return wrong

    def _build(self) -> None:
        cleaning.reset(self.cloud)
        wanted = [
            Wanted(
                name,
                choice.OLD_HOSTS[index % len(choice.OLD_HOSTS)],
                0.3,
                700,
                'lab.small',
                zone='',
                network=network.NETWORK,
            )
            for index, name in enumerate((*RUNNING, *STOPPED, LOCKED))
        ]
        uuids = {
            server['name']: server['id']
            for server in self.cloud.boot_all(wanted)
        }
        for name in STOPPED:
            self._act(uuids[name], {'os-stop': None})
        self._act(uuids[LOCKED], {'lock': {'locked_reason': 'for the demo'}})
        running.wait_for(
            lambda: all(
                self._servers()[name]['status'] == 'SHUTOFF'
                for name in STOPPED
            ),
            60,
            'servers to be stopped',
        )
        print(
            f'{" and ".join(choice.OLD_HOSTS)} are hosts of '
            f'{choice.SECOND}, all others of {choice.FIRST}; '
            f'{" and ".join(STOPPED)} are stopped, {LOCKED} is locked.'
        )

    def _unlock(self) -> None:
        self._act(self._servers()[LOCKED]['id'], {'unlock': None})

    def _act(self, uuid: str, body: dict[str, Any]) -> None:
        answer = self.cloud.compute.post(
            f'/servers/{uuid}/action', json=body, microversion=NOVA
        )
        if not answer.ok:
            raise running.LabError(f'{uuid}: {body}: {answer.text}')

    def _drain(self) -> str:
        return self._audited(
            'kronos_cell',
            'kronos_cell_drain',
            f'source_cell={choice.SECOND}',
            f'target_cells={choice.FIRST}',
        )

    def _servers(self) -> dict[str, dict[str, Any]]:
        """All servers by name."""
        return {
            server['name']: server for server in self.cloud.servers().values()
        }

    @staticmethod
    def _here(servers: dict[str, dict[str, Any]]) -> list[str]:
        """Names of those that are in the old cell."""
        return [
            name
            for name, server in servers.items()
            if server['OS-EXT-SRV-ATTR:host'] in choice.OLD_HOSTS
        ]

    def _show(self, servers: dict[str, dict[str, Any]]) -> None:
        print('\nserver       status   host  cell   address')
        for name, one in sorted(servers.items()):
            host = one['OS-EXT-SRV-ATTR:host']
            [address] = one['addresses'][network.NAME]
            print(
                f'{name:12} {one["status"]:8} {host:5} '
                f'{choice.cell_of(host)}  {address["addr"]}'
            )

    def _lost(
        self,
        before: dict[str, dict[str, Any]],
        after: dict[str, dict[str, Any]],
    ) -> list[str]:
        wrong = [f'{name} is in the old cell' for name in self._here(after)]
        for name, one in before.items():
            wrong += [
                f'{name}: {key} was {one[key]} and is {after[name][key]}'
                for key in KEPT
                if one[key] != after[name][key]
            ]
        return wrong
