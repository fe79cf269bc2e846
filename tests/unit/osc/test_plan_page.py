# SPDX-License-Identifier: Apache-2.0
"""Does a plan become a page, by Watcher's API alone?"""

import os
import pathlib
import stat

import fixtures

from tests.unit.osc import clouds


class TestPlanPage(clouds.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder) / 'plan.html'
        self.plan = self.add_plan(1, audit_uuid=self.add_audit())

    def page(self, **inputs: object) -> str:
        self.add_action(self.plan, inputs=inputs)
        self.add_action(
            self.plan,
            'vm2',
            state='FAILED',
            status_message=clouds.TOLD,
            inputs={'sequence': 2},
        )
        code, _, err = self.run_client(
            'plan', 'show', self.plan, '--html', str(self.path)
        )
        self.assertEqual((0, ''), (code, err))
        return self.path.read_text()

    def test_what_it_shows(self) -> None:
        text = self.page()
        for part in (
            self.plan,
            'kronos_spread',
            'alpha: sentence 1',
            '2 moves from 1 host to 1 host',
            'the instance is locked',
            'Unlock it if you want it to move.',
            'cpu 0.600 -&gt; 0.400',
        ):
            self.assertIn(part, text)

    def test_hostile_names(self) -> None:
        text = self.page(
            resource_name='<script>x</script>', source_node='"><img src=x>'
        )
        self.assertNotIn('<script', text)
        self.assertNotIn('<img', text)
        self.assertIn('&lt;script&gt;x', text)

    def test_it_takes_the_place_of_another_file(self) -> None:
        """As other pages do: whole, never through a link, by the umask."""
        target = self.path.with_name('target')
        target.write_text('another')
        self.path.symlink_to(target)
        before = os.umask(0o027)
        self.addCleanup(os.umask, before)
        self.assertTrue(self.page().rstrip().endswith('</html>'))
        self.assertFalse(self.path.is_symlink())
        self.assertEqual(0o640, stat.S_IMODE(self.path.stat().st_mode))
        self.assertEqual('another', target.read_text())
        self.assertEqual({self.path, target}, {*self.path.parent.iterdir()})

    def test_what_was_there_stays_if_it_cannot_be_replaced(self) -> None:
        self.path.mkdir()
        self.assertRegex(
            self.refused('plan', 'show', self.plan, '--html', str(self.path)),
            'cannot be written: Is a directory; name another file',
        )
        self.assertEqual([self.path], [*self.path.parent.iterdir()])

    def test_a_file_that_cannot_be_written(self) -> None:
        self.assertRegex(
            self.refused('plan', 'show', self.plan, '--html', '/dev/null/x'),
            '^/dev/null/x cannot be written: .*; name another file',
        )
