# SPDX-License-Identifier: Apache-2.0
"""Is it said which option has labels match hosts?"""

from oslotest import base

from kronos.engine.settings import HostMatch
from kronos.reports import host_names
from tests.builders import recordings

CAUSE = (
    'no host has a value: Prometheus has the name a1.x.org where Nova has a1; '
)


class TestSentence(base.BaseTestCase):
    def sentence(self, how: HostMatch, can_try: bool = False) -> str:
        recording = recordings.metrics_renamed(recordings.small(), '.x.org')
        snapshots = recording.snapshots(
            recording.policies, recording.settings, recording.request
        )
        return host_names.sentence(snapshots, recording.policies, how, can_try)

    def test_the_option(self) -> None:
        self.assertEqual(
            f'{CAUSE}set [kronos] host_match = short',
            self.sentence(HostMatch.EXACT),
        )

    def test_how_to_try_it(self) -> None:
        self.assertEqual(
            f'{CAUSE}set [kronos] host_match = short, or try it here with '
            '--set host_match=short',
            self.sentence(HostMatch.EXACT, can_try=True),
        )

    def test_nothing_to_say(self) -> None:
        self.assertEqual('', self.sentence(HostMatch.SHORT))
        self.assertEqual('', host_names.sentence([], [], HostMatch.EXACT))
