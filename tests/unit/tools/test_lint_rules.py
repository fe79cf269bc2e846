# SPDX-License-Identifier: Apache-2.0
"""Does ``lint`` refuse what reviewers would have to look for?"""

import tomllib

from oslotest import base

from tests import places


class TestLogging(base.BaseTestCase):
    def test_the_standard_librarys(self) -> None:
        """In every module of Kronos; tests and tools may look at it."""
        text = (places.TOP / 'pyproject.toml').read_text()
        lint = tomllib.loads(text)['tool']['ruff']['lint']
        self.assertIn('TID251', lint['select'])
        banned = lint['flake8-tidy-imports']['banned-api']
        self.assertIn('oslo_log', banned['logging']['msg'])
        ignored = lint['per-file-ignores']
        self.assertEqual(
            {'tests/*', 'tools/*'},
            {path for path, codes in ignored.items() if 'TID251' in codes},
        )

    def test_no_exception_is_made(self) -> None:
        for path in (places.TOP / 'kronos').rglob('*.py'):
            self.assertNotIn('noqa: TID251', path.read_text(), path)
