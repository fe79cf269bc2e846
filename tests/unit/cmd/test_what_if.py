# SPDX-License-Identifier: Apache-2.0
"""Do the options of a replay say what is to differ, and nothing else?"""

import argparse
import contextlib
import io
import pathlib
from unittest import mock

import fixtures
from oslotest import base

from kronos.cmd import what_if
from kronos.common import exceptions
from kronos.engine.explain.remedies import Remedy
from kronos.policies import loader
from kronos.policies.models import Mode
from kronos.recordings.replay import ReplayOptions
from tests import places
from tests.builders.scopes import policy

METRIC = str(places.CLUSTERS / 'metric-2.json')


def parsed_from(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    what_if.add(parser)
    return parser.parse_args(arguments)


def options_of(*arguments: str) -> ReplayOptions:
    parsed = parsed_from(*arguments)
    return what_if.of(parsed, parsed.policies)


class TestOptions(base.BaseTestCase):
    def test_nothing(self) -> None:
        self.assertEqual(ReplayOptions(), options_of())

    def test_all(self) -> None:
        result = options_of(
            *('--set', 'threshold.cpu=0.1', '--set', 'keep_hosts=2'),
            *('--mode', 'pack', '--max-migrations', '7'),
            *('--scope', 'a', '--scope', '_unassigned_'),
            *('--plain', '--exhaust'),
        )
        self.assertEqual(
            ReplayOptions(
                mode='pack',
                max_migrations=7,
                scopes=['a', '_unassigned_'],
                overrides={'threshold.cpu': '0.1', 'keep_hosts': '2'},
                plain=True,
                exhaust=True,
            ),
            result,
        )

    def test_an_override_may_hold_an_equals_sign(self) -> None:
        result = options_of('--set', 'imbalance_query.cpu=up{a="b"}')
        self.assertEqual(
            {'imbalance_query.cpu': 'up{a="b"}'}, result.overrides
        )

    def test_policies(self) -> None:
        """Of a file, or of standard input."""
        known = [policy('cpu')]
        text = loader.dump(known)
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'policies.yaml').write_text(text)
        result = options_of('--policies', str(folder / 'policies.yaml'))
        self.assertEqual(known, result.policies)
        with mock.patch(
            'kronos.recordings.safe_files.standard_input',
            return_value=text.encode(),
        ):
            self.assertEqual(known, options_of('--policies', '-').policies)

    def test_wrong_usage(self) -> None:
        for arguments, text in (
            (('--set', 'keep_hosts'), 'not of the form NAME=VALUE'),
            (('--set', '=1'), 'not of the form NAME=VALUE'),
            (('--max-migrations', '0'), 'not a whole number of at least 1'),
            (('--max-migrations', '1.5'), 'not a whole number'),
            (('--max-migrations', str(2**31)), 'not a whole number'),
            (('--mode', 'sideways'), 'invalid choice'),
            (('--config-file', 'x'), 'change an option with --set'),
        ):
            with contextlib.redirect_stderr(io.StringIO()) as err:
                error = self.assertRaises(SystemExit, parsed_from, *arguments)
            self.assertEqual(2, error.code)
            # argparse wraps as wide as the terminal is.
            self.assertIn(text, ' '.join(err.getvalue().split()))


class TestPlayed(base.BaseTestCase):
    def test_a_file(self) -> None:
        plan = what_if.played(METRIC, ReplayOptions(max_migrations=1))
        self.assertEqual(1, len(plan.report.steps))
        self.assertEqual('load', next(iter(plan.timings)))

    def test_no_file(self) -> None:
        self.assertRaises(
            exceptions.ArchiveError,
            what_if.played,
            '/nonexistent',
            ReplayOptions(),
        )


class TestRemedies(base.BaseTestCase):
    """A remedy is what a call with its arguments asks for."""

    def test_the_arguments_of_a_call(self) -> None:
        remedy = Remedy(
            '',
            {
                'threshold.cpu': '0.0999',
                'soft_rules': 'penalty',
                'allowed_extra_specs': 'a,b',
            },
            max_migrations=4,
            mode=Mode.SPREAD,
        )
        given = ['--set', 'keep_hosts=9', '--set', 'threshold.cpu=0.5']
        given += ['--max-migrations', '2', '--plain']
        self.assertEqual(
            options_of(*given, *remedy.arguments()),
            what_if.with_remedy(options_of(*given), remedy),
        )

    def test_nothing_else_changes(self) -> None:
        given = '--mode', 'evacuate', '--max-migrations', '3'
        self.assertEqual(
            options_of(*given),
            what_if.with_remedy(options_of(*given), Remedy('')),
        )

    def test_what_a_replay_would_plan_by(self) -> None:
        plan = what_if.played(METRIC, ReplayOptions(max_migrations=1))
        self.assertEqual(
            what_if.cycle(plan), what_if.prepared(plan, Remedy(''))
        )
        remedy = Remedy('', {'keep_hosts': '3'}, max_migrations=2)
        result = what_if.prepared(plan, remedy)
        assert result is not None
        self.assertEqual(
            (2, 3),
            (result.settings.max_migrations, result.settings.keep_hosts),
        )
        self.assertEqual(1, plan.settings.max_migrations)

    def test_what_a_replay_refuses(self) -> None:
        plan = what_if.played(METRIC, ReplayOptions())
        for overrides in ({'threshold.other': '0.1'}, {'keep_hosts': 'few'}):
            result = what_if.prepared(plan, Remedy('', overrides))
            self.assertIsNone(result)
