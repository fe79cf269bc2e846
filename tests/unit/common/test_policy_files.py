# SPDX-License-Identifier: Apache-2.0
"""Is it told what a rule of a policy file comes to, and no more?"""

import pathlib

import fixtures
from oslotest import base

from kronos.common import policy_files

RULE = 'service:act'


class TestIsOpen(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def write(self, text: str, name: str = 'policy.yaml') -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def is_open(self, *texts: str) -> bool:
        paths = [
            self.write(text, f'{index}.yaml')
            for index, text in enumerate(texts)
        ]
        return policy_files.is_open(paths, RULE)

    def test_of_one_file(self) -> None:
        for text, expected in (
            ('', False),
            ('{}', False),
            ('other: "@"', False),
            (f'"{RULE}": "!"', False),
            (f'"{RULE}": " ! "', False),
            (f'"{RULE}": ""', True),
            (f'"{RULE}": "@"', True),
            (f'"{RULE}": "rule:admin_api"', True),
            (f'"{RULE}": "role:admin and project_id:%(project_id)s"', True),
            (f'"{RULE}": "rule:closed"\nclosed: "!"', False),
            (f'"{RULE}": "rule:a"\na: "rule:b"\nb: "!"', False),
        ):
            self.assertIs(expected, self.is_open(text), text)

    def test_later_files_override(self) -> None:
        closed, opened = f'"{RULE}": "!"', f'"{RULE}": "@"'
        self.assertTrue(self.is_open(closed, opened))
        self.assertFalse(self.is_open(opened, closed))
        self.assertTrue(self.is_open(opened, 'other: "!"'))

    def test_a_directory(self) -> None:
        """Its files by their names, without hidden ones."""
        self.write(f'"{RULE}": "!"', '1.yaml')
        self.write(f'"{RULE}": "@"', '2.yaml')
        self.write(f'"{RULE}": "!"', '.3.yaml')
        self.assertTrue(policy_files.is_open([str(self.folder)], RULE))

    def test_what_cannot_be_used(self) -> None:
        """Nothing of the file is repeated."""
        for text, words in (
            ('- secret', 'instead of a mapping of rules'),
            ('a: [secret', 'not valid YAML (line '),
            (f'"{RULE}": [secret]', f'{RULE} is not a valid rule'),
            (f'"{RULE}": "rule:a"\na: "rule:a"', 'is not a valid rule'),
        ):
            error = self.assertRaises(policy_files.Invalid, self.is_open, text)
            self.assertIn(words, str(error))
            self.assertNotIn('secret', str(error))
        missing = str(self.folder / 'none.yaml')
        error = self.assertRaises(
            policy_files.Invalid, policy_files.is_open, [missing], RULE
        )
        self.assertIn(missing, str(error))
