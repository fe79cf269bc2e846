# SPDX-License-Identifier: Apache-2.0
"""The demonstration of real guests that move while they work."""

import time

import yaml

from labkit import cleaning, layout, running
from labkit.demo import Demo
from labkit.lab import Lab
from labkit.real import furnishing, guest_control, ticks, topology
from labkit.wanted import Wanted

HOSTS = 2
GUESTS = ('busy-1', 'busy-2', 'busy-3')
PERCENT = 30
"""Of a processor, that each guest uses."""
SAMPLE = layout.ROOT / 'etc/kronos/policies-debian-libvirt-exporter.yaml'
OPTIONS = f"""\
[kronos]
policies_file = {SAMPLE}
hypervisor_types = QEMU
cooldown = 0
instance_cooldown = 0
return_guard = 0
"""
STEADY, STEADY_SECONDS = 0.02, 20.0
"""Scores that change by no more in so long are those of now."""
LATE_SECONDS = 2.0
"""That a line may come late besides what the guest stood still."""


def run(lab: Lab, down: bool = False) -> int:
    """Run the demonstration.

    :param down: bring the lab down afterwards
    :returns: 0 if the guests have moved, and worked on
    """
    begin = time.monotonic()
    lab.up(max(HOSTS, len(lab.real_hosts())))
    try:
        return RealDemo(lab).run(begin)
    finally:
        layout.KRONOS.unlink(missing_ok=True)
        if down:
            lab.down()


class RealDemo(Demo):
    """One run, with what was heard of the guests meanwhile."""

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab)
        self.real = lab.real_hosts()
        self.full = min(self.real)
        self.heard: dict[str, ticks.Ticks] = {}
        text = yaml.safe_load(SAMPLE.read_text())
        self.policies = text['policies']

    def run(self, begin: float) -> int:
        self._step('Busy guests on one real host', self._build)
        try:
            self._step('Prometheus sees it (rates look back)', self._settle)
            self._show('Scores before')
            before = self.cloud.placement()
            audit = self._step('An audit', self._audit, topology.AGGREGATE)
            plan = self._step('Its action plan', self._start_plan, audit)
            after = self.cloud.placement()
            self._show_moves(before, after)
            wrong = self._actions_wrong(plan) + self._still_wrong()
            self._step('Prometheus sees the result', self._settle)
        finally:
            for one in self.heard.values():
                one.end()
        self._show('Scores after')
        return self._verdict(wrong + self._unheard(before, after), begin)

    def _build(self) -> None:
        cleaning.reset(self.cloud)
        layout.KRONOS.write_text(OPTIONS)
        servers = self.cloud.boot_all(
            Wanted(
                name,
                self.full,
                flavor=topology.FLAVOR,
                image=furnishing.DISK,
            )
            for name in GUESTS
        )
        for server in servers:
            self.heard[server['name']] = ticks.Ticks(
                list(self.real.values()), server['id']
            )
        running.wait_for(
            lambda: all(one.heard for one in self.heard.values()),
            60,
            'the guests to be up',
            0.2,
        )
        for name in GUESTS:
            guest_control.order(self.lab, name, f'cpu {PERCENT}')
        print(
            f'{len(GUESTS)} guests on {self.full}, each uses {PERCENT} % of a '
            'processor and prints a line a second.'
        )

    def _settle(self) -> None:
        """Wait until the rates, which look back, show what is now."""
        since, last = time.monotonic(), self._scores('cpu')

        def steady() -> bool:
            nonlocal since, last
            result = self._scores('cpu')
            if len(result) < len(self.real) or any(
                abs(result[host] - last.get(host, 1.0)) > STEADY
                for host in self.real
            ):
                since, last = time.monotonic(), result
            return time.monotonic() - since > STEADY_SECONDS

        running.wait_for(steady, 400, 'the scores to settle', 2)

    def _scores(self, policy: str) -> dict[str, float]:
        [query] = [
            one['imbalance_query']
            for one in self.policies
            if one['name'] == policy
        ]
        return {
            series['metric']['host']: float(series['value'][1])
            for series in self.cloud.promql(query)
            if series['metric']['host'] in self.real
        }

    def _show(self, title: str) -> None:
        print(f'\n{title} (aggregate {topology.AGGREGATE})')
        servers = list(self.cloud.placement().values())
        for host in sorted(self.real):
            row = '  '.join(
                f'{policy["name"]} '
                f'{self._scores(policy["name"]).get(host, 0.0):.3f}'
                for policy in self.policies
            )
            print(f'{host:6} {row}  {servers.count(host)} guests')

    def _still_wrong(self) -> list[str]:
        """Guests that do not take orders any more."""
        wrong = []
        for name in GUESTS:
            try:
                guest_control.order(self.lab, name, f'cpu {PERCENT}')
            except running.LabError as error:
                wrong.append(str(error))
        return wrong

    def _unheard(
        self, before: dict[str, str], after: dict[str, str]
    ) -> list[str]:
        """What was not heard of the guests, each line of the table told."""
        wrong = []
        print('\nguest   lines  longest gap  stood still')
        for name, one in self.heard.items():
            gap, still = ticks.gap(one.heard), ticks.standstill(one.heard)
            print(f'{name:7} {len(one.heard):5}  {gap:9.2f} s  {still:9.2f} s')
            if gap > 1.0 + still + LATE_SECONDS:
                wrong.append(f'{name} was not heard for {gap:.1f} s')
        if before == after:
            wrong.append('no guest has moved')
        return wrong
