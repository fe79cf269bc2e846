# SPDX-License-Identifier: Apache-2.0
"""Do the options of a replay say what is to differ, and nothing else?"""

import argparse
import contextlib
import io
import pathlib
from typing import Any
from unittest import mock

import fixtures
from oslotest import base

from kronos.cmd import what_if
from kronos.common import exceptions
from kronos.engine.explain.remedies import Remedy
from kronos.engine.settings import Settings, SoftRules
from kronos.engine.types import PlanningInput, Snapshot
from kronos.policies import loader
from kronos.policies.models import Mode
from kronos.recordings.replay import ReplayOptions
from tests import places
from tests.builders.scopes import policy

METRIC = str(places.CLUSTERS / 'metric-2.json')


class TestOptions(base.BaseTestCase):
    def parsed(self, *arguments: str) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        what_if.add(parser)
        return parser.parse_args(arguments)

    def of(self, *arguments: str) -> ReplayOptions:
        parsed = self.parsed(*arguments)
        return what_if.of(parsed, parsed.policies)

    def test_nothing(self) -> None:
        self.assertEqual(ReplayOptions(), self.of())

    def test_all(self) -> None:
        found = self.of(
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
            found,
        )

    def test_an_override_may_hold_an_equals_sign(self) -> None:
        found = self.of('--set', 'imbalance_query.cpu=up{a="b"}')
        self.assertEqual({'imbalance_query.cpu': 'up{a="b"}'}, found.overrides)

    def test_policies(self) -> None:
        """Of a file, or of standard input."""
        known = [policy('cpu')]
        text = loader.dump(known)
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'policies.yaml').write_text(text)
        found = self.of('--policies', str(folder / 'policies.yaml'))
        self.assertEqual(known, found.policies)
        with mock.patch(
            'kronos.recordings.safe_files.standard_input',
            return_value=text.encode(),
        ):
            self.assertEqual(known, self.of('--policies', '-').policies)

    def test_wrong_usage(self) -> None:
        for arguments, text in (
            (('--set', 'keep_hosts'), 'not of the form NAME=VALUE'),
            (('--set', '=1'), 'not of the form NAME=VALUE'),
            (('--max-migrations', '0'), 'not a whole number of at least 1'),
            (('--max-migrations', '1.5'), 'not a whole number'),
            (('--max-migrations', str(2**31)), 'not a whole number'),
            (('--mode', 'sideways'), 'invalid choice'),
            (('--config-file', 'x'), 'change one with --set'),
        ):
            with contextlib.redirect_stderr(io.StringIO()) as err:
                error = self.assertRaises(SystemExit, self.parsed, *arguments)
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
    def setUp(self) -> None:
        super().setUp()
        self.case = PlanningInput(
            Snapshot(scope='agg', hosts={}, instances={}, readings={}),
            [
                policy('cpu', 0.5, threshold=0.15),
                policy('ram', 0.5, threshold=0.15),
            ],
            Settings(rebalance=False),
        )

    def tried(self, **more: Any) -> PlanningInput:
        return what_if.with_remedy(self.case, Remedy('', **more))

    def test_fields_and_options(self) -> None:
        found = self.tried(
            overrides={
                'threshold.cpu': '0.0999',
                'soft_rules': 'penalty',
                'allowed_extra_specs': 'a,b',
            }
        )
        self.assertEqual(
            [0.0999, 0.15], [one.threshold for one in found.policies]
        )
        self.assertIs(SoftRules.PENALTY, found.settings.soft_rules)
        self.assertEqual(['a', 'b'], found.settings.allowed_extra_specs)

    def test_a_budget_and_a_mode(self) -> None:
        found = self.tried(max_migrations=4, mode=Mode.SPREAD)
        self.assertEqual(4, found.settings.max_migrations)
        self.assertTrue(found.settings.rebalance)

    def test_the_input_stays_as_it_is(self) -> None:
        self.tried(overrides={'keep_hosts': '9', 'threshold.cpu': '0.5'})
        self.assertEqual(Settings(rebalance=False), self.case.settings)
        self.assertEqual(0.15, self.case.policies[0].threshold)
