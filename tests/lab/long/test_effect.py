# SPDX-License-Identifier: Apache-2.0
"""The realised effect of plans in a cloud whose true loads are known.

One host has all servers, another is almost idle, and the load of the others
is their own. So each plan moves servers from the first to the second, and the
others show the drift. The query of one policy reports a multiple of what
servers use, that of the other the truth.
"""

import json
import pathlib
import time
import uuid
from typing import Any, ClassVar

import fixtures

from kronos.clients.schema import seconds_of
from kronos.metrics.metric import Source
from tests.lab import base, replays
from tests.lab.base import Wanted, layout
from tests.lab.moves import HELD

ENGINE = 'watcher-decision-engine'
WINDOW = 12
"""Seconds that the queries look back."""
SETTLING = WINDOW + 8
"""Scrapes, the exporter's look at Nova and whole seconds come on top."""
HOT, COLD, OTHER = 'cmp1', 'cmp2', 'cmp3'
FEW, MOST = 2, 3
"""Migrations of a plan."""
OWN, IDLE = 0.45, 0.05
"""What hosts use beside their servers; IDLE: the cold one."""
SHARE = 0.04
"""Of its host that a server uses, if that is not the large one."""
SERVER = SHARE * 16, SHARE * 65536
DRIFT = 0.1
MARGIN = 0.1
"""Of a ratio."""
QUIET = 0.99
"""A threshold above which no host is."""


class EffectTestCase(base.LabTestCase):
    options: ClassVar[dict[str, Any]] = {
        'effect_settling_seconds': SETTLING,
        # The hosts have more load of their own than of their servers.
        'unexplained_load': 'stays',
        'min_plan_gain': 0,
    }
    factor: ClassVar[int]
    """How many times the truth the query of cpu reports."""

    def setUp(self) -> None:
        super().setUp()
        text = base.scores.shortened(self.policies.read_text(), WINDOW)
        self.policies.write_text(text)
        # Plans of other scenarios are made with other queries.
        mark = f'\n# {uuid.uuid4()}\n'
        self.truth = self.query('cpu') + mark
        lie = f'{self.factor} * ({self.truth})'
        for name, query in (
            ('cpu', lie),
            ('memory', self.query('memory') + mark),
        ):
            self.change(
                name,
                vm_profile_query=query,
                threshold=0.02,
                max_migrations_per_cycle=9,
            )

    def query(self, name: str) -> str:
        policies = base.yaml.safe_load(self.policies.read_text())['policies']
        [query] = [
            policy['vm_profile_query']
            for policy in policies
            if policy['name'] == name
        ]
        return str(query)

    def load_hosts(self, others: float, **shares: float) -> None:
        """Set what hosts use beside their servers, as shares of them.

        :param others: of those that are not named
        """
        sizes = base.topology.HOSTS
        loads = {host: shares.get(host, others) for host in sizes}
        self.cloud.set_exporter(
            base={
                host: {
                    'cpu': share * sizes[host].cores,
                    'memory_mb': share * sizes[host].memory_mb,
                }
                for host, share in loads.items()
            }
        )

    def planned(
        self, most: int = FEW
    ) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
        """A plan of measured hosts, its actions and its row in the report."""
        self.wait_for_metrics()
        audit, plan, actions = self.audited(
            f'aggregates=alpha max_migrations={most}'
        )
        return plan, actions, self.report(audit)

    def settle(self, plan: dict[str, Any]) -> None:
        """Wait for the moment at which a plan is measured."""
        times = [
            seconds_of(row['updated_at'])
            for row in self.actions(plan)
            if row['state'] in ('SUCCEEDED', 'FAILED')
        ]
        end = max(times, default=seconds_of(plan['created_at'])) + SETTLING
        self.wait(lambda: time.time() > end + 1, 'the plan to settle')

    def effects(self) -> dict[str, Any]:
        """The document of ``kronos-effect``."""
        files = base.services.watcher_files()
        text = replays.run('effect', *files, '--format', 'json')
        return dict(json.loads(text))

    def effect(self, plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """A plan that has settled, by policy."""
        self.settle(plan)
        [row] = [
            row
            for row in self.effects()['plans']
            if row['uuid'] == plan['uuid']
        ]
        print(json.dumps(row))
        return {policy['name']: policy for policy in row['policies']}


class TestCanary(EffectTestCase):
    """A query whose lie is too large to be trusted."""

    factor = 4
    canary = 2
    options: ClassVar[dict[str, Any]] = {
        **EffectTestCase.options,
        'use_effect': 'limit',
        'canary_moves': canary,
    }

    def test_limit(self) -> None:
        """Plans stay small until the query is right."""
        self.change('cpu', weight=1.0)
        self.change('memory', enabled=False)
        # Kronos takes servers for no more than their host: it has 0.87.
        self.load_hosts(0.46, **{HOT: 0.66, COLD: 0.06})
        self.boot(
            Wanted(f'small-{n}', HOT, 0.24, 300, 'lab.small')
            for n in range(14)
        )
        for _ in range(3):
            plan, _, _ = self.planned(5)
            self.carried_out(plan)
            self.settle(plan)
        _, actions, report = self.planned(5)
        self.assertIn(
            'the trust in the effect on cpu is', report['effect_limit']
        )
        self.assertEqual(self.canary, len(actions))
        self.change('cpu', vm_profile_query=self.truth)
        numbers = []
        for _ in range(2):
            _, actions, report = self.planned(5)
            numbers.append(len(actions))
            if not report['effect_limit']:
                break
        self.assertGreater(numbers[-1], self.canary, numbers)


class RatioTestCase(EffectTestCase):
    """A query that reports twice what servers use."""

    factor = 2

    def setUp(self) -> None:
        super().setUp()
        # Kronos takes servers for no more than their host.
        self.load_hosts(OWN, **{HOT: OWN, COLD: IDLE})
        self.boot(Wanted(f'server-{n}', HOT, *SERVER) for n in range(10))

    def check_ratio(self, policy: dict[str, Any]) -> None:
        """Of a plan, or of a scope."""
        expected = 1 / self.factor if policy['name'] == 'cpu' else 1.0
        ratio = policy['ratio']
        self.assertIsNotNone(ratio, policy)
        self.assertAlmostEqual(expected, ratio, delta=MARGIN, msg=policy)

    def check_scope(self) -> dict[str, Any]:
        """The ratios over all plans, in a document."""
        document = self.effects()
        [scope] = [row for row in document['scopes'] if row['name'] == 'alpha']
        print(json.dumps(scope))
        for policy in scope['policies']:
            self.check_ratio(policy)
        return document

    def drift(self) -> None:
        """All hosts become busier by the same share of themselves."""
        own = OWN + DRIFT
        self.load_hosts(own, **{HOT: own, COLD: IDLE + DRIFT})


class TestDrift(RatioTestCase):
    def configure(self, **options: Any) -> None:
        """With the metrics, for when the engine starts."""
        if not hasattr(self, 'metrics'):
            self.metrics = self.useFixture(fixtures.TempDir()).path
        super().configure(**options)
        with layout.KRONOS.open('a') as file:
            file.write(
                f'[kronos_metrics]\ndirectory = {self.metrics}\ninterval = 1\n'
            )

    def test_three_plans(self) -> None:
        """And a decision engine that starts anew has the same numbers."""
        self.addCleanup(self.lab.restart, ENGINE)
        self.addCleanup(layout.KRONOS.unlink, missing_ok=True)
        self.lab.restart(ENGINE)
        for number in range(3):
            plan, _, _ = self.planned()
            is_drifting = number == 1
            if is_drifting:
                self.drift()
            self.carried_out(plan)
            for policy in self.effect(plan).values():
                self.assertAlmostEqual(
                    DRIFT * is_drifting, policy['drift'], delta=0.02
                )
        before = self.check_scope()
        for name in ('cpu', 'memory'):
            self.change(name, threshold=QUIET)
        shown = self.shown_by_audit()
        self.lab.restart(ENGINE)
        self.assertEqual(shown, self.shown_by_audit())
        self.assertEqual(before, self.check_scope())

    def shown_by_audit(self) -> tuple[dict[str, Any], list[str]]:
        """The effect in the report of an audit, and in the metrics."""
        audit, _, actions = self.audited('aggregates=alpha')
        self.assertEqual([], actions)
        ended = time.time()
        # An applier that had no metrics before has them, too.
        name = f'kronos-{Source.DECISION_ENGINE}-*.prom'
        [file] = pathlib.Path(self.metrics).glob(name)
        self.wait(lambda: file.stat().st_mtime > ended, 'the metrics')
        lines = [
            line
            for line in file.read_text().splitlines()
            if line.startswith('kronos_effect_')
        ]
        self.assertNotEqual([], lines)
        return self.report(audit)['effect'], lines


class TestDisturbed(RatioTestCase):
    def test_what_does_not_go_as_planned(self) -> None:
        """A third fails, a plan is cancelled, an operator moves a server."""
        uuids = self.boot([Wanted('guest', OTHER, *SERVER)])
        self.guest = uuids['guest']
        plan, actions, _ = self.planned(MOST)
        self.cloud.set_migrations({min(self.moved(actions)): {'fail': 'pre'}})
        self.start(plan)
        self.assertEqual('FAILED', self.executed(plan)['state'])
        self.check_plan(plan, arrived=len(actions) - 1)

        plan, actions, _ = self.planned(MOST)
        _, second, _ = sorted(
            (row['input_parameters'] for row in actions),
            key=lambda inputs: inputs['sequence'],
        )
        self.cloud.set_migrations({second['resource_name']: HELD})
        self.start(plan)
        self.wait(
            lambda: self.cloud.under_way(second['resource_id']),
            'the second migration',
        )
        self.openstack(f'optimize actionplan cancel {plan["uuid"]}')
        self.assertEqual('CANCELLED', self.executed(plan)['state'])
        self.cloud.set_migrations({})
        self.check_plan(plan, arrived=1)

        plan, actions, _ = self.planned()
        self.carried_out(plan)
        self.migrate_guest(HOT)
        self.check_plan(plan, arrived=len(actions), hosts=[COLD])
        self.check_scope()

        plan, _, _ = self.planned()
        self.migrate_guest(COLD)
        for policy in self.effect(plan).values():
            self.assertEqual('effect_disturbed', policy['unmeasured_code'])
        self.check_scope()

    def migrate_guest(self, host: str) -> None:
        """Move a server that is in no plan, as an operator does."""
        self.openstack(
            '--os-compute-api-version 2.30 server migrate --live-migration '
            f'--host {host} {self.guest}'
        )
        self.wait(
            lambda: (
                self.migrations(instance_uuid=self.guest)[0]['status']
                == 'completed'
            ),
            'the guest to arrive',
        )

    def check_plan(
        self,
        plan: dict[str, Any],
        arrived: int,
        hosts: list[str] | None = None,
    ) -> None:
        """It is measured by the moves that arrived.

        :param hosts: those that count
        """
        states = [row['state'] for row in self.actions(plan)]
        self.assertEqual(arrived, states.count('SUCCEEDED'))
        hosts = hosts or [HOT, COLD]
        for policy in self.effect(plan).values():
            self.check_ratio(policy)
            self.assertEqual(hosts, [row['host'] for row in policy['hosts']])
            share = SHARE * (self.factor if policy['name'] == 'cpu' else 1)
            self.assertAlmostEqual(
                arrived * share * len(hosts), policy['predicted'], delta=0.02
            )
