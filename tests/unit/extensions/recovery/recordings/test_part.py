# SPDX-License-Identifier: Apache-2.0
"""Is what a recovery knows kept in a recording, and anonymous?"""

import fixtures
from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.types import PastRestart
from kronos.extensions.recovery.extension import RECOVERY
from kronos.extensions.recovery.failures import (
    NAME,
    NOT_ASKED,
    Failures,
    why_unknown,
)
from kronos.extensions.recovery.recordings.part import RecoveryRecording
from kronos.recordings import load
from kronos.recordings.anonymize import anonymizer
from tests.builders import recordings


class TestRecoveryRecording(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.place = self.useFixture(fixtures.TempDir()).join('recording')

    def test_in_the_file_and_back(self) -> None:
        for unknown in (NOT_ASKED, '', 'Prometheus is away'):
            recording = recordings.small()
            recording.settings = Settings(extension=RECOVERY)
            recording.gathered.beside[NAME] = Failures(unknown)
            load.write(self.place, recording, replace=True)
            found = load.read(self.place)
            self.assertEqual(unknown, why_unknown(found.gathered.beside))
            self.assertEqual(RECOVERY, found.settings.extension)

    def test_closed_lists(self) -> None:
        instance = recordings.small().gathered.instances[0]
        instance.failure = 'of the customer'
        instance.guest, instance.stopped_by = 'running', 'Ms. Smith'
        instance.restarts = [PastRestart(1.0, 'SUCCEEDED', True, 'req-7')]
        fields = RecoveryRecording().anonymous_fields(instance)
        self.assertEqual('unknown', fields['failure'])
        self.assertEqual('running', fields['guest'])
        self.assertEqual('other', fields['stopped_by'])
        [restart] = fields['restarts']
        self.assertEqual(('SUCCEEDED', 'req'), (restart.state, restart.stop))

    def test_why_nothing_is_known(self) -> None:
        recording = recordings.small()
        reason = 'host_fault_query of Acme: TLS'
        recording.gathered.beside[NAME] = Failures(reason)
        found = anonymizer.anonymized(recording).gathered
        self.assertEqual(
            {'TLS', 'host_fault_query', 'the rest is not told'},
            set(why_unknown(found.beside).split('; ')),
        )
