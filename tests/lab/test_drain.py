# SPDX-License-Identifier: Apache-2.0
"""A disabled host is drained; what cannot leave is named."""

from typing import Any, ClassVar

from tests.lab import base
from tests.lab.base import Wanted

CORES, MEMORY_MB = 0.5, 1500
PER_HOST = 3
BUDGET = 2


class TestDrain(base.LabTestCase):
    options: ClassVar = {'cooldown': base.WINDOW_SECONDS + 5}

    def even(self, drained: str, *others: str) -> dict[str, str]:
        """A cloud with nothing to even out, and a locked server."""
        wanted = [
            Wanted(f'{host}-{n}', host, CORES, MEMORY_MB)
            for host in (drained, *others)
            for n in range(PER_HOST)
        ]
        wanted.append(Wanted('kept', drained, CORES, MEMORY_MB))
        uuids = self.boot(wanted)
        self.openstack(f'server lock {uuids["kept"]}')
        return uuids

    def disable(self, host: str) -> None:
        self.openstack(f'compute service set --disable {host} nova-compute')

    def left_on(self, host: str) -> list[str]:
        return sorted(
            name
            for name, where in self.cloud.placement().items()
            if where == host
        )

    def check_actions(
        self, actions: list[dict[str, Any]], source: str, closed: set[str]
    ) -> None:
        self.assertEqual({'evacuate'}, self.phases(actions))
        for row in actions:
            given = row['input_parameters']
            self.assertEqual(source, given['source_node'])
            self.assertIn(given['destination_node'], base.ALPHA)
            self.assertNotIn(given['destination_node'], closed)

    def test_a_continuous_audit_drains_within_its_budget(self):
        """In several runs, nothing being uneven."""
        uuids = self.even('cmp6')
        audit = self.going_on(
            'aggregates=alpha evacuate_disabled_hosts=true '
            f'max_migrations={BUDGET}'
        )
        url = f'/v1/audits/{audit["UUID"]}'
        self.wait(lambda: 'alpha: ' in self.message(audit), 'the first run')
        self.assertEqual(
            [], [row for p in self.plans(audit) for row in self.actions(p)]
        )

        self.disable('cmp6')

        self.wait(
            lambda: self.left_on('cmp6') == ['kept'],
            'cmp6 to be drained',
        )
        self.wait(
            lambda: self.only_left(audit, uuids['kept']),
            'the audit to name what is left',
        )
        self.assertIn('cmp6', self.message(audit))
        self.assertEqual('ONGOING', self.cloud.watcher(url)['state'])
        plans = [p for p in self.plans(audit) if self.actions(p)]
        self.assertEqual(2, len(plans))
        for plan in plans:
            self.assertEqual('SUCCEEDED', self.executed(plan)['state'])
            actions = self.actions(plan)
            self.assertLessEqual(len(actions), BUDGET)
            self.check_actions(actions, 'cmp6', {'cmp6'})

    def only_left(self, audit: dict[str, Any], uuid: str) -> bool:
        return [
            list(one['staying']) for one in self.report(audit)['drains']
        ] == [[uuid]] and 'locked' in self.message(audit)

    def message(self, audit: dict[str, Any]) -> str:
        url = f'/v1/audits/{audit["UUID"]}'
        return str(self.cloud.watcher(url)['status_message'] or '')

    def test_one_plan_drains_a_host(self):
        """kronos_evacuate; the host that is down is only named."""
        uuids = self.even('cmp5', 'cmp6')
        self.lab.stop('cmp6')
        self.addCleanup(self.lab.start, 'cmp6')
        for host in ('cmp5', 'cmp6'):
            self.disable(host)
        self.wait(lambda: self.down() == {'cmp6'}, 'cmp6 to be down')

        audit, plan, actions = self.audited(
            'aggregates=alpha', '--auto-trigger', 'kronos_evacuate'
        )

        self.check_actions(actions, 'cmp5', {'cmp5', 'cmp6'})
        self.assertEqual(PER_HOST, len(actions))
        self.assertEqual('SUCCEEDED', self.carried_out(plan)['state'])
        self.assertEqual(['kept'], self.left_on('cmp5'))
        self.assertEqual(PER_HOST, len(self.left_on('cmp6')))
        self.assertIn(
            f'cmp5: {PER_HOST} leave, 1 stays (', audit['Status Message']
        )
        self.check_report(self.report(audit), uuids['kept'])
        self.assertEqual(PER_HOST, self.indicators(plan)['migrations'])

    def check_report(self, found: dict[str, Any], kept: str) -> None:
        [drain] = found['drains']
        self.assertEqual('cmp5', drain['host'])
        self.assertEqual([kept], list(drain['staying']))
        self.assertIn('locked', drain['staying'][kept])
        [warning] = [one for one in found['warnings'] if 'cmp6' in one]
        self.assertIn('down', warning)
