# SPDX-License-Identifier: Apache-2.0
"""Label values and hosts."""

from oslotest import base

from kronos.engine import wording
from kronos.engine.scoring import labels
from kronos.engine.settings import HostMatch


class TestExact(base.BaseTestCase):
    def test_only_the_very_name_matches(self):
        found = labels.match_hosts(
            ['cmp1:9100', 'cmp2', 'cmp3.example', 'CMP1'],
            ['cmp1', 'cmp2', 'cmp3'],
            HostMatch.EXACT,
        )
        self.assertEqual({'cmp2': 'cmp2', 'CMP1': 'cmp1'}, found.hosts)
        self.assertEqual(['cmp1:9100', 'cmp3.example'], found.unmatched)
        self.assertEqual({}, found.ambiguous)

    def test_hosts_that_differ_by_case(self):
        """Only what is spelled like one of them means it."""
        found = labels.match_hosts(
            ['cmp1', 'CMP1'], ['cmp1', 'Cmp1'], HostMatch.EXACT
        )
        self.assertEqual({'cmp1': 'cmp1'}, found.hosts)
        self.assertEqual(['CMP1'], found.unmatched)
        self.assertEqual({'CMP1': ['Cmp1', 'cmp1']}, found.ambiguous)

    def test_of_that_name(self):
        hosts = ['cmp1', 'Cmp2', 'cmp2']
        for name, host in (
            ('cmp1', 'cmp1'),
            ('CMP1', 'cmp1'),
            ('Cmp2', 'Cmp2'),
            ('CMP2', None),
            ('cmp1.a', None),
        ):
            self.assertEqual(host, labels.find_host(name, hosts))


class TestShort(base.BaseTestCase):
    def check(self, given, hosts, matched, unmatched=(), ambiguous=None):
        for order in (given, given[::-1]):
            found = labels.match_hosts(order, hosts, HostMatch.SHORT)
            self.assertEqual(matched, found.hosts)
            self.assertEqual(sorted(unmatched), found.unmatched)
            self.assertEqual(ambiguous or {}, found.ambiguous)

    def test_port_and_domain_are_dropped_on_either_side(self):
        self.check(
            ['cmp1:9100', 'cmp2.dc.example:9100', 'cmp3', 'other:9100'],
            ['cmp1', 'cmp2', 'cmp3.dc.example'],
            {
                'cmp1:9100': 'cmp1',
                'cmp2.dc.example:9100': 'cmp2',
                'cmp3': 'cmp3.dc.example',
            },
            ['other:9100'],
        )

    def test_the_case_does_not_matter(self):
        self.check(
            ['CMP1:9100', 'Cmp2.DC.example', 'cmp3'],
            ['cmp1', 'cmp2', 'CMP3.dc.example', 'Cmp4'],
            {
                'CMP1:9100': 'cmp1',
                'Cmp2.DC.example': 'cmp2',
                'cmp3': 'CMP3.dc.example',
            },
        )

    def test_short_name_of_two_hosts_is_none_of_them(self):
        self.check(
            ['cmp1'],
            ['cmp1.a', 'cmp1.b'],
            {},
            ['cmp1'],
            {'cmp1': ['cmp1.a', 'cmp1.b']},
        )

    def test_full_names_tell_such_hosts_apart(self):
        self.check(
            ['cmp1.a:9100', 'cmp1.b:9100'],
            ['cmp1.a', 'cmp1.b'],
            {'cmp1.a:9100': 'cmp1.a', 'cmp1.b:9100': 'cmp1.b'},
        )

    def test_two_full_names_for_one_short_host_are_neither(self):
        self.check(
            ['cmp1.a', 'cmp1.b'],
            ['cmp1'],
            {},
            ['cmp1.a', 'cmp1.b'],
            {'cmp1.a': ['cmp1.b'], 'cmp1.b': ['cmp1.a']},
        )

    def test_a_host_found_by_its_name_leaves_others_foreign(self):
        self.check(
            ['cmp1', 'cmp1.other', 'cmp2.a', 'cmp2.b'],
            ['cmp1', 'cmp2.a'],
            {'cmp1': 'cmp1', 'cmp2.a': 'cmp2.a'},
            ['cmp1.other', 'cmp2.b'],
        )

    def test_one_name_on_two_ports_is_one_host_twice(self):
        """So that the caller sees two series for one host."""
        self.check(
            ['cmp1.a:1', 'cmp1.a:2'],
            ['cmp1'],
            {'cmp1.a:1': 'cmp1', 'cmp1.a:2': 'cmp1'},
        )

    def test_addresses_have_no_domain(self):
        self.check(
            ['10.0.0.1:9100', '10.0.0.2', '[fe80::1]:9100', 'fe80::2'],
            ['10.0.0.1', '10.9.9.9', 'fe80::1', 'fe80::3'],
            {'10.0.0.1:9100': '10.0.0.1', '[fe80::1]:9100': 'fe80::1'},
            ['10.0.0.2', 'fe80::2'],
        )


class TestSome(base.BaseTestCase):
    def test_long_lists_are_cut(self):
        self.assertEqual('a, b', wording.some(['a', 'b'], 2))
        self.assertEqual('a, b and 2 more', wording.some('abcd', 2))
