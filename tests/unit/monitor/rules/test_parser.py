# SPDX-License-Identifier: Apache-2.0
"""What does an operator read when the rules are wrong?"""

import textwrap

import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.monitor.rules import parser
from tests import places

SAMPLE = places.TOP / 'etc' / 'kronos' / 'event_rules.yaml'

PIECES = (
    *('[', ']', '{', '}', ', ', ': ', '? ', '- ', '\n', '\n  ', ' '),
    *('!!set ', '!!omap ', '!!pairs ', '!!binary ', '!!str ', '!!int '),
    *('!!map ', '!!seq ', '!!timestamp ', '!!python/tuple ', '!x ', '!'),
    *('&a ', '*a', '<<', '=', '~', '1', '.nan', '-.inf', '1e999', 'true'),
    *('2026-01-01', '2026-99-99', '"\\ud800"', '"\\0"', '"\\e[1m"', '""'),
    *('name', 'match', 'action', 'sinks', 'severity', 'kind', 'crash'),
    *('a', 'x' * 300, '9' * 400),
)
"""Of YAML, and of rules."""


class ParserTestCase(base.BaseTestCase):
    def reason(self, text: str) -> str:
        error = self.assertRaises(
            ConfigurationError,
            parser.parse,
            textwrap.dedent(text),
            'F',
            ['masakari', 'hook'],
        )
        self.assertTrue(str(error).startswith('Event rules F: '), error)
        return str(error).removeprefix('Event rules F: ')


class TestGood(base.BaseTestCase):
    def test_the_sample_is_the_default(self) -> None:
        self.assertEqual(
            parser.parse(parser.DEFAULT, 'D', []),
            parser.parse(SAMPLE.read_text(), 'S', []),
        )


class TestFaults(ParserTestCase):
    def test_all_at_once(self) -> None:
        reason = self.reason("""
            rules:
              - name: One
                action: sent
              - name: two
                action: send
                match: {flavour: [x], kind: [crush], project: 7}
                sinks: [masakri]
                dedup_second: 30
              - match: nothing
                severity: high
              - 7
            """)
        self.assertEqual(
            [
                'rule One: name: must be at most 64 lowercase letters, '
                'digits, "-" and "_", and start with a letter or a digit, '
                "not 'One'",
                "rule One: action: must be one of send, drop, not 'sent'",
                'rule two: match: kind: must be a list of panic, hang, '
                'crash, io_error, postcopy_failed, paused, memory_error, '
                "control_error, not 'crush', did you mean crash?",
                'rule two: match: project: must be a list of patterns, in '
                'which * stands for any text and ? for any character, not 7',
                'rule two: match: flavour: there is no such field, did you '
                'mean flavor?',
                'rule two: dedup_second: there is no such field, did you mean '
                'dedup_seconds?',
                'rule 3: name: is missing, it must be at most 64 lowercase '
                'letters, digits, "-" and "_", and start with a letter or a '
                'digit',
                "rule 3: match: must be a mapping of fields, not 'nothing'",
                'rule 3: action: is missing, it must be one of send, drop',
                'rule 3: severity: must be one of info, warning, error, '
                "critical, not 'high'",
                'rule 4: must be a mapping of fields, not 7',
                'rule two: sinks: [kronos_monitor] sinks has no masakri, '
                'did you mean masakari?',
            ],
            reason.split('; '),
        )

    def test_a_duration_with_its_unit(self) -> None:
        for text, hint in (('5m', "not '5m': write 300"), ('soon', "'soon'")):
            rule = f'{{name: a, action: send, dedup_seconds: {text}}}'
            reason = self.reason(f'rules: [{rule}]')
            self.assertTrue(reason.endswith(hint), reason)

    def test_the_whole(self) -> None:
        for text, reason in (
            ('', 'it is empty: it needs the key rules'),
            ('[]', 'it must be a mapping: it needs the key rules'),
            ('a: 1', 'is missing, it must be a list of 1 to 1000 rules'),
            ('rules: []', 'rules: must be a list of 1 to 1000 rules'),
            ('rules: {}', 'rules: must be a list of 1 to 1000 rules'),
            ('rules: [', 'it is not valid YAML'),
            ('rules: 1\nrules: 2', 'the key rules comes twice'),
        ):
            self.assertIn(reason, self.reason(text))

    def test_names_are_unique(self) -> None:
        rule = '{name: a, action: send}'
        reason = self.reason(f'rules: [{rule}, {rule}]')
        self.assertEqual('rule a: name: 2 rules have it', reason)

    def test_repeated_by_aliases(self) -> None:
        """Faults of one rule, times the number of its aliases."""
        kinds = ', '.join(['crush'] * 5000)
        aliases = ', '.join(['*a'] * 99)
        reason = self.reason(f'rules: [&a {{match: [{kinds}]}}, {aliases}]')
        self.assertIn('it has 500202 values', reason)
        kinds = ', '.join(f'f{number}: 1' for number in range(5000))
        reason = self.reason(f'rules: [{{{kinds}}}]')
        self.assertIn('; and 4952 more', reason)
        self.assertIn('rule 1', self.reason('rules: &a [*a, *a, 1]'))

    @hypothesis.given(st.lists(st.sampled_from(PIECES), max_size=40))
    def test_whatever_yaml_can_write(self, pieces: list[str]) -> None:
        """Tags, aliases, keys that are no texts, and what is no text."""
        text = ''.join(pieces)
        for start in ('', 'rules: ', 'rules: [{name: a, action: send, '):
            end = '}]' if start.endswith(', ') else ''
            try:
                parser.parse(f'{start}{text}{end}', 'F', [])
            except ConfigurationError as error:
                self.assertTrue(str(error).isprintable(), str(error))

    @hypothesis.given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(['rules', 'name', 'match', 'sinks', 'x']),
                    inner,
                )
            ),
            max_leaves=12,
        )
    )
    def test_whatever_it_is(self, data: object) -> None:
        import yaml

        try:
            parser.parse(yaml.safe_dump({'rules': data}), 'F', [])
        except ConfigurationError as error:
            self.assertIn('Event rules F: ', str(error))
