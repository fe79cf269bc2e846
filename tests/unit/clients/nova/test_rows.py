# SPDX-License-Identifier: Apache-2.0
"""Does each row of Nova's become what Kronos means by it?"""

from typing import Any

from oslotest import base

from kronos.clients.nova import rows
from kronos.engine.types import Outcome
from tests.unit.clients.nova.test_client import group, server

NOON = '2023-11-14T12:00:00Z'
LATER = '2023-11-14T12:01:40Z'
SECONDS = 1699963200.0


def migration(**more: Any) -> dict[str, Any]:
    return {
        'id': 7,
        'uuid': 'm',
        'instance_uuid': 'vm',
        'status': 'completed',
        'source_compute': 'cmp1',
        'dest_compute': 'cmp2',
        'migration_type': 'live-migration',
        'created_at': NOON,
        'updated_at': LATER,
        **more,
    }


class TestInstance(base.BaseTestCase):
    def disk(self, **more: Any) -> int:
        return rows.instance(server('vm', **more)).disk_gb

    def test_disk(self) -> None:
        """Root, ephemeral, and swap in whole GiB; volumes are elsewhere."""
        self.assertEqual(10 + 5 + 2, self.disk())
        self.assertEqual(5 + 2, self.disk(image=''))
        self.assertEqual(5 + 2, self.disk(image=None))
        flavor = {'vcpus': 1, 'ram': 512, 'swap': ''}
        self.assertEqual(0, self.disk(flavor=flavor))

    def test_what_an_image_asks_for(self) -> None:
        """As the extra spec beside it, which comes first."""
        image = {
            'id': 'i',
            'properties': {
                'hw_cpu_policy': 'dedicated',
                'hw_numa_nodes': 2,
                'trait:CUSTOM_A': 'required',
                'os_distro': 'x',
            },
        }
        result = rows.instance(server('vm', image=image))
        self.assertEqual(
            {
                'hw:cpu_policy': 'dedicated',
                'hw:numa_nodes': '2',
                'trait:CUSTOM_A': 'required',
            },
            result.extra_specs,
        )
        flavor = {
            'vcpus': 1,
            'ram': 512,
            'extra_specs': {'hw:cpu_policy': 'shared'},
        }
        result = rows.instance(server('vm', image=image, flavor=flavor))
        self.assertEqual('shared', result.extra_specs['hw:cpu_policy'])

    def test_what_is_null(self) -> None:
        """As an older Nova, or one row of a database, leaves it."""
        result = rows.instance(
            server('vm', name=None, tags=None, metadata=None, locked=None)
        )
        self.assertEqual(
            ('', [], {}, False),
            (result.name, result.tags, result.metadata, result.locked),
        )

    def test_a_cell_that_is_down(self) -> None:
        self.assertFalse(rows.is_partial(server('vm')))
        for key in ('flavor', 'OS-EXT-SRV-ATTR:host'):
            row = server('vm')
            del row[key]
            self.assertTrue(rows.is_partial(row), key)


class TestGroup(base.BaseTestCase):
    def test_policies_of_any_age(self) -> None:
        for row, policy in (
            (group('g', policy='affinity'), 'affinity'),
            (group('g', policy=None, policies=['affinity']), 'affinity'),
            (group('g', policy=None, policies=[]), ''),
            (group('g', policy=None, policies=None), ''),
        ):
            self.assertEqual(policy, rows.group(row).policy)

    def test_rules(self) -> None:
        for rules, most in (
            (None, 1),
            ({}, 1),
            ({'max_server_per_host': 3}, 3),
        ):
            result = rows.group(group('g', rules=rules))
            self.assertEqual(most, result.max_server_per_host)


class TestEvents(base.BaseTestCase):
    def test_a_move(self) -> None:
        event = rows.event(migration())
        self.assertEqual(
            ('vm', 'cmp1', 'cmp2', Outcome.MOVED, SECONDS + 100, False),
            (
                event.instance,
                event.source,
                event.destination,
                event.outcome,
                event.at,
                event.is_resize,
            ),
        )

    def test_how_long_it_took(self) -> None:
        """Of live migrations that arrived, and no others."""
        for more, seconds in (
            ({'migration_type': 'live-migration'}, 100.0),
            ({'migration_type': 'live-migration', 'status': 'error'}, 0.0),
            ({'migration_type': 'migration'}, 0.0),
        ):
            with self.subTest(more):
                event = rows.event(migration(**more))
                self.assertEqual(seconds, event.seconds)

    def test_one_that_was_reverted(self) -> None:
        """It arrived where it came from."""
        event = rows.event(
            migration(status='reverted', migration_type='resize')
        )
        self.assertEqual(
            ('cmp2', 'cmp1', True),
            (event.source, event.destination, event.is_resize),
        )

    def test_an_evacuation(self) -> None:
        """Its host writes to the row once more when it comes back."""
        event = rows.event(migration(migration_type='evacuation'))
        self.assertEqual(SECONDS, event.at)

    def test_outcomes(self) -> None:
        """A status that nobody knows is taken for under way."""
        for status, outcome in (
            ('completed', Outcome.MOVED),
            ('finished', Outcome.MOVED),
            ('confirmed', Outcome.MOVED),
            ('error', Outcome.FAILED),
            ('cancelled', Outcome.FAILED),
            ('conflict', Outcome.FAILED),
            ('running', Outcome.UNDER_WAY),
            ('queued', Outcome.UNDER_WAY),
            ('of tomorrow', Outcome.UNDER_WAY),
            ('', Outcome.UNDER_WAY),
        ):
            self.assertIs(outcome, rows.outcome(status), status)

    def test_every_status_is_either(self) -> None:
        """What is over is not under way, and is no surprise."""
        self.assertEqual(set(), rows.OVER & {*rows.UNDER_WAY})
        for status in rows.OVER:
            self.assertIsNot(Outcome.UNDER_WAY, rows.outcome(status), status)

    def test_moves(self) -> None:
        """A resize may stay on its host; a host not told is another."""
        for ends, is_move in (
            (('cmp1', 'cmp2'), True),
            (('cmp1', 'cmp1'), False),
            (('cmp1', None), True),
            ((None, 'cmp1'), True),
            ((None, None), True),
        ):
            row = migration(source_compute=ends[0], dest_compute=ends[1])
            self.assertIs(is_move, rows.is_move(row), ends)

    def test_a_row_that_was_never_updated(self) -> None:
        result = rows.migration(migration(updated_at=None))
        self.assertEqual(SECONDS, result.updated_at)
        row = migration(status='running', server_uuid='vm')
        del row['instance_uuid']
        result = rows.migration(row)
        self.assertEqual(('vm', False), (result.instance, result.is_over))


class TestTimes(base.BaseTestCase):
    def test_as_nova_filters_take_it(self) -> None:
        self.assertEqual(NOON, rows.time_of(SECONDS + 0.9))
