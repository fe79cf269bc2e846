# SPDX-License-Identifier: Apache-2.0
"""Does a recording of a run plan the same, also without its names?"""

import dataclasses

from oslotest import base

from kronos.common import exceptions
from kronos.engine.settings import Settings
from kronos.engine.types import ComputeService, Host
from kronos.extensions.maintenance import closing_reason, maintenance
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.extension import MaintenanceRun
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.extensions.maintenance.recordings.part import (
    NOT_QUERIED,
    MaintenanceRecording,
)
from kronos.recordings import parts
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest

AUDIT = 'a0d17000-1111-4111-8111-111111111111'
PART = MaintenanceRecording()


def gathered() -> CloudInventory:
    reason = ClosingReason('payroll', Step.HANDED_OVER, 1000.0, AUDIT)
    services = {
        name: ComputeService(
            name, state='up', status='disabled', disabled_reason=text
        )
        for name, text in (
            ('acme-1', str(reason)),
            ('acme-2', str(dataclasses.replace(reason, run='mine'))),
            ('acme-3', 'broken by Bob'),
        )
    }
    hosts = {name: Host(name) for name in services}
    return CloudInventory(Cloud(hosts, {}, []), services)


class TestPart(base.BaseTestCase):
    def test_mode(self) -> None:
        self.assertEqual('maintenance', parts.by_mode()['maintain'])

    def test_anonymous(self) -> None:
        """Run, step and time stay what a plan goes by; names do not."""
        was = gathered()
        was.beside = {
            maintenance.NAME: RunView(done=['acme-1'], balancing=['bobs'])
        }
        spec = Maintenance(
            'payroll', ('acme-1', 'acme-2'), done_query='up{x="acme"}'
        )
        recording = Recording(
            was,
            [],
            ScopeRequest(),
            Settings(extension=MaintenanceRun(spec)),
            {},
            '',
        )
        new = anonymizer.anonymized(recording)
        run = maintenance.of(new.settings)
        assert run is not None
        assert new.gathered.services is not None
        reasons = {
            name: closing_reason.parsed(service.disabled_reason)
            for name, service in new.gathered.services.items()
        }
        [own] = [row for row in reasons.values() if row and row.run == run.run]
        self.assertEqual((Step.HANDED_OVER, 1000.0), (own.step, own.since))
        others = [row for row in reasons.values() if row and row is not own]
        self.assertEqual(1, len(others))
        view = maintenance.view_of(new.gathered.beside)
        self.assertIn(view.done[0], run.hosts)
        text = str(dataclasses.asdict(new.gathered)) + str(run)
        for word in ('acme', 'payroll', 'mine', 'Bob', 'bobs', AUDIT):
            self.assertNotIn(word, text)

    def test_written_and_read(self) -> None:
        """What an audit asked and saw is stored as it is."""
        was = gathered()
        view = RunView(done=['acme-1'], concurrent=4)
        was.beside = {maintenance.NAME: view}
        files = parts.files(was)
        stored = files['extensions/maintenance.json']['maintenance']
        self.assertEqual(view, RunView(**stored))
        spec = Maintenance('r', ('a', 'b'), at_once=2)
        rows = dataclasses.asdict(spec) | {'hosts': ['a', 'b']}
        self.assertEqual(spec, parts.made('maintenance', rows).asked)

    def test_replayed(self) -> None:
        """On a recording of any audit; nobody is taken to be done."""
        was = gathered()
        extension = parts.replayed(
            'maintenance', {'hosts': 'acme-1', 'run': 'r'}, was
        )
        self.assertEqual(Maintenance('r', ('acme-1',)), extension.asked)
        self.assertEqual('', maintenance.view_of(was.beside).unknown)
        self.assertEqual([NOT_QUERIED], was.warnings)
        settings = Settings(rebalance=True, evacuate=False)
        extension.prepare(settings)
        self.assertTrue(settings.evacuate and not settings.rebalance)

    def test_replayed_without_hosts(self) -> None:
        self.assertRaises(
            exceptions.ConfigurationError, PART.replayed, {}, gathered()
        )

    def test_replayed_with_an_unknown_host(self) -> None:
        error = self.assertRaises(
            exceptions.ConfigurationError,
            PART.replayed,
            {'hosts': 'acme-7', 'run': 'r'},
            gathered(),
        )
        self.assertIn('the recording has no host "acme-7"', str(error))
        self.assertIn('acme-1', str(error))

    def test_reasons_of_others(self) -> None:
        self.assertIsNone(PART.disabled_reason('broken', str.upper))
