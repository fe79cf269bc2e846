# SPDX-License-Identifier: Apache-2.0
"""Are arguments of the simulation taken for what they mean?"""

import contextlib
import io

from oslotest import base

from kronos.cmd.loads import arguments


class TestArguments(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.parser = arguments.parser_of('kronos-simulate')

    def fault(self, *words: str) -> str:
        """What is complained of."""
        with contextlib.redirect_stderr(io.StringIO()) as err:
            try:
                parsed = self.parser.parse_args(words)
            except SystemExit:
                return err.getvalue()
        return arguments.misuse(parsed, words)

    def test_values(self) -> None:
        words = (
            *('load', '--strategy', 'spread,pack', '--jobs', '2'),
            *('--window', 'cpu=avg:3600', '--watts', '90,100,120'),
            *('--set', 'threshold.cpu=0.3', 'interval=600'),
        )
        parsed = self.parser.parse_args(words)
        self.assertEqual('', arguments.misuse(parsed, words))
        self.assertEqual(
            ('load', ['spread,pack'], 2),
            (parsed.path, parsed.strategy, parsed.jobs),
        )
        self.assertEqual([('cpu', 'avg:3600')], parsed.window)
        self.assertEqual([90.0, 100.0, 120.0], parsed.watts)
        self.assertEqual(
            [[('threshold.cpu', '0.3'), ('interval', '600')]], parsed.set
        )

    def test_wrong(self) -> None:
        for words, fault in (
            (('--set', 'load'), 'name LOAD before --set'),
            (('--jobs', '0'), 'is not within 1 and 1024'),
            (('--seed', '-1'), 'is not a whole number'),
            (('--watts', '90'), 'at least two numbers of watts'),
            (('load', '--advise', '--html', 'x'), 'remove --html'),
            (
                ('load', '--compare', 'x', '--compare', 'x'),
                'the same file is given twice',
            ),
            (('load', '--out', 'x'), '--out'),
        ):
            with self.subTest(words=words):
                self.assertIn(fault, self.fault(*words))
