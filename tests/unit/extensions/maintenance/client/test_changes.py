# SPDX-License-Identifier: Apache-2.0
"""Is a run paused, resumed and ended, whatever state it is in?"""

from collections.abc import Callable

from kronos.common import exceptions
from kronos.extensions.maintenance.client import changes, runs
from kronos.extensions.maintenance.client.runs import Run
from tests.unit.extensions.maintenance.client import maintained

Change = Callable[..., None]


class TestChanges(maintained.MaintainedTestCase):
    def named(self) -> Run:
        return runs.named(runs.listed(self.client), None)

    def state(self) -> str:
        return str(self.watcher.audits[maintained.AUDIT]['state'])

    def refusal(self, change: Change) -> str:
        error = self.assertRaises(
            exceptions.KronosException, change, self.client, self.named()
        )
        return str(error)

    def test_there_and_back(self) -> None:
        self.begin()
        for change, expected in (
            (changes.resume, 'ONGOING'),
            (changes.pause, 'SUSPENDED'),
            (changes.pause, 'SUSPENDED'),
            (changes.resume, 'ONGOING'),
        ):
            change(self.client, self.named())
            self.assertEqual(expected, self.state())

    def test_not_begun_yet(self) -> None:
        self.begin('PENDING')
        self.assertIn('is PENDING', self.refusal(changes.pause))
        self.assertEqual('PENDING', self.state())

    def test_at_its_end(self) -> None:
        self.begin('CANCELLED')
        for change in (changes.pause, changes.resume):
            self.assertIn('the run r1 has ended', self.refusal(change))

    def finish(self, *waits: bool) -> list[str]:
        texts: list[str] = []
        answers = iter(waits)

        def wait(text: str) -> bool:
            texts.append(text)
            if len(texts) == 2:
                self.watcher.plans[0]['state'] = 'CANCELLED'
            return next(answers)

        changes.Finish(self.client, wait).carry_out(self.named())
        return texts

    def test_finish(self) -> None:
        for state in ('PENDING', 'ONGOING', 'SUSPENDED'):
            self.watcher.audits.clear()
            self.begin(state)
            self.assertEqual([], self.finish())
            self.assertEqual('CANCELLED', self.state())
        self.finish()

    def test_what_is_under_way_ends(self) -> None:
        """Else it would close hosts behind the operator's back."""
        self.begin()
        self.plan_next(state='ONGOING')
        self.assertEqual(2, len(self.finish(True, True)))
        self.watcher.plans[0]['state'] = 'RECOMMENDED'
        self.finish(True)
        self.assertEqual('CANCELLED', self.watcher.plans[0]['state'])

    def test_what_is_under_way_does_not_end(self) -> None:
        self.begin()
        self.plan_next(state='ONGOING')
        error = self.assertRaises(
            exceptions.KronosException, self.finish, False
        )
        self.assertIn('may close or open hosts', str(error))

    def test_remedies(self) -> None:
        self.begin()
        self.close('h1')
        self.close_by_hand('h2')
        reader = self.reader()
        [sentence] = changes.remedies(reader.status(self.named()))
        self.assertEqual(
            'h1 stays closed (handed over): once it is done, open it by '
            '"openstack compute service set --enable h1 nova-compute", or '
            'start the run r1 again',
            sentence,
        )
