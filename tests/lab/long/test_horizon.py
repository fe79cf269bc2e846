# SPDX-License-Identifier: Apache-2.0
"""An operator orders an audit in Horizon, starts its plan, and looks at all
that watcher-dashboard tells of them.
"""

import json
import pathlib
import re
import uuid
from typing import Any

from testtools import matchers

from tests.functional.pages import chromium, png
from tests.lab import base, dashboard
from tests.lab.base import Wanted

import _bootstrap  # isort: skip
from labkit import settings  # isort: skip

SHOTS = base.TOP / '.lab' / 'screenshots'
KEPT = base.TOP / 'doc' / 'source' / 'images'
SHOWN = {
    'audit': 'horizon-audit',
    'plans': 'horizon-plans',
    'plan-FAILED': 'horizon-plan',
    'action-FAILED': 'horizon-action',
}
"""Pictures that the page about Horizon shows."""
OF_ONE_RUN = re.compile(
    r'[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{32}|even-alpha-[\da-f]{4}'
    r'|\w{3,5}\.? \d+, \d{4}, ([\d:]+ [ap]\.m\.|noon|midnight)|\d+(\.\d+)?'
)
"""Ids, times and numbers."""
PARAMETERS = {'aggregates': 'alpha', 'max_migrations': 5}
BOOKKEEPING = ('carrier', 'turn')
"""What the appliers write down for each other."""


class TestHorizon(base.LabTestCase):
    def setUp(self) -> None:
        try:
            _bootstrap.ensure(browser=True, horizon=True)
        except _bootstrap.BootstrapError as error:
            self.skipTest(str(error))
        super().setUp()
        browser = self.enterContext(chromium.Browser())
        self.page = dashboard.Dashboard(browser, self.lab.horizon())
        SHOTS.mkdir(parents=True, exist_ok=True)

    def test_a_plan(self) -> None:
        self.boot(
            Wanted(f'web-{number}', 'cmp1', 0.9, 2600)
            for number in range(1, 7)
        )
        self.page.log_in('admin', settings.password())
        # Audits of earlier runs keep their names.
        audit = self.ordered(f'even-alpha-{uuid.uuid4().hex[:4]}')
        [plan] = self.plans(audit)
        self.look_at_the_audit(audit, plan)
        self.look_at_the_plan(plan, 'RECOMMENDED')
        self.page.show('action_plans')
        self.shoot('plans', menu=True)
        refused = self.actions(plan)[-1]['input_parameters']['resource_name']
        self.cloud.set_migrations({refused: {'fail': 'destination-check'}})
        self.page.click(f'button[value$=start_action_plan__{plan["uuid"]}]')
        self.assertEqual('FAILED', self.executed(plan)['state'])
        self.look_at_the_plan(plan, 'FAILED')
        for action in self.actions(plan):
            self.look_at_the_action(action, refused)

    def test_an_audit_that_failed(self) -> None:
        """Its sentence is not shown there, and Horizon looks for a plan."""
        audit = self.finished(self.audit('aggregates=nowhere'))
        self.assertEqual('FAILED', audit['State'])
        self.page.log_in('admin', settings.password())
        self.page.show('audits', audit['UUID'])
        self.assertEqual('FAILED', self.page.facts()['State'])
        self.assertNotIn(audit['Status Message'], self.page.text())
        self.shoot('audit-failed')
        self.page.show('audits')
        self.page.click(f'button[value$=go_to_action_plan__{audit["UUID"]}]')
        self.assertIn('Something went wrong!', self.page.text())

    def ordered(self, name: str) -> dict[str, Any]:
        """An audit that Horizon's form makes, once it has succeeded."""
        template = self.openstack(
            f'optimize audittemplate create {name} kronos_balance '
            '-s kronos_spread'
        )
        self.addCleanup(
            self.openstack, f'optimize audittemplate delete {template["UUID"]}'
        )
        self.page.visit('admin/audits/create/')
        self.page.fill_in(
            audit_template=template['UUID'],
            audit_name=name,
            audit_type='oneshot',
            parameters=json.dumps(PARAMETERS),
        )
        self.page.click('#create_audit_form input[type=submit]')
        rows = {row['Name']: row for row in self.page.rows('audits')}
        row = rows[name]
        self.assertEqual(
            ('kronos_balance', 'kronos_spread'), (row['Goal'], row['Strategy'])
        )
        return self.finished(row)

    def look_at_the_audit(
        self, audit: dict[str, Any], plan: dict[str, Any]
    ) -> None:
        self.page.show('audits', audit['UUID'])
        facts = self.page.facts()
        self.assertEqual('SUCCEEDED', facts['State'])
        self.assertEqual(
            'aggregates: alpha\nmax_migrations: 5', facts['Parameters']
        )
        [row] = self.page.rows('related_action_plans')
        self.assertEqual(plan['uuid'], row['UUID'])
        shares = [
            f'{share["name"]} {share["value"]} %'
            for share in plan['global_efficacy']
        ]
        self.assertEqual(' '.join(shares), ' '.join(row['Efficacy'].split()))
        # Once it is shown, the page about Horizon has to say so.
        self.assertIn('alpha: ', audit['Status Message'])
        self.assertNotIn(audit['Status Message'], self.page.text())
        self.shoot('audit')

    def look_at_the_plan(self, plan: dict[str, Any], state: str) -> None:
        self.page.show('action_plans', plan['uuid'])
        self.assertEqual(state, self.page.facts()['State'])
        shown = self.page.rows('related_efficacy_indicators')
        self.assertEqual(
            self.indicators(plan),
            {row['Name']: float(row['Value']) for row in shown},
        )
        self.assertNotIn('-', [row['Description'] for row in shown])
        rows = {row['UUID']: row for row in self.page.rows('related_wactions')}
        actions = self.actions(plan)
        self.assertEqual({one['uuid'] for one in actions}, set(rows))
        for one in actions:
            row = rows[one['uuid']]
            self.assertEqual('Kronos Live Migrate', row['Type'])
            self.assertEqual(one['state'], row['State'].upper())
        self.shoot(f'plan-{state}')

    def look_at_the_action(self, action: dict[str, Any], refused: str) -> None:
        self.page.show('actions', action['uuid'])
        told = action['input_parameters']
        shown = {
            row['Parameter name']: row['Parameter value']
            for row in self.page.rows('parameters')
        }
        self.assertEqual(set(told), set(shown))
        for name in set(told) - set(BOOKKEEPING):
            self.assertEqual(str(told[name]), shown[name])
        self.shoot(f'action-{action["state"]}')
        facts = self.page.facts()
        is_refused = told['resource_name'] == refused
        self.assertEqual(
            'FAILED' if is_refused else 'SUCCEEDED', facts['State']
        )
        if is_refused:
            self.assertEqual(action['status_message'], facts['Status Message'])
            self.assertIn('[destination_refused]', facts['Status Message'])

    def shoot(self, name: str, menu: bool = False) -> None:
        """Take a picture of the page; those that are kept show the same."""
        path = SHOTS / f'horizon-{name}.png'
        self.page.shoot(path, menu)
        if name in SHOWN:
            kept = KEPT / f'{SHOWN[name]}.png'
            # All pictures are taken, so that one run makes all anew.
            self.expectThat(
                _lines(path),
                # Of a list, plans of other tests show more.
                matchers.ContainsAll(_lines(kept))
                if menu
                else matchers.Equals(_lines(kept)),
                f'copy {path} to {kept}',
            )


def _lines(picture: pathlib.Path) -> set[str]:
    """What is read in a picture, but for what is of one run."""
    words = png.words(picture.read_bytes())
    lines = [line.replace(' items', ' item') for line in words.splitlines()]
    return {OF_ONE_RUN.sub('0', line) for line in lines}
