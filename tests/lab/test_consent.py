# SPDX-License-Identifier: Apache-2.0
"""Owners have a say: who refuses to be balanced may still be drained.

==============================  ===========  ============  ===============
Consent of the server           kronos_      The drain,    The drain,
                                spread       honour        drain-overrides
==============================  ===========  ============  ===============
``drain``, by its metadata      it stays     it leaves     it leaves
``never``, by its tag           it stays     it stays      it leaves
==============================  ===========  ============  ===============
"""

from typing import Any

from tests.lab import drains
from tests.lab.base import Wanted
from tests.lab.test_spread import pile

HOST = 'cmp1'
RELUCTANT = 'drain-only', 'never'
OTHERS = 4


class TestConsent(drains.DrainTestCase):
    def test_never_but_for_maintenance(self):
        """A drain is refused by one owner, until the operator overrides it."""
        self.uuids = self.boot(
            [
                *pile(HOST, OTHERS),
                # Without consent they would be the first to go.
                *(Wanted(name, HOST, 1.8, 3600) for name in RELUCTANT),
            ]
        )
        self.assertLessEqual(set(RELUCTANT), self.spread())
        self.refuse()
        for rule in ('honour', 'drain-overrides'):
            self.configure(cooldown=0, consent=rule)
            self.assertFalse(set(RELUCTANT) & self.spread(), rule)

        self.disable(HOST)
        audit, plan, actions = self.drained(consent='honour')
        self.assertEqual(set(self.uuids) - {'never'}, self.moved(actions))
        self.check_named(audit)

        audit, plan, actions = self.drained(consent='drain-overrides')
        self.assertEqual(set(self.uuids), self.moved(actions))
        self.assertNotIn('stay', audit['Status Message'])
        self.carried_out(plan)
        self.assertEqual([], self.left_on(HOST))

    def refuse(self) -> None:
        """What the owners do."""
        self.openstack(
            'server set --property kronos:consent=drain '
            f'{self.uuids["drain-only"]}'
        )
        self.openstack(
            '--os-compute-api-version 2.26 server set '
            f'--tag kronos:consent:never {self.uuids["never"]}'
        )

    def spread(self) -> set[str]:
        """Names of the servers that a plan would move to even out."""
        audit, _, actions = self.audited('aggregates=alpha max_migrations=20')
        self.assertEqual({'spread'}, self.phases(actions), audit)
        return self.moved(actions)

    def drained(
        self, **options: Any
    ) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
        self.configure(cooldown=0, **options)
        return self.audited('aggregates=alpha', '', 'kronos_evacuate')

    def check_named(self, audit: dict[str, Any]) -> None:
        """The sentence and the report have the server that stays."""
        self.assertIn(
            f'{HOST}: {len(self.uuids) - 1} leave, 1 stays (',
            audit['Status Message'],
        )
        self.assertIn('kronos:consent:never forbids', audit['Status Message'])
        [drain] = self.report(audit)['drains']
        self.assertEqual([self.uuids['never']], list(drain['staying']))
