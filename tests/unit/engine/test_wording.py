# SPDX-License-Identifier: Apache-2.0
"""Do numbers and lists read as somebody would write them?"""

import shlex

from oslotest import base

from kronos.common import plain_text
from kronos.engine import wording
from kronos.engine.types import Instance
from tests.builders.hostile_names import HOSTILE


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


class TestServerNames(base.BaseTestCase):
    UUID = TestShortUuids.ONE

    def of(self, *names: str) -> list[str]:
        servers = {
            f'u{number}': Instance(f'u{number}', 'h', name=name)
            for number, name in enumerate(names)
        }
        found = wording.ServerNames(servers)
        return [found.of(uuid) for uuid in servers]

    def test_the_name(self) -> None:
        self.assertEqual(['web-1', 'db.2'], self.of('web-1', 'db.2'))

    def test_what_is_no_name_of_its_own(self) -> None:
        """None, one that others have, or one that may be taken for a uuid."""
        self.assertEqual(
            ['u0', 'web (u1)', 'web (u2)', 'u3', 'u4'],
            self.of('', 'web', 'web', self.UUID, 'u1'),
        )
        self.assertEqual('gone', wording.ServerNames({}).of('gone'))

    def test_hostile_names(self) -> None:
        """One word on one line, which no terminal obeys."""
        for name in filter(None, HOSTILE):
            [text] = self.of(name)
            with self.subTest(name=name):
                self.assertEqual(1, len(shlex.split(text)))
                self.assertEqual(text, plain_text.line(text))

    def test_a_long_name(self) -> None:
        """What is left of it may be that of others."""
        self.assertEqual([f'{"x" * 64}... (u0)'], self.of('x' * 255))

    def test_a_name_like_a_sentence(self) -> None:
        [text] = self.of('web: it is locked; and 9 more')
        self.assertEqual("'web: it is locked; and 9 more'", text)
