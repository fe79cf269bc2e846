# SPDX-License-Identifier: Apache-2.0
"""Is what takes too much memory known before it is parsed?"""

import json

from oslotest import base

from kronos.common import json_size

MIB = 2**20


class TestWorst(base.BaseTestCase):
    def test_a_few_bytes_that_become_many(self) -> None:
        """Each of the sort that takes most, in a fifth of a file's bytes."""
        for unit in ('[],', '[[]],', '{"a":1},', '{"a":[]},', '"a",', '1,'):
            text = f'[{unit * (26 * MIB // len(unit))}1]'.encode()
            self.assertTrue(json_size.is_too_much(text), unit)

    def test_many_keys_of_one_object(self) -> None:
        keys = b','.join(b'"%x":1' % number for number in range(10**5))
        text = b'{' + b','.join([keys] * 40) + b'}'
        self.assertTrue(json_size.is_too_much(text))


class TestReal(base.BaseTestCase):
    def test_what_there_is(self) -> None:
        """As many rows as a large cloud has, in a form of each kind."""
        instance = {
            'uuid': '4676d355-72f2-4f74-84e4-cd5dbe7fce0e',
            'metadata': {'role': 'database', 'team': 'blue'},
            'extra_specs': {'hw:cpu_policy': 'dedicated'},
            'tags': [],
            **{f'a_field_{number}': None for number in range(18)},
        }
        series = {
            'metric': {f'label_{number}': 'a value' for number in range(8)},
            'value': [1772441985.0, '0.25'],
        }
        for row in (instance, series):
            text = json.dumps(row).encode()
            whole = json_size.memory_of(text) * 100_000
            self.assertLess(whole, json_size.MOST)

    def test_long_strings(self) -> None:
        """They take what they are."""
        text = b'["' + b'a' * 64 * MIB + b'"]'
        self.assertFalse(json_size.is_too_much(text))
