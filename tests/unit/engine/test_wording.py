# SPDX-License-Identifier: Apache-2.0
"""Do numbers and lists read as somebody would write them?"""

from oslotest import base

from kronos.engine import wording


class TestWording(base.BaseTestCase):
    def test_some(self) -> None:
        for names, limit, text in (
            ([], 5, ''),
            (['a'], 5, 'a'),
            (['a', 'b'], 2, 'a, b'),
            (['a', 'b', 'c'], 2, 'a, b and 1 more'),
            ({'a': 1, 'b': 2}, 1, 'a and 1 more'),
        ):
            self.assertEqual(text, wording.some(names, limit))

    def test_counted(self) -> None:
        for number, what, text in (
            (0, 'host', '0 hosts'),
            (1, 'host', '1 host'),
            (2, 'host', '2 hosts'),
            (1, 'host that is down', '1 host that is down'),
            (2, 'instance that cannot move', '2 instances that cannot move'),
        ):
            self.assertEqual(text, wording.counted(number, what))

    def test_gibibytes(self) -> None:
        for mebibytes, text in (
            (16384, '16.0 GiB'),
            (1536, '1.5 GiB'),
            (512, '0.5 GiB'),
            (64, '0.062 GiB'),
            (0, '0 GiB'),
        ):
            self.assertEqual(text, wording.gibibytes(mebibytes))


class TestShortUuids(base.BaseTestCase):
    ONE = '703e281a-6a2b-460c-8d3b-9c005ce220e9'
    OTHER = '81ea1bad-f6b3-4e6c-9d2e-9c005ce220e9'
    ALIKE = '703e281a-6a2b-4fff-8d3b-9c005ce220e9'

    def test_eight_characters(self) -> None:
        uuids = wording.ShortUuids([self.ONE, self.OTHER, self.ONE])
        self.assertEqual('703e281a', uuids.of(self.ONE))
        self.assertEqual('web-8 (703e281a)', uuids.named('web-8', self.ONE))
        for name in ('', self.ONE):
            self.assertEqual('703e281a', uuids.named(name, self.ONE))

    def test_as_many_as_tell_them_apart(self) -> None:
        uuids = wording.ShortUuids([self.ONE, self.OTHER, self.ALIKE])
        self.assertEqual('703e281a-6a2b-46', uuids.of(self.ONE))
        self.assertEqual('703e281a-6a2b-4f', uuids.of(self.ALIKE))

    def test_what_is_no_uuid_stays(self) -> None:
        uuids = wording.ShortUuids(['vm-1-of-a-project', ''])
        self.assertEqual('vm-1-of-a-project', uuids.of('vm-1-of-a-project'))
        self.assertEqual('a (vm-1)', uuids.named('a', 'vm-1'))
