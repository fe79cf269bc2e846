# SPDX-License-Identifier: Apache-2.0
"""What does each host weigh, by its aggregates and its samples?"""

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.types import PolicyReadings
from kronos.policies.models import Mode
from kronos.weighers import host_scores, recent_placements
from tests.builders.caches import aggregate, mode, state
from tests.builders.policies import policy, reading

NOW = 1000.0
LOADS = {'a': 0.2, 'b': 0.5, 'c': 0.9}


class BoardTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.placements = recent_placements.RecentPlacements(100.0)
        self.loads = dict(LOADS)
        self.answers = host_scores.PolicyAnswers(
            policies={
                Mode.SPREAD: [policy()],
                Mode.PACK: [policy(mode='pack', capacity_query='c')],
            },
            readings={},
            default_mode=Mode.SPREAD,
            aggregates=[],
            hypervisor_types=['QEMU', 'KVM'],
            settings=Settings(min_host_coverage=0.0),
            step=0.0,
        )

    def build(self, *states):
        """The scores of these, with ``self.loads``."""
        known_hosts = {
            host_state.host: host_scores.KnownHost.of(host_state)
            for host_state in states
        }
        answer = reading(self.loads)
        readings = {'cpu': PolicyReadings(answer, capacity=answer)}
        self.answers.readings = dict.fromkeys(Mode, readings)
        self.placements.note(
            {h: known_host.used for h, known_host in known_hosts.items()}, NOW
        )
        return host_scores.build(
            known_hosts, self.answers, self.placements, NOW, NOW
        )

    def weights(self, *states):
        shown = self.build(*states)
        return {
            host: None if row.spot[2] is None else round(row.spot[2], 6)
            for host, row in shown.rows.items()
        }

    def of_modes(self, **modes_of):
        """The weights of hosts with these modes of their aggregates."""
        return self.weights(
            *(
                state(host, aggregates=[mode(name) for name in modes])
                for host, modes in modes_of.items()
            )
        )


class TestModes(BoardTestCase):
    def test_by_default_that_of_the_file(self):
        self.assertEqual(
            {'a': 0.8, 'b': 0.5, 'c': 0.1}, self.of_modes(a=(), b=(), c=())
        )
        self.answers.default_mode = Mode.PACK
        self.assertEqual(
            {'a': 0.2, 'b': 0.5, 'c': 0.0}, self.of_modes(a=(), b=(), c=())
        )

    def test_by_aggregate(self):
        """Whichever way it is written, and as often as one likes."""
        self.assertEqual(
            {'a': 0.2, 'b': None, 'c': 0.1},
            self.of_modes(
                a=['Pack', ' pack '], b=['OFF'], c=['spread', 'SPREAD ']
            ),
        )
        self.assertEqual({'a': 0.8}, self.of_modes(a=['']))

    def test_other_metadata_means_nothing(self):
        plain = [aggregate('x', zone='pack'), aggregate('y')]
        shown = self.build(state('a', aggregates=plain))
        self.assertEqual(0.8, shown.rows['a'].spot[2])
        self.assertEqual([], shown.troubles)

    def test_modes_that_do_not_fit(self):
        """Neutral, and told by host and value."""
        shown = self.build(
            state('a', aggregates=[mode('pack'), mode('spread')]),
            state('b', aggregates=[mode('off'), mode('spread')]),
            state('c', aggregates=[mode('fill')]),
        )
        self.assertEqual(
            {True}, {row.is_neutral for row in shown.rows.values()}
        )
        self.assertEqual(3, len(shown.troubles))
        for host, message in (
            ('a', 'pack, spread'),
            ('b', 'off, spread'),
            ('c', 'fill'),
        ):
            text = next(
                trouble
                for trouble in shown.troubles
                if trouble.startswith(f'{host}:')
            )
            self.assertIn(f'aggregates is {message}; it must be one of', text)
            self.assertIn('spread, pack, off', text)

    def test_other_hypervisors(self):
        """Those of ironic take no part, and are no trouble."""
        shown = self.build(
            state('a'),
            state('b', kind='ironic'),
            state('c', kind='kvm'),
            state('d', kind=None),
        )
        self.assertEqual(
            {'a': False, 'b': True, 'c': False, 'd': True},
            {host: row.is_neutral for host, row in shown.rows.items()},
        )
        self.assertEqual([], shown.troubles)

    def test_no_host_of_a_planned_type(self):
        """As by a value of hypervisor_types that names none of them."""
        [trouble] = self.build(
            state('a', kind='ironic'),
            state('b', kind='Hyper-V'),
            state('c', kind=None),
        ).troubles
        self.assertEqual(
            'none of 3 hosts has a score: their hypervisor types are Hyper-V, '
            'ironic, unknown, and hypervisor_types is QEMU, KVM; set '
            'hypervisor_types in [kronos] of nova-scheduler',
            trouble,
        )
        off = state('a', kind='ironic', aggregates=[mode('off')])
        self.assertEqual([], self.build(off).troubles)

    def test_no_host_has_a_score(self):
        """Whatever leads to that, there is a reason."""
        self.answers.policies[Mode.SPREAD] = []
        [trouble] = self.build(state('a'), state('b')).troubles
        self.assertIn('none of 2 hosts has a score: no policy', trouble)
        self.answers.policies[Mode.SPREAD] = [policy()]
        for settings in (
            Settings(min_host_coverage=1.0),
            Settings(min_host_coverage=0.0),
        ):
            self.answers.settings = settings
            self.loads = {'elsewhere': 0.5}
            shown = self.build(state('a'), state('b'))
            self.assertEqual(0, shown.scored)
            self.assertNotEqual([], shown.troubles)

    def test_a_mode_without_policies(self):
        """Asked for since the last look: neutral until the next one."""
        del self.answers.policies[Mode.PACK]
        self.assertEqual(
            {'a': None, 'b': 0.5}, self.of_modes(a=['pack'], b=[])
        )


class TestScopes(BoardTestCase):
    def two(self, **more):
        gold, poor = aggregate('gold'), aggregate('poor')
        return self.build(
            state('a', 16, [gold, poor], **more),
            state('b', 16, [poor], **more),
            state('c', 4, [], **more),
        )

    def test_each_has_its_own_load_per_vcpu(self):
        """Of two, the first of [kronos] aggregates, else by name."""
        self.answers.aggregates = ['poor', 'gold']
        rows = self.two().rows
        self.assertAlmostEqual(0.8 - 0.7 / 32, rows['a'].update(17))
        self.assertAlmostEqual(0.5 - 0.7 / 32, rows['b'].update(17))
        self.assertAlmostEqual(0.1 + 1 / 16, rows['c'].update(3))
        self.answers.aggregates = ['gold']
        rows = self.two().rows
        self.assertAlmostEqual(0.8 - 0.2 / 16, rows['a'].update(17))
        self.assertAlmostEqual(0.5 - 0.7 / 32, rows['b'].update(17))
        self.answers.aggregates = []
        rows = self.two().rows
        self.assertAlmostEqual(0.8 - 0.2 / 16, rows['a'].update(17))
        self.assertAlmostEqual(0.5 - 0.7 / 32, rows['b'].update(17))
        self.assertAlmostEqual(0.1 + 1 / 16, rows['c'].update(3))

    def test_a_scope_that_cannot_be_judged(self):
        """Another one can, whatever is configured."""
        self.loads['a'] = 1e308
        for aggregates in ([], ['gold'], ['poor', 'gold']):
            self.answers.aggregates = aggregates
            shown = self.two()
            self.assertTrue(shown.rows['a'].is_neutral)
            self.assertTrue(shown.rows['b'].is_neutral)
            self.assertAlmostEqual(0.1, shown.rows['c'].spot[2])
            self.assertIn('a is at 1e+308', shown.troubles[0])

    def test_an_aggregate_without_exporters(self):
        """It takes nobody's score but its own hosts'."""
        self.answers.settings = Settings()
        bare = [
            state(f'bare{nth}', 8, [aggregate('bare')]) for nth in range(9)
        ]
        states = [state(host, 8, [aggregate('full')]) for host in LOADS]
        alone = self.weights(*states)
        self.assertEqual({'a': 0.8, 'b': 0.5, 'c': 0.1}, alone)
        shown = self.build(*states, *bare)
        for host, row in shown.rows.items():
            weight = row.spot[2] and round(row.spot[2], 6)
            self.assertEqual(alone.get(host), weight, host)
        self.assertEqual(
            {'bare'}, {text.split(':')[0] for text in shown.troubles}
        )

    def test_the_best_of_several(self):
        """An aggregate that holds others may not be judged itself."""
        self.answers.settings = Settings()
        zone, own = aggregate('a-zone'), aggregate('own')
        states = [state(host, 8, [zone, own]) for host in LOADS]
        bare = [state(f'bare{nth}', 8, [zone]) for nth in range(9)]
        shown = self.build(*states, *bare)
        for host, load in LOADS.items():
            self.assertAlmostEqual(1 - load, shown.rows[host].spot[2])
        self.assertTrue(shown.rows['bare0'].is_neutral)
        self.assertEqual(
            {'a-zone'}, {text.split(':')[0] for text in shown.troubles}
        )

    def test_what_nobody_needs_is_no_trouble(self):
        """All hosts are judged in another scope."""
        self.answers.settings = Settings()
        del self.loads['c']
        zone, own = aggregate('a-zone'), aggregate('own')
        shown = self.build(
            *(state(host, 8, [zone, own]) for host in 'ab'),
            state('c', 8, [zone], kind='QEMU'),
        )
        self.assertFalse(shown.rows['a'].is_neutral)
        self.assertIn('a-zone', shown.troubles[0])
        shown = self.build(
            *(state(host, 8, [zone, own]) for host in 'ab'),
            state('c', 8, [zone, mode('off')]),
        )
        self.assertEqual([], shown.troubles)

    def test_a_host_without_a_sample(self):
        """Neutral; told by name."""
        del self.loads['b']
        shown = self.two()
        self.assertTrue(shown.rows['b'].is_neutral)
        self.assertFalse(shown.rows['a'].is_neutral)
        self.assertIn('no value for b', shown.troubles[0])


class TestRows(BoardTestCase):
    def test_what_is_placed_since(self):
        """Against what was in use at the look at Prometheus."""
        self.loads = {'a': 0.5}
        row = self.build(state('a', used=8)).rows['a']
        self.assertEqual((8.0, 0.5), row.spot[::2])
        for used, weight in ((10, 0.375), (8, 0.5), (4, 0.75), (32, 0.0)):
            self.assertAlmostEqual(weight, row.update(used))
            self.assertEqual((used, weight), row.spot[::2])

    def test_what_was_placed_before(self):
        self.loads = {'a': 0.25}
        self.placements.note({'a': 4}, NOW - 50)
        self.placements.note({'a': 8}, NOW - 50)
        row = self.build(state('a', used=8)).rows['a']
        # 4 came 50 s ago and are half in the samples, which show 6.
        self.assertAlmostEqual(0.75 - 2 * 0.25 / 6, row.spot[2])
        self.assertAlmostEqual(0.75 - 4 * 0.25 / 6, row.update(10))

    def test_unseen_for_long(self):
        """What is seen first is where it starts."""
        self.loads = {'a': 0.5}
        known_hosts = {'a': host_scores.KnownHost([], 'QEMU', 16.0, 8.0)}
        self.placements.note({'a': 8.0}, NOW - 3600)
        answer = PolicyReadings(reading(self.loads))
        self.answers.readings = {Mode.SPREAD: {'cpu': answer}}
        row = host_scores.build(
            known_hosts, self.answers, self.placements, NOW, NOW
        ).rows['a']
        self.assertAlmostEqual(0.5, row.update(12))
        self.assertAlmostEqual(0.375, row.update(14))
