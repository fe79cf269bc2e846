# SPDX-License-Identifier: Apache-2.0
"""What do the scenarios share? One lab, and the hands of an operator."""

import contextlib
import fcntl
import functools
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import IO, Any, ClassVar

import fixtures
import yaml
from oslotest import base

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / 'tools'))


def _claim() -> IO[str] | None:
    """Take a lab in which no other process tests, unless one was named.

    :returns: what keeps it taken
    """
    if 'KRONOS_LAB' in os.environ:
        return None
    (TOP / '.lab').mkdir(exist_ok=True)
    for name in itertools.chain([''], map(str, itertools.count(2))):
        file = (TOP / '.lab' / f'tests{name}.lock').open('w')
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.environ['KRONOS_LAB'] = name
            return file
        file.close()
    raise AssertionError


_CLAIMED = _claim()

from labkit import cleaning, layout, scores, services, topology  # noqa: E402
from labkit.cells import choice  # noqa: E402
from labkit.cloud import Cloud  # noqa: E402
from labkit.ha import choice as ha_choice  # noqa: E402
from labkit.lab import Lab  # noqa: E402
from labkit.wanted import Wanted  # noqa: E402

from tests.lab import client  # noqa: E402

ALPHA = topology.AGGREGATES['alpha']
WINDOW_SECONDS = 20
LIMIT_SECONDS = 300
"""For what ought to happen soon."""
ASK_SECONDS = 5
"""How old Nova's answer may be while Prometheus is waited for."""
FINAL = ('SUCCEEDED', 'FAILED', 'CANCELLED')
SAMPLES = TOP / 'etc' / 'kronos'
GOALS = {
    'kronos_spread': 'kronos_balance',
    'kronos_pack': 'kronos_consolidate',
    'kronos_evacuate': 'kronos_drain',
    'kronos_affinity': 'kronos_affinity',
    'kronos_recover': 'kronos_recovery',
    'kronos_cell_drain': 'kronos_cell',
    'kronos_maintain': 'kronos_maintenance',
    'kronos_make_room': 'kronos_room',
}


@functools.cache
def _known() -> Lab:
    return Lab()


@functools.cache
def _brought_up(wanted: choice.Choice | None, hosts: int, ha: bool) -> Lab:
    found = _known()
    if _has_other(wanted, hosts, ha):
        found.wipe()
    if wanted:
        found.up(cells=2, hosts=wanted.hosts, ha=ha)
    else:
        found.up(cells=1, hosts=hosts, ha=ha)
    return found


def _has_other(wanted: choice.Choice | None, hosts: int, ha: bool) -> bool:
    """Whether the lab was made for what other scenarios needed."""
    if choice.read() != wanted or ha_choice.is_chosen() != ha:
        return True
    return wanted is None and topology.more_hosts() != hosts


def lab(
    wanted: choice.Choice | None = None,
    hosts: int = choice.MOST,
    ha: bool = False,
) -> Lab:
    """The lab of this checkout, brought up.

    :param wanted: two cells; None: one
    :param hosts: of the only cell
    :param ha: with three databases and brokers, and two of each service
    """
    if _has_other(wanted, hosts, ha):
        _brought_up.cache_clear()
    return _brought_up(wanted, hosts, ha)


class LabTestCase(base.BaseTestCase):
    """An empty cloud, the samples' policies with a short window.

    Nothing cools down, whatever an earlier scenario did to the hosts,
    unless a scenario wants it.
    """

    options: ClassVar[dict[str, Any]] = {}
    """Of ``[kronos]``, for all scenarios of a class."""
    closed: ClassVar[tuple[str, ...]] = ()
    """Hosts that an earlier scenario may have left disabled."""
    cells: ClassVar[choice.Choice | None] = None
    """The two cells that Nova has; None: it has one."""
    number_of_hosts: ClassVar[int] = choice.MOST
    """Of the only cell."""
    ha: ClassVar[bool] = False
    """Whether there are three databases and brokers."""
    settled: ClassVar[float] = 0.01
    """How far a host's figure may be from what it should be."""

    def setUp(self) -> None:
        super().setUp()
        self.lab = lab(self.cells, self.number_of_hosts, self.ha)
        self.cloud = self.lab.cloud
        self.lab.mend()
        cleaning.reset(self.cloud, self.closed)
        self.wait(lambda: not self.down(), 'all hosts to be up')
        self.addCleanup(layout.KRONOS.unlink, missing_ok=True)
        self.reports = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.policies = self.sample('policies.yaml')
        self.configure()

    def sample(self, name: str) -> pathlib.Path:
        """A copy of a sample file of policies, with short windows."""
        copy = layout.RUN / f'test-{name}'
        self.addCleanup(copy.unlink, missing_ok=True)
        text = (SAMPLES / name).read_text()
        copy.write_text(scores.shortened(text, WINDOW_SECONDS))
        return copy

    def change(self, name: str, **fields: Any) -> None:
        """Change a policy in the file that Watcher reads."""
        file = yaml.safe_load(self.policies.read_text())
        for policy in file['policies']:
            if policy['name'] == name:
                policy.update(fields)
        self.policies.write_text(yaml.safe_dump(file))

    def configure(self, **options: Any) -> None:
        """Set options of ``[kronos]``; they hold from the next audit on.

        Those set by an earlier call are forgotten.
        """
        found = {
            'policies_file': self.policies,
            'cooldown': 0,
            'instance_cooldown': 0,
            'return_guard': 0,
            'report_dir': self.reports,
            **self.options,
            **options,
        }
        lines = [f'{key} = {value}' for key, value in found.items()]
        layout.KRONOS.write_text('\n'.join(['[kronos]', *lines, '']))

    def openstack(self, command: str) -> Any:
        """Run the client as an operator does; what it prints, as data."""
        done = self.run_client(command)
        self.assertEqual(0, done.returncode, f'{command}\n{done.stderr}')
        return json.loads(done.stdout) if '-f' in done.args else None

    def run_client(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run the client, JSON asked for where it can give it."""
        words = command.split()
        if words[2:3] and words[2] in ('create', 'list', 'show'):
            words += ['-f', 'json']
        return client.run(words, self.lab.env())

    def audit(
        self,
        parameters: str = '',
        more: str = '',
        strategy: str = 'kronos_spread',
    ) -> dict[str, Any]:
        """Create an audit; what the client shows of it."""
        words = [f'-p {one}' for one in parameters.split()]
        created = self.openstack(
            f'optimize audit create --goal {GOALS[strategy]} '
            f'--strategy {strategy} {" ".join(words)} {more}'.strip()
        )
        return dict(created)

    def audited(
        self,
        parameters: str = '',
        more: str = '',
        strategy: str = 'kronos_spread',
    ) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
        """An audit that has succeeded, its plan and the plan's actions."""
        audit = self.finished(self.audit(parameters, more, strategy))
        self.assertEqual('SUCCEEDED', audit['State'], audit)
        [plan] = self.plans(audit)
        return audit, plan, self.actions(plan)

    def carried_out(self, plan: dict[str, Any]) -> dict[str, Any]:
        """The plan, started unless it was, once it has succeeded."""
        if plan['state'] == 'RECOMMENDED':
            self.start(plan)
        done = self.executed(plan)
        actions = self.actions(plan)
        self.assertNotEqual([], actions)
        for action in actions:
            told = action['status_message']
            self.assertEqual('SUCCEEDED', action['state'], told)
        return done

    def going_on(
        self, parameters: str, seconds: int = 5, more: str = ''
    ) -> dict[str, Any]:
        """A continuous audit of kronos_spread that carries out its plans."""
        audit = self.audit(
            parameters,
            f'--audit_type CONTINUOUS --interval {seconds} --auto-trigger '
            + more,
        )
        self.addCleanup(
            self.openstack,
            f'optimize audit update {audit["UUID"]} replace state=CANCELLED',
        )
        return audit

    def report(self, audit: dict[str, Any]) -> dict[str, Any]:
        """What the newest report of an audit says of its only scope."""
        newest = max(self.reports.glob(f'*-{audit["UUID"]}.json'))
        [scope] = json.loads(newest.read_text())['scopes']
        return dict(scope)

    def indicators(self, plan: dict[str, Any]) -> dict[str, float]:
        """What a plan is expected to achieve, by name."""
        return {
            row['name']: float(row['value'])
            for row in plan['efficacy_indicators']
        }

    def phases(self, actions: list[dict[str, Any]]) -> set[str]:
        """What the actions are for."""
        return {row['input_parameters']['phase'] for row in actions}

    def moved(self, actions: list[dict[str, Any]]) -> set[str]:
        """Names of the servers that the actions move."""
        return {row['input_parameters']['resource_name'] for row in actions}

    def shown(self, audit: dict[str, Any]) -> dict[str, Any]:
        """The audit as ``openstack optimize audit show`` has it."""
        return dict(self.openstack(f'optimize audit show {audit["UUID"]}'))

    def finished(self, audit: dict[str, Any]) -> dict[str, Any]:
        """The audit, once it has come to its end."""
        url = f'/v1/audits/{audit["UUID"]}'
        self.wait(
            lambda: self.cloud.watcher(url)['state'] in FINAL,
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

        return dict(self.wait(ended, 'the action plan to end'))

    def start(self, plan: dict[str, Any]) -> None:
        self.openstack(f'optimize actionplan start {plan["uuid"]}')

    def wait(self, predicate: Callable[[], Any], what: str) -> Any:
        """Wait for a condition, for as long as a slow machine may take."""
        return self.cloud.wait_for(predicate, LIMIT_SECONDS, what)

    def second_applier(self, **options: Any) -> None:
        """Start another applier, with options of its own in ``[kronos]``.

        It is stopped at the end.
        """
        lines = [f'{key} = {value}' for key, value in options.items()]
        file = layout.SECOND_CONTROLLER / layout.KRONOS.name
        file.write_text('\n'.join(['[kronos]', *lines, '']))
        self.addCleanup(file.unlink, missing_ok=True)
        self.addCleanup(self.lab.stop, services.SECOND_APPLIER)
        self.lab.start(services.SECOND_APPLIER)

    def second_engine(self) -> None:
        """Start another decision engine; it is stopped at the end."""
        self.addCleanup(self.lab.stop, services.SECOND_ENGINE)
        self.lab.start(services.SECOND_ENGINE)

    def killed(self, name: str) -> None:
        """Kill a service or host; it is started again at the end."""
        self.addCleanup(self.lab.start, name)
        self.lab.stop(name, kill=True)

    def migrations(self, **filters: Any) -> list[dict[str, Any]]:
        """Nova's records of migrations, asked of itself, newest first.

        :param filters: such as instance_uuid, host, status
        """
        return self.cloud.migrations(**filters)

    def allocations(self, consumer: str) -> dict[str, dict[str, int]]:
        """What Placement holds for a server or a migration, by host."""
        return self.cloud.allocations(consumer)

    def orders(self) -> list[dict[str, Any]]:
        """The live migrations that Watcher has asked of Nova, and it got."""
        return [
            request
            for request in self.cloud.api_requests()
            if request['action'] == 'os-migrateLive' and request['forwarded']
        ]

    def assert_at_rest(self, placed: dict[str, str]) -> None:
        """All servers ACTIVE and idle where they should be, accounted once.

        :param placed: server name to host
        """
        servers = self.cloud.servers()
        self.assertEqual(
            {name: (host, 'ACTIVE', None) for name, host in placed.items()},
            {
                server['name']: (
                    server['OS-EXT-SRV-ATTR:host'],
                    server['status'],
                    server['OS-EXT-STS:task_state'],
                )
                for server in servers.values()
            },
        )
        for uuid, server in servers.items():
            held = set(self.allocations(uuid))
            self.assertEqual({placed[server['name']]}, held, server['name'])
            for migration in self.migrations(instance_uuid=uuid):
                left = self.allocations(migration['uuid'])
                self.assertEqual({}, left, migration)

    def down(self) -> set[str]:
        """The hosts whose nova-compute is down."""
        return {
            row['host']
            for row in self.cloud.services()
            if row['binary'] == 'nova-compute' and row['state'] != 'up'
        }

    def boot(
        self, wanted: Iterable[Wanted], cloud: Cloud | None = None
    ) -> dict[str, str]:
        """Boot servers; their uuids by name, once the metrics show them.

        :param cloud: acts for their project; None: that of the administrator
        """
        wanted = list(wanted)
        made = (cloud or self.cloud).boot_all(wanted)
        self.wait_for_metrics()
        self.wait_for_samples(
            server
            for server, one in zip(made, wanted, strict=True)
            if one.metrics
        )
        return {server['name']: server['id'] for server in made}

    def wait_for_samples(self, servers: Iterable[dict[str, Any]]) -> None:
        """Wait until Prometheus has figures of servers, for every policy.

        The host of a small one looks right without it.
        """
        wanted = list(servers)
        names = {
            'nova_instance_uuid': {one['id'] for one in wanted},
            'nova_internal_name': {
                one['OS-EXT-SRV-ATTR:instance_name'] for one in wanted
            },
        }
        policies = yaml.safe_load(self.policies.read_text())['policies']

        def sampled() -> bool:
            return all(
                names[policy['vm_profile_label_type']]
                <= {
                    series['metric'].get(policy['vm_profile_label'])
                    for series in self.cloud.promql(policy['vm_profile_query'])
                }
                for policy in policies
            )

        self.wait(sampled, 'samples of the servers')

    def wait_for_metrics(self) -> None:
        """Wait until Prometheus shows every host as it now is.

        A host's figure is its base and its servers' demands; a rate has
        caught up when it agrees with that.
        """
        wanted, asked = self.expected(), time.monotonic()

        def settled() -> bool:
            nonlocal wanted, asked
            agrees = self._agrees(wanted)
            # Nova's answer is dear, so it is not asked at each look.
            if agrees or time.monotonic() - asked > ASK_SECONDS:
                before, wanted = wanted, self.expected()
                asked = time.monotonic()
                return agrees and wanted == before
            return False

        self.wait(settled, 'Prometheus to show the hosts as they are')

    def _agrees(self, wanted: dict[str, dict[str, float]]) -> bool:
        """Whether Prometheus has the hosts' figures that are wanted."""
        return all(
            abs(found.get(host, -1.0) - wanted[policy][host]) < self.settled
            for policy, found in self.measured().items()
            for host in wanted[policy]
        )

    def expected(self) -> dict[str, dict[str, float]]:
        """Scores by policy and host, from where the servers really are."""
        hosts = topology.HOSTS
        told = layout.read_json(layout.EXPORTER).get('base', {})
        cores, memory = {}, {}
        for name, size in hosts.items():
            base_of = {
                'cpu': size.base_cores,
                'memory_mb': size.base_memory_mb,
                **told.get(name, {}),
            }
            cores[name] = float(base_of['cpu'])
            memory[name] = float(base_of['memory_mb'])
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

    def measured(
        self,
        file: pathlib.Path | None = None,
        query: str = 'imbalance_query',
    ) -> dict[str, dict[str, float]]:
        """Values by policy and host, as a query of the policies has them.

        :param file: the policies; None: those of mode spread
        """
        file = file or self.policies
        return {
            policy['name']: {
                series['metric']['host']: float(series['value'][1])
                for series in self.cloud.promql(policy[query])
            }
            for policy in yaml.safe_load(file.read_text())['policies']
        }

    def imbalances(self, hosts: Iterable[str]) -> dict[str, float]:
        """Max - min over some hosts by policy, as measured."""
        wanted = set(hosts)
        found = {}
        for policy, values in self.measured().items():
            among = [v for host, v in values.items() if host in wanted]
            found[policy] = max(among) - min(among)
        return found
