# SPDX-License-Identifier: Apache-2.0
"""Is it told whether nova-api lets a server leave its cell, and no more?"""

import pathlib

from tests.unit.extensions.cells.checks.checking import (
    HIDDEN,
    RULE,
    CellsTestCase,
)


class TestPolicy(CellsTestCase):
    def judged(self, *paths: str) -> tuple[str, bool | None]:
        """The need, and in ``self.report`` the rest."""
        arguments = [x for path in paths for x in ('--nova-policy', path)]
        self.report = self.asked('--offline', *arguments)
        return self.needs(self.report)[RULE]

    def only(self, code: str) -> dict[str, str]:
        """The finding; but for what was not looked at, it is the only one."""
        found = {*self.found(self.report)} - {'cells-options-unknown'}
        self.assertEqual({code}, found)
        return self.finding(self.report, code)

    def test_open_to_some(self) -> None:
        for rule in (
            'rule:admin_api',
            '"role:mover or role:admin"',
            'rule:movers',
        ):
            path = self.policy(rule, 'movers: "role:mover"')
            self.assertEqual((rule.strip('"'), True), self.judged(path))
            self.only_unknown_options()

    def test_of_the_configuration(self) -> None:
        """The option of audits is read where no file is named."""
        conf = self.conf(nova_policy_files=self.policy('"!"'))
        self.report = self.asked('--offline', '--config-file', conf)
        self.assertEqual(('!', False), self.needs(self.report)[RULE])
        self.only('cells-policy')

    def only_unknown_options(self) -> None:
        result = self.found(self.report)
        self.assertEqual({'cells-options-unknown': 'note'}, result)

    def test_closed(self) -> None:
        self.assertEqual(('!', False), self.judged(self.policy('"!"')))
        result = self.only('cells-policy')
        self.assertEqual('error', result['level'])
        self.assertIn('is closed', result['text'])
        self.assertIn(f'"{RULE}": "rule:admin_api"', result['mend'])

    def test_closed_by_default(self) -> None:
        """A file, or one that is empty, without the rule."""
        for text in ('', '# nothing\n', f'other: "role:{HIDDEN}"'):
            path = self.policy(None, text)
            self.assertEqual(('!', False), self.judged(path))
            self.assertIn('not set', self.only('cells-policy')['text'])

    def test_closed_by_another_rule(self) -> None:
        path = self.policy('rule:none', 'none: "rule:nobody"\nnobody: "!"')
        self.assertEqual(('rule:none', False), self.judged(path))
        self.only('cells-policy')

    def test_rules_in_a_circle(self) -> None:
        path = self.policy('rule:x', 'x: "rule:y"\ny: "rule:x"')
        self.assertEqual(('rule:x', False), self.judged(path))
        self.assertIn('itself', self.only('config-invalid')['text'])

    def test_open_to_everybody(self) -> None:
        for rule, shown in (('""', '""'), ('"@"', '@')):
            self.assertEqual((shown, True), self.judged(self.policy(rule)))
            self.assertEqual(
                'warning', self.only('cells-policy-open')['level']
            )

    def test_several_files(self) -> None:
        """The later one goes before; a directory is read by its names."""
        first = self.policy('"!"')
        folder = self.folder / 'policy.d'
        for name, rule in (('b.yaml', 'rule:admin_api'), ('a.yaml', '"@"')):
            self.write(f'policy.d/{name}', f'"{RULE}": {rule}\n')
        (folder / '.swp').write_text('[')
        need = self.judged(first, str(folder))
        self.assertEqual(('rule:admin_api', True), need)
        [row] = [
            one for one in self.report['cells']['needs'] if one['what'] == RULE
        ]
        self.assertEqual(str(folder / 'b.yaml'), row['where'])

    def test_invalid(self) -> None:
        """What is said shows nothing of the file."""
        for text, told in (
            (f'[{HIDDEN}', 'not valid YAML (line '),
            (f'a: *{HIDDEN}', 'not valid YAML (line 1)'),
            (f'{HIDDEN}: 1\n{HIDDEN}: 2', 'not valid YAML (line 2)'),
            (f'- {HIDDEN}', 'a list instead of a mapping of rules'),
        ):
            path = self.write('policy.yaml', text)
            self.assertEqual(('unknown', None), self.judged(path))
            result = self.only('config-invalid')
            self.assertIn(told, result['text'])
            self.assertIn(path, result['text'])

    def test_no_text(self) -> None:
        path = self.policy(f'[["role:{HIDDEN}"]]')
        self.assertEqual(('invalid', False), self.judged(path))
        self.assertIn('a list', self.only('config-invalid')['text'])

    def test_too_large(self) -> None:
        path = self.policy('rule:admin_api')
        pathlib.Path(path).write_text('#' * (1024 * 1024 + 1))
        self.assertEqual(('unknown', None), self.judged(path))
        self.assertIn('bytes', self.only('config-invalid')['text'])

    def test_larger_than_files_of_kronos(self) -> None:
        """All rules of Nova, with what is said of each."""
        path = self.policy('rule:admin_api', '# x\n' * 100_000)
        self.assertEqual(('rule:admin_api', True), self.judged(path))
