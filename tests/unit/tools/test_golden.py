# SPDX-License-Identifier: Apache-2.0
"""Does a golden file show what has changed, and can it be rewritten?"""

import pathlib

import fixtures

from tests import golden


class TestGolden(golden.GoldenTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(
            fixtures.MonkeyPatch(
                'tests.golden.inspect.getfile',
                lambda _: str(folder / 'test_x.py'),
            )
        )
        self.useFixture(fixtures.EnvironmentVariable(golden.REWRITE))
        self.file = folder / 'golden' / 'test_x' / 'table.txt'

    def write(self, text: str) -> None:
        with fixtures.EnvironmentVariable(golden.REWRITE, '1'):
            self.assert_golden('table.txt', text, {'/tmp/r': 'FOLDER'})

    def test_the_same(self) -> None:
        self.write('of /tmp/r\n')
        self.assertEqual('of FOLDER\n', self.file.read_text())
        self.assert_golden('table.txt', 'of FOLDER\n')

    def test_another_line(self) -> None:
        self.write('first\nsecond\n')
        error = self.assertRaises(
            self.failureException,
            self.assert_golden,
            'table.txt',
            'first\nthird\n',
        )
        self.assertIn('-second\n+third\n', str(error))

    def test_no_file(self) -> None:
        self.assertRaises(
            self.failureException, self.assert_golden, 'table.txt', 'text\n'
        )

    def test_words_of_a_page(self) -> None:
        self.assertEqual(
            'Hosts\na & b\n',
            golden.words_of(
                '<title>t</title><style>p {}</style>\n<h1>Hosts</h1>'
                '<p>a &amp;\n b</p>'
            ),
        )
