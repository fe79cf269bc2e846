# SPDX-License-Identifier: Apache-2.0
"""What can be told of a plan before it starts."""

import fixtures
from oslo_concurrency import processutils
from oslo_config import cfg
from oslo_config import fixture as config_fixture
from oslotest import base
from watcher.applier.workflow_engine import default

from kronos.planners import forecast
from tests.watcher_tests import base as watcher_base

CONF = cfg.CONF
GROUP = 'watcher_workflow_engines.taskflow'


def plan(*parents, scope='alpha', into='h0'):
    """Moves from h1, h2, ... to a host."""
    trips = [
        forecast.ActionTrip(scope, f'h{number}', into or f'd{number}')
        for number, _ in enumerate(parents, start=1)
    ]
    return forecast.Forecast(trips, [*parents])


class ForecastTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.allow(9)

    def allow(self, number):
        """Moves of a scope at a time."""
        config = self.useFixture(config_fixture.Config(CONF))
        config.config(group='kronos', max_concurrent_migrations=number)

    def test_trip(self):
        told = {
            'aggregate': 'alpha',
            'source_node': 'h1',
            'destination_node': 'h2',
            'sequence': 1,
        }
        self.assertEqual(
            forecast.ActionTrip('alpha', 'h1', 'h2'),
            forecast.ActionTrip.of(told),
        )

    def test_side_by_side(self):
        """By the rules and by the limits."""
        self.assertEqual(3, plan([], [], [], into='').side_by_side)
        self.assertEqual(1, plan([], [0], [1], into='').side_by_side)
        self.assertEqual(2, plan([], [], []).side_by_side)
        self.allow(1)
        self.assertEqual(1, plan([], [], []).side_by_side)

    def test_length(self):
        """As laid out, and where fewer workers are at it."""
        found = plan([], [], [0])
        self.assertEqual(2, found.length())
        self.assertEqual(3, found.length(1))

    def test_at_least(self):
        """All go to one host, which takes two at a time."""
        found = plan([], [], [], [], [])
        self.assertEqual((3, 3), (found.at_least(), found.length()))
        self.allow(1)
        found = plan([], [], [], [], [])
        self.assertEqual((5, 5), (found.at_least(), found.length()))

    def test_seconds(self):
        """As laid out: two after one another, and one beside them."""
        trips = [
            forecast.ActionTrip('alpha', 'h1', 'h2'),
            forecast.ActionTrip('alpha', 'h1', 'h2'),
            forecast.ActionTrip('beta', 'h3', 'h2'),
        ]

        def found(**pace):
            return forecast.Forecast(trips, [[], [], []], pace)

        self.assertEqual(60, found(alpha=30.0, beta=20.0).seconds())
        self.assertEqual(90, found(alpha=30.0, beta=90.0).seconds())
        self.assertIsNone(found(alpha=30.0).seconds())
        self.assertIsNone(plan([]).seconds())

    def test_order(self):
        """That of the starts; at the same time that of the plan."""
        self.assertEqual([0, 2, 1, 3], plan([], [0], [], [2], into='').order)


class MaxWorkersTestCase(watcher_base.TestCase):
    def configured(self, line):
        """Let the process have read a file; nobody registered the option."""
        folder = self.useFixture(fixtures.TempDir()).path
        with open(f'{folder}/watcher.conf', 'w') as file:
            file.write(f'[{GROUP}]\n{line}\n')
        CONF.set_override('config_file', [file.name])
        self.addCleanup(CONF.clear_override, 'config_file')

    def test_the_default_is_the_number_of_processors(self):
        self.configured('')
        self.assertEqual(
            processutils.get_worker_count(), forecast.max_workers()
        )
        known = GROUP in CONF and 'max_workers' in CONF[GROUP]
        self.assertFalse(known)

    def test_a_registered_option_is_read_where_it_is(self):
        options = default.DefaultWorkFlowEngine.get_config_opts()
        self.useFixture(config_fixture.Config(CONF)).register_opts(
            options, GROUP
        )
        CONF.set_override('max_workers', 7, GROUP)
        self.addCleanup(CONF.clear_override, 'max_workers', GROUP)
        self.assertEqual(7, forecast.max_workers())
