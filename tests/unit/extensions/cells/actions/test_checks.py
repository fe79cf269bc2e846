# SPDX-License-Identifier: Apache-2.0
"""Are all checks made, and is all that they find told?"""

import requests

from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.extensions.cells.actions import checks
from tests.unit.extensions.cells.actions import base

NAMES = (
    'cell',
    'host',
    'flavor',
    'power state',
    'addresses',
    'ports',
    'volumes',
    'attachments',
    'tags',
    'metadata',
    'key',
    'image',
    'security groups',
    'Placement',
    'temporary image',
)
AFTER = 40.0
"""Seconds after which a move waits to be confirmed."""
GIB = 1024


class ChecksTestCase(base.CellMoveTestCase):
    def setUp(self):
        super().setUp()
        self.settings.timing.settle_timeout = 60.0

    def arrive(self):
        """Nova moves it, and waits for somebody to confirm that."""
        self.was = checks.before(self.context, base.UUID)
        if self.task.is_resize:
            self.cell_migration.resize(base.UUID, '2')
        else:
            self.ask_by_hand()
        self.clock.sleep(AFTER)
        self.nova.get_instance(base.UUID)
        self.migration = self.server.moves[-1].uuid
        self.began = self.clock()

    def check(self, **more):
        return checks.of_arrival(
            self.settings, self.context, self.was, self.migration, **more
        )

    def wrong(self, **more):
        """What is told of those that fail, by name."""
        found = self.check(**more)
        return {one.name: one.text for one in found if not one.ok}

    def check_return(self):
        asked = checks.asked_meanwhile(self.context, base.UUID)
        found = checks.of_return(
            self.settings, self.context, self.was, self.migration, asked
        )
        return {one.name: one.text for one in found if not one.ok}

    def prometheus_that_says(self, *values):
        """:param values: of its series"""
        self.queries = []
        real = self.cloud.answer

        def answer(method, path, query, body):
            if not path.startswith('/prometheus'):
                return real(method, path, query, body)
            self.queries.append(body['query'])
            rows = [
                {'metric': {'n': str(n)}, 'value': [self.clock(), str(value)]}
                for n, value in enumerate(values)
            ]
            data = {'resultType': 'vector', 'result': rows}
            return {'status': 'success', 'data': data}

        self.cloud.answer = answer
        self.context.prometheus = lambda: PrometheusClient(
            self.cloud.prometheus_url, requests.Session(), clock=self.clock
        )

    @property
    def waited(self):
        return self.clock() - self.began


class TestArrival(ChecksTestCase):
    def test_all_pass(self):
        self.arrive()
        found = self.check()
        self.assertEqual(NAMES, tuple(one.name for one in found))
        self.assertEqual([], [one for one in found if not one.ok])
        self.assertEqual(0, self.waited)
        told = {one.name: one.text for one in found}
        self.assertEqual(
            'room is held on n1.example.org and on o1.example.org',
            told['Placement'],
        )
        self.assertEqual('it is in new', told['cell'])

    def test_a_key_pair_that_is_not_copied(self):
        """What the API cannot show is not called proved before Nova 34."""
        self.cloud.newest = '2.103'
        self.arrive()
        names = [one.name for one in self.check()]
        self.assertEqual([one for one in NAMES if one != 'key'], names)
        self.context.sources.keeps_keys = True
        self.assertIn('key', [one.name for one in self.check()])

    def test_stopped(self):
        self.stop_server()
        self.arrive()
        self.assertEqual({}, self.wrong())

    def test_resize(self):
        """Placement holds the new flavor there, and the old one here."""
        self.resizes()
        self.server.lands = 'n2'
        self.arrive()
        self.assertEqual({}, self.wrong())
        move = self.server.moves[-1]
        self.cloud.leftovers = {
            move.uuid: {'o1': {'VCPU': 2, 'MEMORY_MB': 4096}}
        }
        self.assertEqual(
            {
                'Placement': 'Placement holds for its migration 4096 '
                'MEMORY_MB instead of 1024, 2 VCPU instead of 1'
            },
            self.wrong(),
        )

    def test_wrong_cell(self):
        self.arrive()
        self.cloud.aggregate_metadata['new'] = {'kronos:cell': 'third'}
        self.assertEqual(
            {'cell': 'it is in cell third instead of new'}, self.wrong()
        )
        # Nothing would be another one later.
        self.assertEqual(0, self.waited)

    def test_room_is_not_held(self):
        self.arrive()
        self.cloud.leftovers = {
            base.UUID: {'n1': {'VCPU': 1, 'MEMORY_MB': 512}},
            self.migration: {'n2': {'MEMORY_MB': GIB}},
        }
        self.assertEqual(
            {
                'Placement': 'Placement holds for the server 512 MEMORY_MB '
                'instead of 1024, its migration on n2.example.org and '
                'o1.example.org instead of o1.example.org'
            },
            self.wrong(),
        )
        self.assertEqual(60, self.waited)

    def test_confirmed(self):
        """Then nothing is held on the source any more."""
        self.arrive()
        self.assertIn('Placement', self.wrong(is_confirmed=True))
        self.cell_migration.confirm(base.UUID)
        self.clock.sleep(AFTER)
        self.assertEqual({}, self.wrong(is_confirmed=True))

    def test_image_that_is_left(self):
        self.cloud.leaves_images = True
        self.arrive()
        wrong = self.wrong()
        self.assertEqual(
            {
                'temporary image': 'one-resize-temp is left: "openstack '
                'image delete image-one-resize-temp"'
            },
            wrong,
        )
        self.assertEqual(60, self.waited)

    def test_image_that_goes(self):
        self.cloud.leaves_images = True
        self.arrive()
        self.clock.at(self.began + 20, self.cloud.images.clear)
        self.assertEqual({}, self.wrong())
        self.assertEqual(20, self.waited)

    def test_image_of_another_server(self):
        """It has the same name, and is on its way too."""
        self.arrive()
        self.cloud.images = {base.OTHER: 'one-resize-temp'}
        self.assertEqual({}, self.wrong())

    def test_image_of_a_server_that_was_renamed(self):
        self.cloud.leaves_images = True
        self.arrive()
        self.server.name = 'two'
        self.assertEqual(['temporary image'], list(self.wrong()))

    def test_volume_that_is_lost(self):
        self.server.volumes = ['v1', 'v2']
        self.arrive()
        self.server.volumes = ['v1']
        self.assertEqual({'volumes': 'volumes lost: v2'}, self.wrong())

    def test_volume_that_somebody_detached(self):
        self.server.volumes = ['v1', 'v2']
        self.arrive()
        self.server.volumes = ['v1']
        self.server.asked.append(('detach_volume', 'req-1'))
        self.assertEqual({}, self.wrong())

    def test_volume_that_was_detached_before(self):
        """What was asked for before the move explains no loss by it."""
        self.server.volumes = ['v1']
        self.server.asked.append(('detach_volume', 'req-1'))
        self.arrive()
        self.server.volumes = []
        self.assertEqual(['volumes'], list(self.wrong()))

    def test_guest_that_is_not_running(self):
        self.arrive()
        self.server.power = 4
        told = 'its power state is shut down instead of running'
        self.assertEqual({'power state': told}, self.wrong())

    def test_all_that_is_wrong(self):
        """None keeps another from being made."""
        self.cloud.leaves_images = True
        self.settings.verify_query = 'works{uuid="{uuid}"}'
        self.prometheus_that_says()
        self.server.volumes = ['v1']
        self.arrive()
        self.server.volumes = []
        self.server.power = 4
        self.server.metadata = {'new': 'value'}
        self.cloud.leftovers = {self.migration: {'o1': {'VCPU': 9}}}
        self.assertEqual(
            {
                'volumes',
                'power state',
                'metadata',
                'Placement',
                'temporary image',
                'cell_verify_query',
            },
            set(self.wrong()),
        )

    def test_deleted(self):
        self.arrive()
        self.cloud.delete(base.UUID)
        error = self.assertRaises(exceptions.StaleTask, self.check)
        self.assertEqual('instance_gone', error.kwargs['fault'].value)


class TestServicesThatAreAway(ChecksTestCase):
    def test_for_a_moment(self):
        self.arrive()
        down = {
            ('GET', f'{base.SERVER}/os-interface'),
            ('GET', '/placement/allocations'),
            ('GET', '/glance/v2/images'),
        }
        self.cloud.down |= down
        self.clock.at(self.began + 30, self.cloud.down.clear)
        self.assertEqual({}, self.wrong())

    def test_for_good(self):
        self.arrive()
        self.cloud.down = {('GET', '/glance/v2/images')}
        [(name, told)] = self.wrong().items()
        self.assertEqual('temporary image', name)
        self.assertIn('not looked at: Glance: GET /images: HTTP 503', told)
        self.cloud.down = {('GET', '/placement/allocations')}
        [(name, told)] = self.wrong().items()
        self.assertEqual('Placement', name)
        self.assertIn('HTTP 503', told)
        self.cloud.down = {('GET', base.SERVER)}
        wrong = self.wrong()
        self.assertEqual(['Nova', 'Placement'], list(wrong))
        self.assertIn('not looked at: Nova: GET ', wrong['Nova'])


class TestVerifyQuery(ChecksTestCase):
    def setUp(self):
        super().setUp()
        self.settings.verify_query = 'works{uuid="{uuid}",host="{host}"}'
        self.prometheus_that_says(1.0)

    def test_all_pass(self):
        self.arrive()
        found = self.check()
        self.assertEqual([], [one for one in found if not one.ok])
        self.assertEqual('true for 30 s', found[-1].text)
        self.assertEqual(30, self.waited)
        self.assertEqual(
            {f'works{{uuid="{base.UUID}",host="n1"}}'}, {*self.queries}
        )
        self.assertEqual(7, len(self.queries))

    def test_stopped(self):
        """No exporter tells of its guest."""
        self.stop_server()
        self.arrive()
        last = self.check()[-1]
        self.assertTrue(last.ok)
        self.assertIn('the server is stopped', last.text)
        self.assertEqual([], self.queries)
        self.settings.verify_query = 'up{instance="{host}"}'
        self.assertEqual('true for 30 s', self.check()[-1].text)
        self.assertEqual({'up{instance="n1"}'}, {*self.queries})

    def test_false(self):
        self.prometheus_that_says(1.0, 0.0)
        self.arrive()
        self.assertEqual(
            {'cell_verify_query': 'cell_verify_query: it gives 0 for {n="1"}'},
            self.wrong(),
        )

    def test_nova_away(self):
        self.arrive()
        self.cloud.down = {('GET', base.SERVER)}
        self.assertIn(
            'cell_verify_query was not asked: Nova: GET ',
            self.wrong()['cell_verify_query'],
        )


class TestReturn(ChecksTestCase):
    def come_back(self):
        self.arrive()
        self.cell_migration.revert(base.UUID)
        self.clock.sleep(AFTER)
        self.nova.get_instance(base.UUID)
        self.began = self.clock()

    def test_all_is_as_it_was(self):
        self.come_back()
        self.assertEqual({}, self.check_return())
        self.assertEqual(0, self.waited)

    def test_of_a_resize_that_was_stopped(self):
        self.stop_server()
        self.resizes()
        self.come_back()
        self.assertEqual({}, self.check_return())

    def test_it_is_not_back(self):
        self.arrive()
        self.assertEqual(
            {'cell', 'host', 'status', 'Placement'}, set(self.check_return())
        )

    def test_room_is_held_still(self):
        self.come_back()
        self.cloud.leftovers = {
            self.migration: {'n1': {'VCPU': 1, 'MEMORY_MB': GIB}}
        }
        self.assertEqual(
            {
                'Placement': 'Placement holds for its migration on '
                'n1.example.org, and not nothing'
            },
            self.check_return(),
        )
        self.cloud.leftovers = {base.UUID: {'n1': {'MEMORY_MB': GIB}}}
        self.assertIn(
            'the server on n1.example.org and o1.example.org instead of',
            self.check_return()['Placement'],
        )

    def test_volume_that_was_attached_meanwhile(self):
        """Nova keeps it."""
        self.come_back()
        self.server.volumes = ['v1']
        self.assertEqual({'volumes'}, set(self.check_return()))
        self.server.asked.append(('attach_volume', 'req-1'))
        self.assertEqual({}, self.check_return())


class TestBefore(ChecksTestCase):
    def test_what_placement_holds(self):
        was = checks.before(self.context, base.UUID)
        self.assertEqual(
            {'o1.example.org': {'VCPU': 1, 'MEMORY_MB': GIB}}, was.held
        )
        self.assertEqual('o1', was.host)

    def test_gone(self):
        self.assertIsNone(checks.before(self.context, base.OTHER))
