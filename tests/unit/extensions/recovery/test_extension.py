# SPDX-License-Identifier: Apache-2.0
"""What the extension that recovers answers to the trunk."""

from oslotest import base

from kronos.extensions.recovery import outcome
from kronos.extensions.recovery.extension import RECOVERY
from tests.unit.extensions.recovery.test_faulty_hosts import (
    cloud,
    plan,
    recovery,
)


class TestRecovery(base.BaseTestCase):
    def test_hosts(self) -> None:
        snapshot, settings = cloud('a'), recovery()
        self.assertEqual({'a'}, RECOVERY.to_empty(snapshot, settings))
        for name, host in snapshot.hosts.items():
            found = RECOVERY.host_reasons(host, settings)
            self.assertEqual(name == 'a', bool(found), name)
        self.assertTrue(RECOVERY.closes_hosts)

    def test_it_says_what_becomes_of_a_server(self) -> None:
        """Of one that failed; of others there is nothing to say."""
        snapshot = cloud()
        snapshot.instances['v'].failure = 'crash'
        found = plan(snapshot)
        self.assertEqual({'v': 'crash'}, outcome.of(found).failed_servers)
        [(key, row)] = RECOVERY.answer(found, 'v').items()
        self.assertEqual('recovery', key)
        self.assertEqual(('', str(found.stayed['v'])), (
            row['destination'], row['text']
        ))  # fmt: skip
        self.assertEqual({}, RECOVERY.answer(found, 'w'))
