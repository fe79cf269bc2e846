# SPDX-License-Identifier: Apache-2.0
"""Does one row say all that is needed of an option?"""

import dataclasses

from oslotest import base

from kronos.common.names.name_marks import Text
from kronos.options.row import Choice, Row, option, rows
from tests.builders.packages import Package


class Speed(Choice):
    SLOW = 'slow', 'takes its time'
    FAST = 'fast', 'hurries'
    BROKEN = 'broken'


@dataclasses.dataclass
class Options:
    hosts: int = option(1, 'Hosts.', least=1, most=9)
    window_seconds: float = option(
        0.0, 'Seconds.', name='window', configured=60, is_whole=True
    )
    speed: Speed = option(Speed.SLOW, 'Speed.')
    rules: list[Text] = option([], 'Rules.', configured=['a'])
    chosen: bool = False


class TestChoice(base.BaseTestCase):
    def test_a_word_is_its_text(self) -> None:
        self.assertIs(Speed.FAST, Speed('fast'))
        self.assertEqual('fast', f'{Speed.FAST}')

    def test_only_words_with_a_meaning_are_for_operators(self) -> None:
        self.assertEqual(
            [('slow', 'takes its time'), ('fast', 'hurries')], Speed.choices()
        )


class TestRows(base.BaseTestCase):
    def test_each_option_and_no_other_field(self) -> None:
        self.assertEqual(
            [
                Row(1, 'Hosts.', 'hosts', 'hosts', int, 1, 9, True),
                Row(
                    60,
                    'Seconds.',
                    'window',
                    'window_seconds',
                    float,
                    is_whole=True,
                ),
                Row(
                    Speed.SLOW,
                    'Speed.',
                    'speed',
                    'speed',
                    Speed,
                    choices=Speed,
                ),
                Row(['a'], 'Rules.', 'rules', 'rules', list[Text]),
            ],
            list(rows(Options)),
        )

    def test_plugins_are_choices(self) -> None:
        """Each package that is installed adds to them."""
        row = Row('slow', '', choices=Speed, plugins='kronos.speeds')
        self.assertEqual(['slow', 'fast'], row.words())
        self.useFixture(
            Package('other', 'A = 1', {'kronos.speeds': {'safe': 'A'}})
        )
        self.assertEqual(['slow', 'fast', 'safe'], row.words())

    def test_no_two_objects_share_a_list(self) -> None:
        first, second = Options(), Options()
        first.rules.append('b')
        self.assertEqual([], second.rules)

    def test_values_of_the_type_of_the_field(self) -> None:
        kinds = {row.field: row for row in rows(Options)}
        configured = ('a', 'b')
        self.assertEqual(['a', 'b'], kinds['rules'].value(configured))
        self.assertIs(Speed.FAST, kinds['speed'].value('fast'))
        self.assertEqual(3, kinds['hosts'].value(3))
