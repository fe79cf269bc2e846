# SPDX-License-Identifier: Apache-2.0
"""Is a status message short, on one line and without secrets?"""

from oslotest import base

from kronos.common import status

HEAL = (
    '"nova-manage placement heal_allocations --instance '
    '0b813439-c2fa-4b1f-9d52-00ef9ae085bf --force"'
)


class FitTestCase(base.BaseTestCase):
    def test_short(self):
        self.assertEqual('one line', status.fit('one\n  line '))

    def test_long(self):
        text = status.fit('x' * 999)
        self.assertEqual(210, len(text))
        self.assertTrue(text.endswith('...'))

    def test_command_that_would_be_cut_off(self):
        story = 'Nova: ' + 'words ' * 40
        for text, beginning in (
            (
                f'KRONOS:MigrationFailed: [migration_failed] {story}; it is '
                f'held on h2; {HEAL} puts that right; again',
                f'KRONOS:MigrationFailed: [migration_failed] {HEAL} puts that '
                'right; Nova: words words',
            ),
            (f'{story}; {HEAL}', f'{HEAL}; Nova: words'),
            # Its own clause is too long: then without that.
            (f'KRONOS: {story}{HEAL} helps; more', f'KRONOS: {HEAL} helps; '),
        ):
            result = status.fit(text)
            self.assertEqual(210, len(result))
            self.assertTrue(result.startswith(beginning), result)

    def test_first_clause_is_short(self):
        """It says what matters most, and stays before the command."""
        text = f'KRONOS: in ERROR; {"words " * 30}; held: {HEAL} frees it'
        self.assertTrue(
            status.fit(text).startswith(
                f'KRONOS: in ERROR; held: {HEAL} frees it; words words '
            )
        )

    def test_first_clause_leaves_room_for_the_command_alone(self):
        first = (
            'KRONOS:MigrationFailed: [migration_stalled] in ERROR, its guest'
        )
        held = f'held on rb: {HEAL} {"helps " * 8}'
        text = f'{first} runs on ra; {"words " * 30}; {held}'
        self.assertTrue(
            status.fit(text).startswith(
                f'{first} runs on ra; held on rb: {HEAL}; words '
            )
        )

    def test_command_that_is_whole(self):
        text = f'KRONOS: first; {HEAL} puts that right; ' + 'words ' * 40
        self.assertEqual(text[:207] + '...', status.fit(text))

    def test_every_length_of_the_story(self):
        """Never a part of a command alone, and nothing is said twice."""
        for length in range(300):
            codes = 'KRONOS:PreFlightError: [instance_allocations] '
            text = f'{codes}{"x" * length}; {HEAL} puts that right'
            result = status.fit(text)
            self.assertLessEqual(len(result), 210)
            self.assertIn(HEAL, result)
            self.assertEqual(1, result.count('heal_allocations'))
            self.assertTrue(result.startswith(codes))

    def test_user_of_a_url(self):
        self.assertEqual(
            'at https://***@prom:9090/x: no',
            status.fit('at https://joe:pass@prom:9090/x: no'),
        )

    def test_many_urls(self):
        """Each character is looked at some times, not once for each other."""
        text = '://' * 300_000
        self.assertEqual('://' * 69 + '...', status.fit(text))
        self.assertEqual('://***@x', status.fit(text + '@x'))

    def test_what_a_database_refuses(self):
        """MySQL's utf8 ends at U+FFFF."""
        self.assertEqual(
            'h\u00f6st \uffff ? ? ?',
            status.fit('h\u00f6st \uffff \U0001f600 \ud83d \x00'),
        )
        self.assertEqual(210, len(status.fit('\U0001f600' * 999)))
