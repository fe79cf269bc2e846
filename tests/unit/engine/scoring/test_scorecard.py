# SPDX-License-Identifier: Apache-2.0
"""Who takes part, and how even it is."""

import copy
import math

from oslotest import base

from kronos.engine.eligibility import hosts
from kronos.engine.scoring import scorecard
from kronos.engine.settings import HostMatch, PartialAnswers, Settings
from kronos.engine.types import (
    Health,
    PolicyReadings,
    Reading,
    Sample,
    StopReason,
)
from tests.builders import policies as build

NAN, INF = math.nan, math.inf


def score(snapshot, *policies, **settings):
    return scorecard.score(
        snapshot, policies or [build.policy()], Settings(**settings)
    )


def even(count, value=0.5):
    return {f'cmp{i:02}': value for i in range(count)}


class TestValues(base.BaseTestCase):
    def test_imbalance_is_max_minus_min(self):
        """The normalised values are for show."""
        card = score(build.snapshot({'cpu': {'a': 0.2, 'b': 0.7, 'c': 0.3}}))
        (result,) = card.results
        self.assertAlmostEqual(0.5, result.imbalance_before)
        self.assertAlmostEqual(0.5, result.imbalance_after)
        self.assertEqual(
            [('a', 0.2, 0.0), ('b', 0.7, 1.0), ('c', 0.3, 0.2)],
            [
                (one.host, one.value, round(one.normalized, 9))
                for one in result.scores
            ],
        )
        self.assertEqual({'cpu': {'a': 0.2, 'b': 0.7, 'c': 0.3}}, card.values)
        self.assertEqual(
            (None, '', {}, []),
            (card.blocked, card.reason, card.excluded, card.warnings),
        )

    def test_equal_hosts_normalise_to_zero(self):
        card = score(build.snapshot({'cpu': even(3)}))
        self.assertEqual(
            [0.0] * 3, [s.normalized for s in card.results[0].scores]
        )
        self.assertEqual(0.0, card.results[0].imbalance_before)

    def test_combined_is_the_weighted_sum(self):
        """The weighted sum, with weights that sum to 1 as they are."""
        card = score(
            build.snapshot(
                {'cpu': {'a': 0.1, 'b': 0.5}, 'mem': {'a': 0.9, 'b': 0.7}}
            ),
            build.policy('cpu', 0.75),
            build.policy('mem', 0.25),
        )
        combined = sum(r.weight * r.imbalance_before for r in card.results)
        self.assertAlmostEqual(0.75 * 0.4 + 0.25 * 0.2, combined)

    def test_results_keep_the_order_of_the_file(self):
        """A disabled policy is neither scored nor reported."""
        card = score(
            build.snapshot({'mem': even(2), 'cpu': even(2)}),
            build.policy('mem', 0.5),
            build.policy('net', 0.9, enabled=False),
            build.policy('cpu', 0.5),
        )
        self.assertEqual(['mem', 'cpu'], [r.name for r in card.results])
        self.assertEqual([0.5, 0.5], [r.weight for r in card.results])

    def test_snapshot_is_left_alone_and_order_does_not_matter(self):
        scores = {'cpu': {'a': 0.1, 'b': 0.5, 'c': 0.4}}
        snapshot = build.snapshot(scores)
        before = copy.deepcopy(snapshot)
        card = score(snapshot)
        self.assertEqual(before, snapshot)
        snapshot.readings['cpu'].imbalance.samples.reverse()
        snapshot.hosts = dict(reversed(snapshot.hosts.items()))
        again = score(snapshot)
        self.assertEqual(card, again)
        self.assertEqual(list(card.values['cpu']), list(again.values['cpu']))


class TestContract(base.BaseTestCase):
    """What makes a policy unusable, and for which reason."""

    def skip_reason(self, values, **fields):
        snapshot = build.snapshot(
            {'cpu': even(2), 'mem': even(2)}, hosts=['cmp00', 'cmp01']
        )
        snapshot.readings['mem'].imbalance = build.reading(values, **fields)
        card = score(
            snapshot, build.policy('cpu', 0.75), build.policy('mem', 0.25)
        )
        cpu, mem = card.results
        if mem.skipped:
            self.assertEqual((1.0, 0.0), (cpu.weight, mem.weight))
            self.assertEqual(['cpu'], list(card.values))
            self.assertEqual(([], 0.0), (mem.scores, mem.imbalance_before))
            self.assertEqual({}, card.excluded)
        self.assertEqual(('', None), (cpu.skipped, card.blocked))
        return mem.skipped

    def test_out_of_range(self):
        rule = 'policy mem: imbalance_query: must be in [0, 1] for every host'
        for value, text in [
            (1.2, '1.2'),
            (-0.01, '-0.01'),
            (55, '55'),
            (1 + 1e-8, '1'),
        ]:
            self.assertEqual(
                f'{rule}, but cmp01 is at {text}',
                self.skip_reason({'cmp00': 0.1, 'cmp01': value}),
            )
        self.assertEqual(
            f'{rule}, but cmp00 is at 40, cmp01 is at 50',
            self.skip_reason({'cmp00': 40, 'cmp01': 50}),
        )

    def test_rounding_is_clamped(self):
        for value, used in [(-1e-10, 0.0), (1 + 1e-10, 1.0), (0, 0.0)]:
            card = score(build.snapshot({'cpu': {'a': 0.5, 'b': value}}))
            self.assertEqual(used, card.values['cpu']['b'])
            self.assertEqual('', card.results[0].skipped)

    def test_foreign_series_change_nothing(self):
        """Out of range and twice as they may be."""
        plain = build.snapshot({'cpu': even(2)})
        noisy = copy.deepcopy(plain)
        noisy.readings['cpu'].imbalance.samples += [
            Sample('other', 37.0, 100.0),
            Sample('other', 38.0, 100.0),
        ]
        card, again = score(plain), score(noisy)
        self.assertEqual(['other'], again.results[0].unmatched_labels)
        again.results[0].unmatched_labels = []
        self.assertEqual(card, again)

    def test_list_of_foreign_labels_is_bounded(self):
        snapshot = build.snapshot({'cpu': even(2)})
        snapshot.readings['cpu'].imbalance.samples += [
            Sample(f'x{i:03}', 0.5, 1.0) for i in range(500)
        ]
        unmatched = score(snapshot).results[0].unmatched_labels
        self.assertEqual([f'x{i:03}' for i in range(20)], unmatched)

    def test_two_series_for_one_host_name_both(self):
        snapshot = build.snapshot({'cpu': even(2)})
        snapshot.readings['cpu'].imbalance.samples = [
            Sample('cmp00', 0.5, 1.0),
            Sample('cmp01', 0.25, 1.0, '{host="cmp01",job="a"}'),
            Sample('cmp01', 0.5, 1.0, '{host="cmp01",job="b"}'),
        ]
        card = score(snapshot)
        self.assertEqual(
            'policy cpu: imbalance_query: two series for host cmp01: '
            '{host="cmp01",job="a"} = 0.25 and {host="cmp01",job="b"} = 0.5; '
            'aggregate them in the query',
            card.results[0].skipped,
        )

    def test_contract_holds_for_frozen_hosts_too(self):
        snapshot = build.snapshot({'cpu': {'a': 0.1, 'b': 0.2, 'c': 37.0}})
        snapshot.services['c'].state = 'down'
        self.assertIn('c is at 37', score(snapshot).results[0].skipped)

    def test_nan_and_inf_are_missing(self):
        """Also beside a number of the same host: it is no second series."""
        for value in (NAN, INF, -INF):
            card = score(build.snapshot({'cpu': {**even(10), 'cmp07': value}}))
            result = card.results[0]
            self.assertEqual('', result.skipped)
            self.assertEqual(['cmp07'], result.missing_hosts)
            self.assertEqual(Health.PARTIAL, result.health)
            self.assertEqual(9, len(card.values['cpu']))
            snapshot = build.snapshot({'cpu': even(2)})
            snapshot.readings['cpu'].imbalance.samples.append(
                Sample('cmp00', value, 100.0)
            )
            self.assertEqual(Health.HEALTHY, score(snapshot).results[0].health)

    def test_no_series_at_all(self):
        self.assertEqual(
            'policy mem: imbalance_query: 0 of 2 available hosts have a '
            'fresh, usable value, min_host_coverage is 0.9; without: cmp00, '
            'cmp01',
            self.skip_reason({}),
        )

    def test_a_partial_answer(self):
        """It is used with a warning, or not at all."""
        snapshot = build.snapshot({'cpu': even(3), 'mem': even(3)})
        reading = snapshot.readings['cpu'].imbalance
        reading.health, reading.incomplete = Health.PARTIAL, 'store 2'
        policies = [build.policy('cpu', 0.5), build.policy('mem', 0.5)]
        card = score(snapshot, *policies)
        self.assertEqual(['cpu', 'mem'], list(card.values))
        self.assertIs(Health.PARTIAL, card.results[0].health)
        [text] = card.warnings
        self.assertIn(
            'policy cpu: imbalance_query: the answer is partial (store 2), so '
            'series may be missing from it, and sums over it are too small',
            text,
        )
        card = score(snapshot, *policies, partial_answers=PartialAnswers.SKIP)
        self.assertEqual(['mem'], list(card.values))
        self.assertIn('the answer is partial', card.results[0].skipped)
        self.assertIn('partial_answers is skip', card.results[0].skipped)
        self.assertEqual([], card.warnings)

    def test_series_without_the_label(self):
        """min_host_coverage decides, and a plan says what is left out."""
        snapshot = build.snapshot({'cpu': even(3)})
        reading = snapshot.readings['cpu'].imbalance
        reading.unlabelled, reading.unlabelled_series = 2, 'up{job="db"}'
        card = score(snapshot)
        self.assertIsNone(card.blocked)
        [text] = card.warnings
        self.assertIn(
            '2 series of the answer have no label "host" and are left out, '
            'such as up{job="db"}; add {host!=""} to the selectors',
            text,
        )

    def test_no_reading(self):
        snapshot = build.snapshot({'cpu': even(2)})
        card = score(
            snapshot, build.policy('cpu', 0.5), build.policy('mem', 0.5)
        )
        self.assertEqual(
            'policy mem: imbalance_query: it was not queried',
            card.results[1].skipped,
        )

    def test_stale_or_unreachable(self):
        for health in (Health.STALE, Health.UNREACHABLE):
            self.assertEqual(
                'policy mem: imbalance_query: what it was',
                self.skip_reason({}, health=health, error='what it was'),
            )
            self.assertEqual(
                f'policy mem: imbalance_query: {health}',
                self.skip_reason(even(2), health=health),
            )

    def test_profile_or_capacity_that_failed(self):
        for query in ('vm_profile_query', 'host_capacity_query'):
            bad = Reading('q', Health.UNREACHABLE, error='no route')
            snapshot = build.snapshot({'cpu': even(2)})
            readings = snapshot.readings['cpu']
            readings.profile = readings.host_capacity = build.reading(even(2))
            name = query.removeprefix('vm_').removesuffix('_query')
            setattr(readings, name, bad)
            card = score(snapshot, build.policy(host_capacity_query='cores'))
            self.assertEqual(
                (f'policy cpu: {query}: no route', Health.UNREACHABLE),
                (card.results[0].skipped, card.results[0].health),
            )

    def test_ranking_needs_no_profile(self):
        snapshot = build.snapshot({'cpu': even(2)})
        snapshot.readings['cpu'].profile = None
        self.assertIsNone(score(snapshot).blocked)


class TestCoverage(base.BaseTestCase):
    """How many hosts must have a fresh sample."""

    def test_at_the_limit(self):
        for missing, skipped in [(0, False), (1, False), (2, True)]:
            values = dict(list(even(10).items())[missing:])
            snapshot = build.snapshot({'cpu': values}, hosts=list(even(10)))
            card = score(snapshot)
            result = card.results[0]
            self.assertEqual(skipped, bool(result.skipped), missing)
            self.assertEqual(list(even(missing)), result.missing_hosts)
            self.assertEqual(
                Health.PARTIAL if missing else Health.HEALTHY, result.health
            )
        self.assertEqual(
            'policy cpu: imbalance_query: 8 of 10 available hosts have a '
            'fresh, usable value, min_host_coverage is 0.9; without: cmp00, '
            'cmp01',
            result.skipped,
        )

    def test_only_available_hosts_are_counted(self):
        snapshot = build.snapshot(
            {'cpu': {'a': 0.1, 'b': 0.2}}, hosts=['a', 'b', 'c', 'd']
        )
        snapshot.services['c'].state = 'down'
        snapshot.services['d'].status = 'disabled'
        card = score(snapshot)
        self.assertEqual('', card.results[0].skipped)
        self.assertEqual([], card.results[0].missing_hosts)
        self.assertEqual(Health.HEALTHY, card.results[0].health)
        self.assertEqual(
            {
                'c': 'nova-compute is down',
                'd': 'nova-compute is disabled (no reason given)',
            },
            card.excluded,
        )

    def test_zero_coverage_still_needs_a_host(self):
        card = score(
            build.snapshot({'cpu': {}}, hosts=['a', 'b']), min_host_coverage=0
        )
        self.assertIn('0 of 2 available hosts', card.results[0].skipped)

    def test_gap_in_one_policy_freezes_the_host_for_all(self):
        """So that each policy is judged over the same hosts."""
        values = {**even(9), 'hot': 0.9}
        card = score(
            build.snapshot({'cpu': values, 'mem': even(9)}),
            build.policy('cpu', 0.5),
            build.policy('mem', 0.5),
        )
        self.assertEqual(
            {'hot': 'policy mem has no fresh sample for it'},
            card.excluded,
        )
        self.assertEqual(sorted(even(9)), list(card.values['cpu']))
        self.assertEqual(0.0, card.results[0].imbalance_before)
        self.assertEqual(
            ['policy mem: imbalance_query: no value for hot'], card.warnings
        )

    def test_gap_in_two_policies_names_the_first(self):
        card = score(
            build.snapshot(
                {'cpu': even(9), 'mem': even(9)}, hosts=[*even(9), 'new']
            ),
            build.policy('cpu', 0.5),
            build.policy('mem', 0.5),
        )
        self.assertEqual(
            {'new': 'policy cpu has no fresh sample for it'},
            card.excluded,
        )

    def test_gap_in_a_skipped_policy_freezes_nobody(self):
        card = score(
            build.snapshot({'cpu': even(3), 'mem': even(1)}),
            build.policy('cpu', 0.5),
            build.policy('mem', 0.5),
        )
        self.assertEqual({}, card.excluded)
        self.assertIn('1 of 3', card.results[1].skipped)


class TestHostMatch(base.BaseTestCase):
    def snapshot(self):
        return build.snapshot(
            {'cpu': {'cmp1:9100': 0.25, 'cmp2.dc:9100': 0.5, 'x:1': 0.5}},
            hosts=['cmp1', 'cmp2'],
        )

    def test_exact_says_what_would_match(self):
        card = score(self.snapshot())
        result = card.results[0]
        self.assertEqual(['cmp1', 'cmp2'], result.missing_hosts)
        self.assertEqual(
            ['cmp1:9100', 'cmp2.dc:9100', 'x:1'], result.unmatched_labels
        )
        self.assertEqual(
            [
                'policy cpu: imbalance_query: no value for cmp1, cmp2; there '
                "is 'cmp1:9100', which [kronos] host_match = short would match"
            ],
            card.warnings,
        )
        self.assertEqual(StopReason.NO_POLICY, card.blocked)

    def test_what_would_match_is_found_among_many(self):
        snapshot = self.snapshot()
        snapshot.readings['cpu'].imbalance.samples += [
            Sample(f'a{i:03}:9100', 0.5, 1.0) for i in range(100)
        ]
        (warning,) = score(snapshot).warnings
        self.assertIn("there is 'cmp1:9100'", warning)

    def test_short_matches(self):
        card = score(self.snapshot(), host_match=HostMatch.SHORT)
        self.assertEqual({'cpu': {'cmp1': 0.25, 'cmp2': 0.5}}, card.values)
        self.assertEqual(['x:1'], card.results[0].unmatched_labels)
        self.assertEqual([], card.warnings)

    def test_ambiguous_label_is_said(self):
        snapshot = build.snapshot(
            {'cpu': {**even(9), 'cmp1': 0.5}},
            hosts=[*even(9), 'cmp1.a', 'cmp1.b'],
        )
        card = score(
            snapshot, host_match=HostMatch.SHORT, min_host_coverage=0.5
        )
        self.assertEqual(
            [
                "policy cpu: imbalance_query: label 'cmp1' is not used: it "
                'cannot be distinguished from cmp1.a, cmp1.b',
                'policy cpu: imbalance_query: no value for cmp1.a, cmp1.b',
            ],
            card.warnings,
        )
        self.assertEqual(['cmp1'], card.results[0].unmatched_labels)

    def test_two_ports_of_one_host_are_two_series(self):
        snapshot = build.snapshot(
            {'cpu': {'a:1': 0.1, 'a:2': 0.2, 'b': 0.5}}, hosts=['a', 'b']
        )
        card = score(snapshot, host_match=HostMatch.SHORT)
        self.assertIn(
            'two series for host a: a:1 = 0.1 and a:2 = 0.2',
            card.results[0].skipped,
        )


class TestHostCapacity(base.BaseTestCase):
    def score(self, capacities, hosts=10, **settings):
        snapshot = build.snapshot({'cpu': even(hosts)})
        snapshot.readings['cpu'].host_capacity = capacities
        return score(
            snapshot, build.policy(host_capacity_query='cores'), **settings
        )

    def test_capacities_are_kept(self):
        card = self.score(build.reading({**even(9, 64), 'cmp09': 32}))
        self.assertEqual({**even(9, 64), 'cmp09': 32}, card.capacities['cpu'])

    def test_host_without_one_is_frozen(self):
        for value in (0.0, -8, NAN, INF):
            card = self.score(build.reading({**even(10, 64), 'cmp03': value}))
            self.assertEqual(
                {
                    'cmp03': 'policy cpu: host_capacity_query has no value '
                    'above 0 for it'
                },
                card.excluded,
            )
            self.assertEqual(9, len(card.values['cpu']))

    def test_too_many_without_one(self):
        card = self.score(build.reading({'cmp00': 64}), hosts=3)
        self.assertEqual(
            'policy cpu: host_capacity_query: 1 of 3 available hosts have a '
            'fresh, usable value, min_host_coverage is 0.9; without: cmp01, '
            'cmp02',
            card.results[0].skipped,
        )
        self.assertEqual({}, card.capacities)

    def test_not_asked_or_twice(self):
        card = self.score(None)
        self.assertEqual(
            'policy cpu: host_capacity_query: there is no reading of it',
            card.results[0].skipped,
        )
        twice = build.reading(even(10, 64))
        twice.samples.append(Sample('cmp00', 32, 1.0))
        self.assertIn(
            'host_capacity_query: two series for host cmp00: cmp00 = 64 and '
            'cmp00 = 32',
            self.score(twice).results[0].skipped,
        )

    def test_unused_without_the_query(self):
        snapshot = build.snapshot({'cpu': even(2)})
        snapshot.readings['cpu'].host_capacity = build.reading({})
        card = score(snapshot)
        self.assertEqual(('', {}), (card.results[0].skipped, card.capacities))


class TestWeights(base.BaseTestCase):
    """What the weights mean when a policy is skipped."""

    def card(self, *weights, **settings):
        names = ['cpu', 'mem', 'net']
        snapshot = build.snapshot({'cpu': even(2), 'net': even(2)})
        return score(
            snapshot,
            *[build.policy(n, w) for n, w in zip(names, weights, strict=True)],
            **settings,
        )

    def test_the_rest_is_scaled_to_one(self):
        card = self.card(0.3, 0.5, 0.2)
        for want, result in zip([0.6, 0.0, 0.4], card.results, strict=True):
            self.assertAlmostEqual(want, result.weight)
        self.assertIsNone(card.blocked)

    def test_all_may_be_required(self):
        card = self.card(0.3, 0.5, 0.2, require_all_policies=True)
        self.assertEqual(StopReason.NO_POLICY, card.blocked)
        self.assertEqual(
            'require_all_policies is set, but policy mem: imbalance_query: it '
            'was not queried',
            card.reason,
        )

    def test_what_is_left_weighs_nothing(self):
        card = self.card(0.0, 1.0, 0.0)
        self.assertEqual(StopReason.NO_POLICY, card.blocked)
        self.assertEqual([0.0] * 3, [r.weight for r in card.results])

    def test_none_is_left(self):
        card = score(
            build.snapshot({}, hosts=['a', 'b']),
            build.policy('x', 0.5),
            build.policy('y', 0.5),
        )
        self.assertEqual(StopReason.NO_POLICY, card.blocked)
        self.assertEqual(
            'no policy can be used: policy x: imbalance_query: it was not '
            'queried; policy y: imbalance_query: it was not queried',
            card.reason,
        )
        self.assertEqual({}, card.values)


class TestGate(base.BaseTestCase):
    """Only an available nova-compute gives or takes."""

    def test_who_is_available(self):
        cases = [
            (build.up('h'), None),
            (None, 'it has no nova-compute service'),
            (
                build.up('h', binary='nova-conductor'),
                'it has no nova-compute service',
            ),
            (build.up('h', state='down'), 'nova-compute is down'),
            (
                build.up('h', status='disabled'),
                'nova-compute is disabled (no reason given)',
            ),
            (
                build.up('h', status='disabled', disabled_reason='new RAM'),
                'nova-compute is disabled (new RAM)',
            ),
            (build.up('h', forced_down=True), 'nova-compute is forced down'),
            (
                build.up('h', state='down', forced_down=True),
                'nova-compute is forced down',
            ),
            (
                build.up('h', state='down', status='disabled'),
                'nova-compute is down, nova-compute is disabled (no reason '
                'given)',
            ),
            (
                build.up('h', state=None, status='UNKNOWN'),
                'os-services returns no state for it: its cell is down',
            ),
            (
                build.up('h', status=None),
                'nova-compute is in an unknown status (no reason given)',
            ),
        ]
        for service, reason in cases:
            self.assertEqual(reason, hosts.why_unavailable(service))
            snapshot = build.snapshot({'cpu': even(2) | {'h': 0.9}})
            snapshot.services.pop('h')
            if service:
                snapshot.services['h'] = service
            card = score(snapshot)
            self.assertEqual({'h': reason} if reason else {}, card.excluded)
            self.assertEqual(not reason, 'h' in card.values['cpu'])
            self.assertIsNone(card.blocked)

    def test_shut_when_services_are_unknown(self):
        """It is told before anything else that may be wrong."""
        snapshot = build.snapshot({'cpu': even(2)}, services=None)
        card = score(snapshot)
        self.assertEqual(StopReason.NO_SERVICES, card.blocked)
        self.assertEqual(
            'the state of the compute services is unknown', card.reason
        )
        self.assertEqual(even(2, card.reason), card.excluded)
        self.assertEqual([], card.results[0].scores)

    def test_shut_when_the_hosts_at_fault_are_unknown(self):
        """As told, whatever else would stop it."""
        snapshot = build.snapshot({'cpu': even(1)})
        snapshot.exclusions_unknown = 'exclude_hosts_query: timed out'
        card = score(snapshot)
        self.assertEqual(StopReason.EXCLUSIONS_UNKNOWN, card.blocked)
        self.assertEqual(
            'the hosts at fault are unknown: exclude_hosts_query: timed out',
            card.reason,
        )
        self.assertEqual(even(1, card.reason), card.excluded)

    def test_an_excluded_host_counts(self):
        snapshot = build.snapshot({'cpu': even(2)})
        snapshot.hosts['cmp00'].excluded = 1.0
        card = score(snapshot)
        self.assertIsNone(card.blocked)
        self.assertEqual(even(2), card.values['cpu'])
        self.assertEqual({}, card.excluded)

    def test_shut_when_the_map_is_empty(self):
        card = score(build.snapshot({'cpu': even(2)}, services={}))
        self.assertEqual(StopReason.TOO_FEW_HOSTS, card.blocked)
        self.assertEqual(
            '0 of 2 hosts can take part, but a migration needs two (cmp00: it '
            'has no nova-compute service, cmp01: it has no nova-compute '
            'service)',
            card.reason,
        )

    def test_one_host_is_too_few(self):
        card = score(build.snapshot({'cpu': even(1)}))
        self.assertEqual(StopReason.TOO_FEW_HOSTS, card.blocked)
        self.assertEqual(
            '1 of 1 hosts can take part, but a migration needs two',
            card.reason,
        )

    def test_one_measured_host_is_too_few(self):
        card = score(
            build.snapshot({'cpu': even(1)}, hosts=['cmp00', 'cmp01']),
            min_host_coverage=0.5,
        )
        self.assertEqual(StopReason.TOO_FEW_HOSTS, card.blocked)
        self.assertEqual(
            '1 of 2 hosts can take part, but a migration needs two (cmp01: '
            'policy cpu has no fresh sample for it)',
            card.reason,
        )


class TestPack(base.BaseTestCase):
    def test_capacity_query_must_be_answered(self):
        policy = build.policy(mode='pack', capacity_query='full')
        cases = [
            (None, 'there is no reading of it'),
            (Reading('q', Health.STALE, error='too old'), 'too old'),
        ]
        for capacity, reason in cases:
            snapshot = build.snapshot({'cpu': even(2)})
            snapshot.readings['cpu'] = PolicyReadings(
                build.reading(even(2)), capacity=capacity
            )
            self.assertEqual(
                f'policy cpu: capacity_query: {reason}',
                score(snapshot, policy).results[0].skipped,
            )
