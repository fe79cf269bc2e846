# SPDX-License-Identifier: Apache-2.0
"""What an operator reads when the file is wrong."""

import contextlib
import os
import textwrap

import fixtures
import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.common import yaml_files
from kronos.common.exceptions import ConfigurationError, PolicyFileError
from kronos.policies import loader, models
from kronos.policies.models import Mode

GOOD = """
policies:
- name: cpu
  mode: spread
  weight: 1.0
  imbalance_query: a
  vm_profile_query: b
"""


class LoaderTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'policies.yaml'
        )

    def write(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        with open(self.path, 'wb') as stream:
            stream.write(data)

    def reason(self, text=None):
        """What is wrong, after the file's name."""
        if text is not None:
            self.write(text)
        error = self.assertRaises(PolicyFileError, loader.load, self.path)
        self.assertIsInstance(error, ConfigurationError)
        message = str(error)
        for word in ('pydantic', 'http', 'Traceback', 'Value error', 'input'):
            self.assertNotIn(word, message)
        start = f'Policies file {self.path}: '
        self.assertTrue(message.startswith(start), message)
        return message.removeprefix(start)

    def faults(self, text):
        return self.reason(textwrap.dedent(text)).split('; ')


class TestFile(LoaderTestCase):
    def test_good_file(self):
        self.write(GOOD)
        result = loader.load(self.path)
        self.assertEqual(['cpu'], [policy.name for policy in result.policies])

    def test_read_anew_each_time(self):
        """An edit counts, a broken one never plans on half a file."""
        self.write(GOOD)
        loader.load(self.path)
        self.write(GOOD.replace('cpu', 'memory'))
        self.assertEqual('memory', loader.load(self.path).policies[0].name)
        self.reason(GOOD + '- {name: half')

    def test_missing_or_a_directory(self):
        self.assertEqual(
            'it cannot be read: No such file or directory', self.reason()
        )
        os.mkdir(self.path)
        self.assertEqual('it cannot be read: Is a directory', self.reason())

    def test_empty(self):
        for text in ('', '# nothing\n', '---\n'):
            self.assertEqual('it is empty', self.reason(text))

    def test_not_a_mapping(self):
        for text, kind in [
            ('- a', 'a list'),
            ('text', 'a str'),
            ('7', 'a int'),
        ]:
            self.assertEqual(
                f'it must be a mapping with the key policies, not {kind}',
                self.reason(text),
            )

    def test_not_yaml_names_the_line(self):
        for text, start in [
            (
                'policies:\n- a: b: c\n',
                'it is not valid YAML: line 2: mapping',
            ),
            ('policies:\n\t- a\n', 'it is not valid YAML: line 2: found char'),
            ('a: [1\n', 'it is not valid YAML: line 2: expected'),
            ('a: 1\n---\nb: 2\n', 'it is not valid YAML: line 2: but found'),
            ('a: 2020-13-45', 'it is not valid YAML: line 1: month'),
            ('a: \0', 'it is not valid YAML: unacceptable character'),
            (
                'a: 1\nb: ' + '0:' * 300 + '0.0',
                'it is not valid YAML: line 2: int too large',
            ),
            ('a: !!bool x', 'it is not valid YAML: line 1: a value does not'),
            ('a: !!int ""', 'it is not valid YAML: line 1: a value does not'),
            ('a: !!timestamp x', 'it is not valid YAML: line 1: a value does'),
            ('a: !!set [1]', 'it is not valid YAML: line 1: could not de'),
        ]:
            reason = self.reason(text)
            self.assertTrue(reason.startswith(start), reason)
            self.assertNotIn('\n', reason)

    def test_not_utf8(self):
        self.assertEqual('it is not UTF-8 text', self.reason(b'a: \xff\xfe'))

    def test_key_twice(self):
        self.assertEqual(
            'it is not valid YAML: line 5: the key weight comes twice',
            self.reason(GOOD.replace('mode: spread', 'weight: 0.5')),
        )
        self.assertEqual(
            'it is not valid YAML: line 8: the key policies comes twice',
            self.reason(GOOD + 'policies: []\n'),
        )

    def test_key_that_is_a_list(self):
        self.assertEqual(
            'it is not valid YAML: line 2: found unhashable key',
            self.reason('a: 1\n? [b]\n: 2\n'),
        )

    def test_anchors_and_merges_are_plain_yaml(self):
        self.write(
            textwrap.dedent("""
            policies:
            - &cpu
              name: cpu
              mode: spread
              weight: 0.5
              imbalance_query: a
              vm_profile_query: b
            - <<: *cpu
              name: memory
            """)
        )
        result = loader.load(self.path)
        self.assertEqual(['cpu', 'memory'], [p.name for p in result.policies])

    def test_yaml_builds_no_objects(self):
        reason = self.reason('policies: !!python/object/apply:os.getcwd []')
        self.assertIn('could not determine a constructor', reason)


class TestBombs(LoaderTestCase):
    """A file that is small and wants to be large is refused."""

    def test_lists_of_lists(self):
        lines = ['l0: &l0 [lol]']
        for level in range(1, 10):
            inner = ','.join([f'*l{level - 1}'] * 10)
            lines.append(f'l{level}: &l{level} [{inner}]')
        text = '\n'.join([*lines, 'policies: *l9'])
        self.assertIn('l0: there is no such field', self.reason(text))
        wide = text.replace('*l0,', '*l0,' * 30)
        self.assertIn('more than 100 aliases', self.reason(wide))

    def test_merges_of_merges(self):
        keys = ', '.join(f'k{number}: 1' for number in range(20))
        lines = [f'm0: &m0 {{{keys}}}']
        for level in range(1, 12):
            inner = ','.join([f'*m{level - 1}'] * 9)
            lines.append(f'm{level}: &m{level} {{<<: [{inner}]}}')
        self.assertIn('m0: there is no such', self.reason('\n'.join(lines)))

    def test_in_itself(self):
        self.assertIn('must be', self.reason('policies: &a [*a]'))
        self.assertIn('policies', self.reason('&a {policies: *a}'))
        self.assertIn('is missing', self.reason('a: &a {<<: *a}'))

    def test_depth_and_size(self):
        for text in ('policies: ' + '[' * 9999, 'a:\n- ' + '- ' * 9999):
            self.assertIn('nested too deeply', self.reason(text))
        large = '# ' + 'x' * yaml_files.MAX_BYTES
        self.assertIn('more than 131072 bytes', self.reason(GOOD + large))

    def test_numbers_that_nobody_can_write(self):
        for number in ('0x' + 'f' * 9999, '9' * 9999, '1' + ':0' * 9999):
            reason = self.reason(GOOD.replace('1.0', number))
            self.assertLess(len(reason), 200)


class TestAnyText(LoaderTestCase):
    """Whatever is in a file, it is a policies file or an error. (hypothesis)

    ``KRONOS_FUZZ`` is the number of examples.
    """

    PIECES = [
        *('policies:', '- ', 'name: ', 'weight: ', '\n', '\n  ', ' ', ': '),
        *('!!int ', '!!float ', '!!bool ', '!!timestamp ', '!!binary '),
        *('!!set ', '!!omap ', '!!null ', '!!str ', '!!merge ', '!!python/x '),
        *('""', "'", '"', '[', ']', '{', '}', '? ', '<<: ', '&a ', '*a'),
        *('0', '1', '9' * 400, '1:', '.', '-', '+', '_', 'e', '0x', '0b'),
        *('2020-', '02-', '30', 'T', 'Z', '\\ud800', '\x00', 'ü', '~', '|'),
    ]  # fmt: skip

    @hypothesis.settings(
        max_examples=int(os.environ.get('KRONOS_FUZZ', '400')),
        derandomize=True,
        database=None,
    )
    @hypothesis.given(
        st.lists(st.sampled_from(PIECES), max_size=14).map(''.join)
    )
    def test_of_a_file(self, text):
        for whole in (
            text,
            f'policies: {text}',
            f'policies: [{text}]',
            f'policies: [{{weight: {text}}}]',
            f'{GOOD}dirty_rate_query: {text}',
        ):
            with contextlib.suppress(PolicyFileError):
                loader.parse(whole, 'x')
        self.assertIsInstance(loader.scalar(text), bool | int | float | str)

    def test_a_value_of_an_override(self):
        for text in ('!!bool x', '!!int ""', '[' * 5000, '0:' * 300 + '0.0'):
            self.assertEqual(text, loader.scalar(text))


class TestTags(LoaderTestCase):
    """YAML builds more than lists, mappings and scalars."""

    VALUES = (
        '!!set {a, b}',
        '!!set {}',
        '!!omap [a: b]',
        '!!pairs [a: b, a: c]',
        '!!binary aGVsbG8=',
        '!!timestamp 2026-01-01',
        '2026-01-01 00:00:00',
        '{1: 2, ~: 3, 2026-01-01: 4}',
        '{? !!binary aGVsbG8= : 1}',
        '[!!set {a}, !!omap [a: b]]',
    )

    def test_in_every_place(self):
        for value in self.VALUES:
            texts = [f'policies: {value}', f'policies: [{value}]']
            texts += [
                f'{GOOD}{field}: {value}'
                for field in models.PolicyFile.model_fields
                if field != 'policies'
            ]
            texts += [
                f'policies: [{{{field}: {value}}}]'
                for field in models.Policy.model_fields
            ]
            for text in texts:
                with self.subTest(text=text):
                    self.reason(text)

    def test_what_is_no_list(self):
        reason = self.reason('policies: !!set {a, b}')
        self.assertIn('line 1: could not determine', reason)
        self.assertIn('the tag !!set; remove the tag', reason)

    def test_repeated_by_aliases(self):
        """Each has thousands of faults, and their number multiplies."""
        fields = ', '.join(f'f{number}: 1' for number in range(5000))
        aliases = ', '.join(['*a'] * 99)
        reason = self.reason(f'policies: [&a {{{fields}}}, {aliases}]')
        self.assertIn('policy 1: it has 5000 fields, most of', reason)
        self.assertLess(len(reason), 600)
        reason = self.reason(f'policies: [{"1, " * 2000}1]')
        self.assertEqual(
            'policies: there are 2001, more than the limit of 1000; '
            'remove some',
            reason,
        )


class Counted(dict):
    """A row that counts how often it is looked into."""

    looks = 0

    def get(self, *args):
        Counted.looks += 1
        return super().get(*args)


class Name(str):
    """A name that counts what it is compared with."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return super().__eq__(other)


class TestMany(LoaderTestCase):
    """Ten times the rows take ten times the work."""

    def test_looks_at_wrong_rows(self):
        Counted.looks = 0
        rows = [
            Counted(name=f'p{number % 700}', x=1) for number in range(1000)
        ]
        error = self.assertRaises(
            PolicyFileError, loader.validated, {'policies': rows}, 'x'
        )
        self.assertIn('policy p699: x: there is no such field', str(error))
        self.assertIn('policy p1 (number 702): x: there is no', str(error))
        # Pydantic looks for each field; who compares all, 1,000 times.
        self.assertLess(Counted.looks, 50 * len(rows))

    def test_compares_names(self):
        Name.compared = 0
        rows = [{'name': Name(f'p{number}')} for number in range(1000)]
        models.conflicts(rows)
        self.assertLess(Name.compared, 10 * len(rows))


class TestFaults(LoaderTestCase):
    def test_policies_of_a_wrong_shape(self):
        for text, reason in [
            ('x: 1', 'policies: is missing, it must be a list with at least '
             'one policy; x: there is no such field, known: policies, '
             'dirty_rate_query, dirty_rate_label, dirty_rate_label_type'),
            ('policies:', 'policies: must be a list with at least one '
             'policy, not nothing'),
            ('policies: []', 'policies: must be a list with at least one '
             'policy, not a list'),
            ('policies: {a: 1}', 'policies: must be a list with at least '
             'one policy, not a mapping'),
            ('policies: [7]', 'policy 1: must be a mapping of fields, not 7'),
            ('policies: [[]]', 'policy 1: must be a mapping of fields, not '
             'a list'),
        ]:  # fmt: skip
            self.assertEqual(reason, self.reason(text))

    def test_every_rule_of_a_field(self):
        """Each fault of a field in the operator's words."""
        ratio = 'must be a number from 0 to 1, not'
        for field, rule in [
            (
                'name: CPU',
                'must be lowercase letters, digits, "-" and "_", and start '
                "with a letter or a digit, not 'CPU'",
            ),
            ('mode: even', "must be one of spread, pack, not 'even'"),
            ('weight: -0.1', f'{ratio} -0.1'),
            ('weight: 1.1', f'{ratio} 1.1'),
            ('weight: "0.3"', f"{ratio} '0.3'"),
            ('weight: .nan', f'{ratio} nan'),
            ('weight: yes', f'{ratio} true'),
            ('weight:', f'{ratio} nothing'),
            ('threshold: 15', f'{ratio} 15'),
            ('capacity_threshold: 2020-01-01', f'{ratio} a date'),
            ('enabled: 1', 'must be true or false, not 1'),
            (
                'imbalance_query: ""',
                "must be a non-empty PromQL query, not ''",
            ),
            (
                'host_capacity_query: [a]',
                'must be a non-empty PromQL query, not a list',
            ),
            ('host_label: 5', 'must be the non-empty name of a label, not 5'),
            (
                'vm_profile_label_type: uuid',
                'must be one of nova_internal_name, nova_instance_uuid, '
                "nova_display_name, not 'uuid'",
            ),
            (
                'vm_profile_fallback: none',
                'must be one of skip, flavor_vcpu_ratio, host_average, not '
                "'none'",
            ),
            (
                'max_migrations_per_cycle: 0',
                'must be a whole number from 1 to 1000, not 0',
            ),
            (
                'treshold: 0.1',
                'there is no such field, did you mean threshold?',
            ),
        ]:
            name = field.partition(':')[0]
            lines = [
                line
                for line in GOOD.splitlines()
                if not line.strip('- ').startswith(f'{name}:')
            ]
            if name == 'name':
                lines.insert(2, '- enabled: true')
            text = '\n'.join([*lines, f'  {field}'])
            policy = 'CPU' if name == 'name' else 'cpu'
            self.assertEqual(
                f'policy {policy}: {name}: {rule}', self.reason(text)
            )

    def test_unknown_field_lists_the_known(self):
        reason = self.reason(GOOD + '  zzz: 1\n')
        self.assertTrue(
            reason.startswith(
                'policy cpu: zzz: there is no such field, known: name, mode, '
                'weight, enabled,'
            ),
            reason,
        )

    def test_missing_field(self):
        self.assertEqual(
            'policy cpu: vm_profile_query: is missing, it must be a '
            'non-empty PromQL query (kronos-openstack assumed the usage of '
            'servers, Kronos measures it)',
            self.reason(GOOD.replace('  vm_profile_query: b\n', '')),
        )

    def test_fields_of_kronos_openstack(self):
        """What took their place is told."""
        for line, text in (
            ('aggregate: a', '[kronos] aggregates'),
            ('cooldown: 600', '[kronos] cooldown, in seconds'),
        ):
            reason = self.reason(GOOD + f'  {line}\n')
            name = line.partition(':')[0]
            self.assertTrue(reason.startswith(f'policy cpu: {name}: '))
            self.assertIn(text, reason)

    def test_pack_without_capacity_query(self):
        self.assertEqual(
            'policy cpu: capacity_query: is required in mode pack',
            self.reason(GOOD.replace('spread', 'pack')),
        )

    def test_aggregates_are_not_chosen_here(self):
        """Wherever it is written."""
        for text, where in [
            (GOOD + 'aggregates: [a]\n', ''),
            (GOOD + '  aggregates: [a]\n', 'policy cpu: '),
        ]:
            self.assertEqual(
                f'{where}aggregates: choose the aggregates in the audit or '
                'with [kronos] aggregates; the policies apply to each of '
                'them',
                self.reason(text),
            )

    def test_all_faults_in_one_message(self):
        """Those between policies too, as far as they can be judged."""
        self.assertEqual(
            [
                'policy cpu (number 1): weight: must be a number from 0 to 1, '
                "not 'x'",
                'policy cpu (number 2): vm_profile_query: is missing, it must '
                'be a non-empty PromQL query (kronos-openstack assumed the '
                'usage of servers, Kronos measures it)',
                'policy cpu (number 2): capacity_query: is required in mode '
                'pack',
                'policy 3: name: is missing, it must be lowercase letters, '
                'digits, "-" and "_", and start with a letter or a digit',
                'policy 4: must be a mapping of fields, not nothing',
                'name: cpu is used more than once (policies 1 and 2), names '
                'must be unique',
                'mode: all policies must have the same mode',
            ],
            self.faults("""
                policies:
                - {name: cpu, mode: spread, weight: x, imbalance_query: a,
                   vm_profile_query: b}
                - {name: cpu, mode: pack, weight: 0.5, imbalance_query: a}
                - {mode: spread, weight: 0.5, imbalance_query: a,
                   vm_profile_query: b}
                -
                """),
        )

    def test_sum_is_judged_beside_faults_elsewhere(self):
        self.assertEqual(
            [
                'policy cpu: mode: must be one of spread, pack, not a list',
                'weight: the weights of the enabled policies sum to 0.4, '
                'they must sum to 1',
            ],
            self.faults(GOOD.replace('spread', '[]').replace('1.0', '0.4')),
        )

    def test_sum_alone(self):
        self.assertEqual(
            'weight: the weights of the enabled policies sum to 0.99, they '
            'must sum to 1',
            self.reason(GOOD.replace('1.0', '0.99')),
        )

    def test_names_stay_on_one_line(self):
        reason = self.reason(GOOD.replace('cpu', '"a\\nb"') + '  "c\\nd": 1\n')
        self.assertIn('policy a b: name: must be', reason)
        self.assertIn('policy a b: c d: there is no such field', reason)
        self.assertNotIn('\n', reason)

    def test_long_values_are_cut(self):
        reason = self.reason(GOOD.replace('spread', 'x' * 5000))
        self.assertIn(f"not '{'x' * 59}...", reason)
        self.assertLess(len(reason), 200)


class TestRequireMode(LoaderTestCase):
    """A file of the other mode is refused."""

    def test_modes(self):
        self.write(GOOD)
        result = loader.load(self.path)
        loader.require_mode(result, Mode.SPREAD, self.path)
        error = self.assertRaises(
            PolicyFileError,
            loader.require_mode,
            result,
            Mode.PACK,
            self.path,
        )
        self.assertEqual(
            f'Policies file {self.path}: mode: the policies have mode '
            'spread, but the strategy kronos_pack needs mode pack',
            str(error),
        )
