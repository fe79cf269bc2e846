# SPDX-License-Identifier: Apache-2.0
"""Does the table of releases say what the tests said?"""

import pathlib
import sys

import fixtures
from oslotest import base

from kronos.cmd.upgrade_checks import versions
from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit import cohorts, matrix  # noqa: E402

OLD, NEW = cohorts.COHORTS['2025.2'], cohorts.COHORTS['2026.2']
SAID = """\
{0} tests.lab.test_cancel.TestCancel.test_running [49.9s] ... ok
{0} tests.lab.test_cancel.TestCancel.test_waiting [56.5s] ... ok
{1} tests.lab.test_spread.TestSpread.test_piled [7.0s] ... FAILED
{1} tests.lab.test_drain.TestDrain.test_one [0.0s] ... SKIPPED: it cannot
"""


class TableTestCase(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(
            fixtures.MockPatchObject(matrix, 'RESULTS', folder / 'cohorts')
        )

    def row(self, title):
        """The cells of a row of the table, by cohort."""
        lines = [line.strip(' *-') for line in matrix.table().splitlines()]
        begin = lines.index(title) + 1
        cells = lines[begin : begin + len(cohorts.COHORTS)]
        return dict(zip(cohorts.COHORTS, cells, strict=True))

    def test_what_was_said(self):
        matrix.keep(OLD, matrix.SCENARIOS, SAID)
        title = 'A cancelled plan aborts what runs in Nova'
        self.assertEqual('yes (2)', self.row(title)['2025.2'])
        self.assertEqual('not tested', self.row(title)['2026.2'])
        title = '``kronos_spread`` in the lab'
        self.assertEqual('fails', self.row(title)['2025.2'])
        title = '``kronos_evacuate`` in the lab'
        self.assertEqual('it cannot', self.row(title)['2025.2'])

    def test_another_suite_adds_to_it(self):
        matrix.keep(NEW, matrix.SCENARIOS, SAID)
        matrix.keep(NEW, matrix.SUITES[-1], '')
        self.assertEqual(
            {matrix.SCENARIOS.name, matrix.SUITES[-1].name},
            set(matrix.results(NEW)),
        )

    def test_the_newest_word_counts(self):
        matrix.keep(OLD, matrix.SCENARIOS, SAID)
        again = SAID.replace('FAILED', 'ok')
        matrix.keep(OLD, matrix.SCENARIOS, again)
        title = '``kronos_spread`` in the lab'
        self.assertEqual('yes (1)', self.row(title)['2025.2'])


class ReleasesTestCase(base.BaseTestCase):
    def test_files_have_the_releases(self):
        """As ./tools/constrain has written them."""
        for cohort in (*cohorts.COHORTS.values(), cohorts.REFERENCE):
            versions = cohort.versions()
            majors = [
                int(versions[name].partition('.')[0])
                for name in ('nova', 'python-watcher')
            ]
            self.assertEqual([cohort.nova, cohort.watcher], majors, cohort)

    def test_what_is_promised_is_tested(self):
        """What kronos-status says, in the columns of the table."""
        known = cohorts.COHORTS.values()
        tested = {
            'nova': sorted(one.nova for one in known),
            'python-watcher': sorted(one.watcher for one in known),
        }
        ends = {name: (all_[0], all_[-1]) for name, all_ in tested.items()}
        self.assertEqual(versions.SUPPORTED, ends)
