# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios share? One lab, and the hands of an operator."""

import functools
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import yaml
from oslotest import base

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / 'tools'))

from labkit import layout, topology  # noqa: E402
from labkit.cloud import Wanted  # noqa: E402
from labkit.lab import Lab  # noqa: E402

ALPHA = topology.AGGREGATES['alpha']
WINDOW_SECONDS = 20
FINAL = ('SUCCEEDED', 'FAILED', 'CANCELLED')
SAMPLE = TOP / 'etc' / 'kronos' / 'policies.yaml'


@functools.cache
def lab() -> Lab:
    """The lab of this checkout, brought up."""
    found = Lab()
    found.up()
    return found


class LabTestCase(base.BaseTestCase):
    """An empty cloud, the sample's policies with a short window."""

    cooldown = 0

    def setUp(self) -> None:
        super().setUp()
        self.lab = lab()
        self.cloud = self.lab.cloud
        self.cloud.reset()
        self.addCleanup(layout.KRONOS.unlink, missing_ok=True)
        self.policies = layout.RUN / 'test-policies.yaml'
        self.addCleanup(self.policies.unlink, missing_ok=True)
        self.policies.write_text(
            SAMPLE.read_text().replace('[2m]', f'[{WINDOW_SECONDS}s]')
        )
        self.configure(cooldown=self.cooldown)

    def configure(self, **options: Any) -> None:
        """Set options of ``[kronos]``; they hold from the next audit on."""
        lines = [f'{key} = {value}' for key, value in options.items()]
        layout.KRONOS.write_text(
            '\n'.join(
                ['[kronos]', f'policies_file = {self.policies}', *lines, '']
            )
        )

    def openstack(self, command: str) -> Any:
        """Run the client as an operator does; what it prints, as data."""
        done = self.run_client(command)
        self.assertEqual(0, done.returncode, f'{command}\n{done.stderr}')
        return json.loads(done.stdout) if '-f' in done.args else None

    def run_client(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run the client, JSON asked for where it can give it."""
        words = command.split()
        if words[2] in ('create', 'list', 'show'):
            words += ['-f', 'json']
        return subprocess.run(
            [layout.program('openstack'), *words],
            env={'PATH': '/usr/bin:/bin', **self.lab.env()},
            capture_output=True,
            text=True,
        )

    def audit(self, parameters: str = '', more: str = '') -> dict[str, Any]:
        """Create an audit of kronos_spread; what the client shows of it."""
        words = [f'-p {one}' for one in parameters.split()]
        created = self.openstack(
            'optimize audit create --goal kronos_balance '
            f'--strategy kronos_spread {" ".join(words)} {more}'.strip()
        )
        return dict(created)

    def shown(self, audit: dict[str, Any]) -> dict[str, Any]:
        """The audit as ``openstack optimize audit show`` has it."""
        return dict(self.openstack(f'optimize audit show {audit["UUID"]}'))

    def finished(self, audit: dict[str, Any]) -> dict[str, Any]:
        """The audit, once it has come to its end."""
        url = f'/v1/audits/{audit["UUID"]}'
        self.wait(
            lambda: self.cloud.watcher(url)['state'] in FINAL,
            120,
            'the audit to end',
        )
        return self.shown(audit)

    def plans(self, audit: dict[str, Any]) -> list[dict[str, Any]]:
        """The audit's action plans, newest first."""
        found = self.cloud.watcher(
            f'/v1/action_plans/detail?audit_uuid={audit["UUID"]}'
        )['action_plans']
        return sorted(found, key=lambda plan: plan['created_at'])[::-1]

    def actions(self, plan: dict[str, Any]) -> list[dict[str, Any]]:
        """All actions of a plan, with their parameters."""
        return list(
            self.cloud.watcher(
                f'/v1/actions/detail?action_plan_uuid={plan["uuid"]}'
            )['actions']
        )

    def executed(self, plan: dict[str, Any]) -> dict[str, Any]:
        """The plan, once it has come to its end."""
        url = f'/v1/action_plans/{plan["uuid"]}'

        def ended() -> Any:
            now = self.cloud.watcher(url)
            return now if now['state'] in FINAL else None

        return dict(self.wait(ended, 300, 'the action plan to end'))

    def start(self, plan: dict[str, Any]) -> None:
        self.openstack(f'optimize actionplan start {plan["uuid"]}')

    def wait(
        self, predicate: Callable[[], Any], seconds: float, what: str
    ) -> Any:
        return self.cloud.wait_for(predicate, seconds, what)

    def boot(self, wanted: Iterable[Wanted]) -> dict[str, str]:
        """Boot servers; their uuids by name, once the metrics show them."""
        made = self.cloud.boot_all(wanted)
        self.wait_for_metrics()
        return {server['name']: server['id'] for server in made}

    def wait_for_metrics(self) -> None:
        """Wait until Prometheus shows every host as it now is.

        A host's figure is its base and its servers' demands; a rate has
        caught up when it agrees with that.
        """

        def settled() -> bool:
            wanted = self.expected()
            return all(
                abs(found.get(host, -1.0) - wanted[policy][host]) < 0.01
                for policy, found in self.measured().items()
                for host in wanted[policy]
            )

        self.wait(settled, 120, 'Prometheus to show the hosts as they are')

    def expected(self) -> dict[str, dict[str, float]]:
        """Scores by policy and host, from where the servers really are."""
        hosts = topology.HOSTS
        cores = {name: size.base_cores for name, size in hosts.items()}
        memory = {name: size.base_memory_mb for name, size in hosts.items()}
        demands = layout.read_json(layout.DEMAND)
        for server in self.cloud.servers().values():
            host = server['OS-EXT-SRV-ATTR:host']
            metadata = server['metadata']
            demand = demands.get(server['name'], {})
            cores[host] += float(demand.get('cpu', metadata['lab:cpu']))
            memory[host] += float(
                demand.get('memory_mb', metadata['lab:memory_mb'])
            )
        return {
            'cpu': {n: cores[n] / hosts[n].cores for n in hosts},
            'memory': {n: memory[n] / hosts[n].memory_mb for n in hosts},
        }

    def measured(self) -> dict[str, dict[str, float]]:
        """Scores by policy and host, as the policies' queries give them."""
        policies = yaml.safe_load(self.policies.read_text())['policies']
        return {
            policy['name']: {
                series['metric']['host']: float(series['value'][1])
                for series in self.cloud.promql(policy['imbalance_query'])
            }
            for policy in policies
        }

    def imbalances(self, hosts: Iterable[str]) -> dict[str, float]:
        """Max - min over some hosts by policy, as measured."""
        wanted = set(hosts)
        found = {}
        for policy, values in self.measured().items():
            among = [v for host, v in values.items() if host in wanted]
            found[policy] = max(among) - min(among)
        return found
