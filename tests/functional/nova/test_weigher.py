# SPDX-License-Identifier: Apache-2.0
"""Where does a real Nova put servers by the scores of Kronos?"""

import collections

from tests.functional.nova import weighing


class TestSpread(weighing.WeighingTestCase):
    def test_boots_follow_the_loads(self):
        """The calmest host, whatever it was before."""
        self.begin()
        self.assertEqual('host2', self.new())
        self.give(host1=0.1, host2=0.8, host3=0.6)
        self.assertEqual('host1', self.new())
        self.give(host1=0.5, host2=0.8, host3=0.1)
        self.assertEqual(['host3', 'host3'], [self.new(), self.new()])

    def test_migrations_without_a_host(self):
        """Live and cold."""
        self.begin()
        server = self.boot('host2', flavor_id=self.small)
        server = self._live_migrate(server, api=self.admin_api)
        self.assertEqual('host1', server['OS-EXT-SRV-ATTR:host'])
        self.give(host1=0.1, host2=0.7, host3=0.2)
        server = self._migrate_server(server, api=self.admin_api)
        self.assertEqual('host3', server['OS-EXT-SRV-ATTR:host'])

    def test_resizes_and_unshelves(self):
        """Whoever asks the scheduler for a host."""
        self.begin()
        server = self.boot('host2', flavor_id=self.small)
        server = self._resize_server(server, self.flavor())
        self.assertEqual('host1', server['OS-EXT-SRV-ATTR:host'])
        server = self._confirm_resize(server)
        server = self._shelve_server(server)
        self.give(host1=0.7, host2=0.6, host3=0.1)
        server = self._unshelve_server(server)
        server = self.admin_api.get_server(server['id'])
        self.assertEqual('host3', server['OS-EXT-SRV-ATTR:host'])

    def test_many_at_once(self):
        """Each of them knows of those before."""
        loads = {'host1': 0.05, 'host2': 0.10, 'host3': 0.15}
        self.begin(vcpus=2)
        self.give(**loads)
        self._create_servers(6)
        # The scope shows half a vCPU per vCPU: 0.1 of a host per server.
        placed = collections.Counter(
            server['OS-EXT-SRV-ATTR:host']
            for server in self.admin_api.get_servers(
                search_opts={'name': 'many'}
            )
        )
        self.assertEqual(6, sum(placed.values()))
        after = [loads[host] + 0.1 * placed[host] for host in loads]
        self.assertLessEqual(max(after) - min(after), 0.1 + 1e-9)

    def _create_servers(self, number):
        body = self._build_server(
            name='many', networks='none', flavor_id=self.small
        )
        body |= {'min_count': number, 'max_count': number}
        self.api.post_server({'server': body})
        self.until(
            'all are active',
            lambda: (
                [
                    server['status']
                    for server in self.api.get_servers(
                        search_opts={'name': 'many'}
                    )
                ]
                == ['ACTIVE'] * number
            ),
        )


class TestPack(weighing.WeighingTestCase):
    mode = 'pack'
    loads = {'host1': 0.3, 'host2': 0.1, 'host3': 0.6}

    def test_boots_fill_hosts(self):
        """The fullest below its ceiling, and no full one."""
        self.begin()
        self.assertEqual('host3', self.new())
        self.give(host1=0.0, host2=0.82, host3=0.9)
        self.assertEqual('host1', self.new())


class TestAggregates(weighing.WeighingTestCase):
    def setUp(self):
        super().setUp()
        self.begin()
        self.aggregate = self._create_aggregate('gold')
        for host in self.hosts:
            self.admin_api.add_host_to_aggregate(self.aggregate, host)

    def tell(self, **metadata):
        """Change the metadata of the aggregate while Nova runs."""
        body = {'set_metadata': {'metadata': metadata}}
        self.admin_api.post_aggregate_action(self.aggregate, body)
        # By the first request it is seen, by the next one it is used.
        self.tried()
        self.refreshed()

    def test_mode(self):
        """It is read with each request."""
        self.assertEqual('host2', self.tried())
        self.tell(kronos_mode='pack')
        self.assertEqual('host3', self.tried())
        self.tell(kronos_mode='Spread')
        self.assertEqual('host2', self.tried())
        self.tell(kronos_mode='sideways')
        self.assertIn(self.tried(), self.hosts)
        self.until(
            'it is told',
            lambda: 'aggregates is sideways' in self.stdlog.logger.output,
        )

    def test_multiplier(self):
        """By Nova's own convention, nonsense included."""
        for value, chosen in (
            ('-10', 'host3'),
            ('10', 'host2'),
            ('nan', 'host2'),
            ('much', 'host2'),
        ):
            self.tell(kronos_weight_multiplier=value)
            self.assertEqual(chosen, self.tried(), value)


class TestWithoutExporters(weighing.WeighingTestCase):
    """Host3 is in an aggregate without exporters; no option names any."""

    loads = {'host1': 0.3, 'host2': 0.1}

    def test_the_others_are_weighed(self):
        """As an audit of their own aggregate would."""
        for name, hosts in (('full', self.hosts[:2]), ('bare', ['host3'])):
            aggregate = self._create_aggregate(name)
            for host in hosts:
                self.admin_api.add_host_to_aggregate(aggregate, host)
        self.begin()
        self.assertEqual('host2', self.new())
        self.give(host1=0.1, host2=0.8)
        self.assertEqual('host1', self.new())
        self.assertIn('bare: policy cpu', self.stdlog.logger.output)
        self.assertNotIn('full: policy cpu', self.stdlog.logger.output)


class TestFaults(weighing.WeighingTestCase):
    def test_what_prometheus_may_answer(self):
        """Every boot succeeds, and when it is well, scores count."""
        self.begin()
        wire = self.prometheus
        for loads in (
            dict.fromkeys(self.hosts, 'NaN'),
            dict.fromkeys(self.hosts, 1e308),
            [('host1', 0.1), ('host1', 0.2), ('host2', 0), ('host3', 0)],
            {},
        ):
            wire.give(loads)
            self.refreshed()
            self.assertIn(self.new(), self.hosts)
        self.give(host1=0.9, host2=0.9, host3=0.1)
        self.assertEqual('host3', self.new())
        for status, body in (
            (200, '<html>Please log in</html>'),
            (503, 'busy'),
            (500, '{"status": "error", "error": "out of memory"}'),
        ):
            wire.tell(status=status, body=body)
            self.refreshed()
            # Last good scores.
            self.assertEqual('host3', self.new())
        self.give(host1=0.9, host2=0.1, host3=0.9)
        self.assertEqual('host2', self.new())

    def test_a_black_hole(self):
        """Nobody waits for it."""
        self.prometheus.tell(mute=True)
        for _ in range(3):
            self.assertIn(self.new(), self.hosts)
        self.until('it is asked', lambda: self.prometheus.seen['asked'])

    def test_nobody_there(self):
        self.prometheus.stop()
        for _ in range(3):
            self.assertIn(self.new(), self.hosts)
        self.until(
            'it is told',
            lambda: (
                'its scores are not available' in self.stdlog.logger.output
            ),
        )

    def test_a_policies_file_that_is_broken(self):
        """The last good one counts; it is told by name."""
        self.begin()
        self.file.write_text('policies: [5]')
        self.until(
            'it is told', lambda: str(self.file) in self.stdlog.logger.output
        )
        self.assertEqual('host2', self.new())
        server = self._live_migrate(
            self.boot('host2', flavor_id=self.small), api=self.admin_api
        )
        self.assertEqual('host1', server['OS-EXT-SRV-ATTR:host'])
        self.assertNotIn('Traceback', self.stdlog.logger.output)
