# SPDX-License-Identifier: Apache-2.0
"""Does kronos-test-config tell how the weigher fares?

What a process with Nova in it says is written down here; the functional
tests ask a real one.
"""

from typing import Any

import fixtures

from kronos.cmd.checks.subprocess_probe import InspectionError
from tests.unit.cmd.checking import HOSTS, CheckTestCase

CLASSES = (
    '[filter_scheduler]\n'
    'weight_classes = nova.scheduler.weights.all_weighers,'
    'kronos.weighers.load.KronosWeigher\n'
)


class TestWeigher(CheckTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.roles('admin')
        self.weighers = self.answer_of()

    def answer_of(self, **fields: Any) -> dict[str, Any]:
        """What nova-scheduler would load; all is well."""
        return {
            'error': '',
            'is_enabled': True,
            'faults': [],
            'multiplier': 100.0,
            'weighers': [
                {'name': 'RAMWeigher', 'multiplier': 1.0},
                {'name': 'BuildFailureWeigher', 'multiplier': -1e6},
                {'name': 'KronosWeigher', 'multiplier': 100.0},
            ],
            'scores': dict.fromkeys(HOSTS, 0.5),
            'troubles': [],
            **fields,
        }

    def weigher(self, *arguments: str, more: str = CLASSES) -> dict[str, Any]:
        nova = self.conf('nova.conf', more=more)
        return self.check('--nova-config', nova, *arguments)

    def text(self, code: str, **fields: Any) -> str:
        """What is told of an answer, as an error."""
        self.weighers = self.answer_of(**fields)
        result = self.finding(self.weigher(), code)
        self.assertEqual('error', result['level'])
        return str(result['text'])

    def test_an_interval_that_is_too_long(self) -> None:
        """Of nova-compute, if it has the same file."""
        more = f'{CLASSES}\n[libvirt]\nlive_migration_monitor_interval = 200'
        report = self.weigher(more=more)
        result = self.finding(report, 'monitor-interval')
        self.assertEqual('warning', result['level'])

    def test_good(self) -> None:
        report = self.weigher()
        self.assertEqual({'watcher-unasked': 'note'}, self.codes(report))
        [ram, failures, ours] = report['weigher']['weighers']
        self.assertAlmostEqual(0.01, ram['worth_in_load'])
        self.assertEqual(1e4, failures['worth_in_load'])
        self.assertNotIn('worth_in_load', ours)

    def test_other_options_than_those_tested(self) -> None:
        """Only what the weigher looks at counts."""
        nova = self.conf(
            'nova.conf',
            more=CLASSES,
            cooldown=7,
            min_host_coverage=0.7,
            refresh_seconds=9,
        )
        report = self.check('--nova-config', nova)
        text = self.finding(report, 'config-differs')['text']
        self.assertIn('nova.conf', text)
        self.assertIn('[kronos] min_host_coverage (0.7,', text)
        self.assertNotIn('cooldown', text)
        self.assertNotIn('refresh_seconds', text)

    def test_what_is_asked(self) -> None:
        """The hosts with their aggregates; offline nothing of Prometheus."""
        self.weigher()
        _, request = self.inspected[-1]
        self.assertTrue(request['asks'])
        self.assertEqual(
            [(host, ['a']) for host in HOSTS],
            [(one['name'], one['aggregates']) for one in request['hosts']],
        )
        self.weigher('--offline')
        _, request = self.inspected[-1]
        self.assertFalse(request['asks'])
        self.assertEqual([], request['hosts'])

    def test_it_is_not_enabled(self) -> None:
        """By what Nova loads."""
        self.assertIn(
            'weight_classes', self.text('weigher-disabled', is_enabled=False)
        )

    def test_without_nova(self) -> None:
        """By the file alone."""
        self.useFixture(
            fixtures.MonkeyPatch('importlib.util.find_spec', lambda _: None)
        )
        report = self.weigher()
        self.assertEqual('note', self.codes(report)['nova-absent'])
        self.assertTrue(report['good'])
        report = self.weigher(more='')
        self.assertEqual('error', self.codes(report)['weigher-disabled'])

    def test_it_cannot_be_loaded(self) -> None:
        text = self.text('weigher-load', error='ImportError: no Thing')
        self.assertIn('would fail to start: ImportError: no Thing', text)
        self.weighers = InspectionError('no end')
        result = self.finding(self.weigher(), 'weigher-load')
        self.assertIn('no end', result['text'])

    def test_its_options(self) -> None:
        text = self.text('config-invalid', faults=['[kronos] x: no'])
        self.assertIn('nova-scheduler: [kronos] x: no', text)

    def test_its_strength(self) -> None:
        """Beside the others, the rare ones left out."""
        for multiplier, words in (
            (0.0, 'no effect'),
            (-1.0, 'would relieve'),
        ):
            text = self.text('weigher-multiplier', multiplier=multiplier)
            self.assertIn(words, text)
        self.weighers = self.answer_of(multiplier=5.0)
        report = self.weigher()
        result = self.finding(report, 'weigher-weak')
        self.assertEqual('warning', result['level'])
        self.assertIn(
            'RAMWeigher (1, as much as 0.20 of load)', result['text']
        )
        self.assertNotIn('BuildFailure', result['text'])

    def test_its_scores(self) -> None:
        text = self.text('weigher-scores', scores_error='no Prometheus')
        self.assertIn('no Prometheus', text)
        text = self.text('weigher-scores', scores=dict.fromkeys(HOSTS))
        self.assertIn('no host has a score', text)
        self.weighers = self.answer_of(
            scores={'a1': 0.5, 'a2': 0.4, 'a3': None}, troubles=['why not']
        )
        result = self.finding(self.weigher(), 'weigher-neutral')
        self.assertIn(
            '1 of 3 hosts have no score, a3: why not', result['text']
        )

    def test_a_name_that_means_nothing(self) -> None:
        """In nova.conf, too."""
        report = self.weigher(more=CLASSES + '[kronos]\nweight_multiplyer = 1')
        text = self.finding(report, 'option-unknown')['text']
        self.assertIn('nova.conf: [kronos] weight_multiplyer', text)

    def test_multipliers_of_aggregates(self) -> None:
        rows = [
            {
                'id': 1,
                'uuid': 'u',
                'name': 'a',
                'hosts': list(HOSTS),
                'metadata': {'kronos_weight_multiplier': '7'},
                'availability_zone': None,
            }
        ]
        self.aggregates(*rows)
        report = self.weigher()
        self.assertEqual(
            {'a': '7'}, report['weigher']['multipliers_of_aggregates']
        )
