# SPDX-License-Identifier: Apache-2.0
"""Is a query of a policy one row of a table, for whoever works with it?"""

import dataclasses
import json
import pathlib
from unittest import mock

import fixtures
from oslotest import base

from kronos.cmd.checks import metrics
from kronos.cmd.checks.causes.answers import Causes
from kronos.cmd.checks.findings import Findings
from kronos.engine import edits
from kronos.engine.settings import Settings
from kronos.engine.types import (
    PlanningInput,
    PolicyReadings,
    Reading,
    Sample,
)
from kronos.policies import loader, models
from kronos.recordings import load
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.snapshots import queries
from tests.builders import recordings


class WiderPolicy(models.Policy):
    """With one more query."""

    latency_query: models.OptionalQuery = None


class WiderFile(models.PolicyFile):
    policies: list[WiderPolicy]  # type: ignore[assignment]


@dataclasses.dataclass
class WiderReadings(PolicyReadings):
    latency: Reading | None = None


LATENCY = models.PolicyQuery(
    'latency_query', 'host_label', 'latency', 'latency', ranks_hosts=True
)
ASKED = 'wait{host="a1"} + secretmetric'


class TestTable(base.BaseTestCase):
    def test_each_query_has_one_row(self) -> None:
        names = [
            name
            for name, field in models.Policy.model_fields.items()
            if field.description == 'a non-empty PromQL query'
        ]
        self.assertEqual(4, len(names))
        self.assertEqual(
            sorted(names), sorted(row.field for row in models.QUERIES)
        )

    def test_each_row_names_what_there_is(self) -> None:
        fields = models.Policy.model_fields
        readings = [field.name for field in dataclasses.fields(PolicyReadings)]
        self.assertEqual(readings, [row.reading for row in models.QUERIES])
        for row in models.QUERIES:
            self.assertIn(row.label, fields)
            self.assertIn(row.label_type, {'', *fields})
            self.assertTrue(row.least <= row.default <= row.most)

    def test_files_of_recordings(self) -> None:
        """Their names are the format."""
        self.assertEqual(
            ['imbalance', 'vm_profile', 'host_capacity', 'capacity'],
            [row.file for row in models.QUERIES],
        )


class TestOneMore(base.BaseTestCase):
    """A row more: the query is asked, recorded, renamed and read back."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name, value in (
            ('kronos.policies.models.QUERIES', (*models.QUERIES, LATENCY)),
            ('kronos.policies.loader.PolicyFile', WiderFile),
            ('kronos.policies.loader.Policy', WiderPolicy),
            ('kronos.snapshots.queries.PolicyReadings', WiderReadings),
            ('kronos.engine.edits.PolicyReadings', WiderReadings),
        ):
            self.useFixture(fixtures.MonkeyPatch(name, value))
        self.policies = [
            WiderPolicy(**policy.model_dump(), latency_query=ASKED)
            for policy in recordings.policies()
        ]

    def recording(self) -> Recording:
        small = recordings.small()
        small.policies = list(self.policies)
        small.policies_text = loader.dump(self.policies)
        small.answers[ASKED, 'host'] = Reading(
            ASKED, samples=[Sample('a1', 0.5, recordings.NOW)]
        )
        return small

    def test_asked(self) -> None:
        prometheus = mock.Mock(spec_set=['instant_query'])
        prometheus.instant_query.return_value = Reading(ASKED)
        for name in ('of', 'of_hosts'):
            policy_queries = queries.PolicyQueries(prometheus, Settings())
            readings = getattr(policy_queries, name)(self.policies)['cpu']
            prometheus.instant_query.assert_any_call(ASKED, 'host')
            self.assertEqual(Reading(ASKED), readings.latency)
            prometheus.reset_mock()

    def test_checked(self) -> None:
        prometheus = mock.Mock(spec_set=['instant_query'])
        prometheus.instant_query.return_value = Reading(ASKED)
        to = Findings()
        causes = Causes(prometheus, [], Settings(), '', to)
        rows = metrics.check(self.policies[:1], causes, to)
        self.assertEqual('latency_query', rows[-1]['field'])
        self.assertTrue(rows[-1]['is_used'])

    def test_recorded_and_read_back(self) -> None:
        recording = self.recording()
        path = self.folder / 'recording'
        load.write(str(path), recording)
        document = json.loads(
            (path / 'prometheus' / 'cpu.latency.json').read_text()
        )
        self.assertEqual(ASKED, document['query'])
        result = load.read(str(path))
        self.assertEqual(
            recording.answers[ASKED, 'host'], result.answers[ASKED, 'host']
        )
        [snapshot, _] = result.snapshots()
        readings = snapshot.readings['cpu']
        assert isinstance(readings, WiderReadings)
        self.assertEqual(recording.answers[ASKED, 'host'], readings.latency)

    def test_anonymised(self) -> None:
        anonymised = anonymizer.anonymized(self.recording())
        [query] = {each.latency_query for each in anonymised.policies}
        self.assertNotIn('secretmetric', query)
        self.assertNotIn('a1', query)
        [sample] = anonymised.answers[query, 'host'].samples
        self.assertNotEqual('a1', sample.label)
        self.assertIn(sample.label, anonymised.gathered.cloud.hosts)

    def test_made_up(self) -> None:
        """Where every policy is to be usable for once."""
        [snapshot, _] = self.recording().snapshots()
        result = edits.usable(
            PlanningInput(snapshot, list(self.policies), Settings())
        )
        readings = result.snapshot.readings['cpu']
        assert isinstance(readings, WiderReadings)
        assert readings.latency is not None
        self.assertEqual(
            {'a1': 0.5, 'a2': 0.0, 'a3': 0.0},
            {
                sample.label: sample.value
                for sample in readings.latency.samples
            },
        )
