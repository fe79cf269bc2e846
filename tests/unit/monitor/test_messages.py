# SPDX-License-Identifier: Apache-2.0
"""Is the message what its schema says, whatever the incident is?"""

import json

import jsonschema
from oslotest import base

from kronos.monitor import messages
from kronos.monitor.incidents import Gap, Incident
from kronos.monitor.rules.decision import Ruling
from kronos.monitor.rules.models import Action, Severity
from tests import places
from tests.unit.monitor.rules.test_decision import INCIDENT

SCHEMA = places.TOP / 'doc' / 'source' / 'kronos.vm_event-1.json'
DECISION = Ruling(Action.SEND, 'ended', Severity.CRITICAL, ('hook',))


class TestMessage(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.schema = json.loads(SCHEMA.read_text())

    def told(self, incident: Incident) -> dict[str, object]:
        made = messages.of(incident, DECISION, 'node1', 'libvirt')
        out = messages.sent(messages.text_of(made), 1002.0, False)
        document: dict[str, object] = json.loads(messages.text_of(out))
        jsonschema.validate(document, self.schema)
        return document

    def test_all_of_it(self) -> None:
        self.assertEqual(
            {
                'schema': 'kronos.vm_event/1',
                'id': 'id',
                'hypervisor': 'libvirt',
                'host': 'node1',
                'instance': {
                    'uuid': INCIDENT.instance,
                    'name': 'instance-1',
                    'display_name': 'web 1',
                    'project': '9f0c',
                    'project_name': 'team',
                    'flavor': 'batch.large',
                    'image': '1b0c',
                },
                'kind': 'crash',
                'events': [
                    {
                        'event': 'LIFECYCLE',
                        'detail': 'STOPPED_FAILED',
                        'about': '',
                        'at': '1970-01-01T00:16:40Z',
                        'count': 1,
                    }
                ],
                'severity': 'critical',
                'rule': 'ended',
                'seen': '1970-01-01T00:16:40Z',
                'sent': '1970-01-01T00:16:42Z',
                'inferred': False,
                'gap': None,
                'resolved': False,
            },
            self.told(INCIDENT),
        )

    def test_after_a_gap(self) -> None:
        import dataclasses

        result = self.told(
            dataclasses.replace(INCIDENT, events=[], gap=Gap(900.0, 1000.0))
        )
        self.assertTrue(result['inferred'])
        self.assertEqual(
            {'began': '1970-01-01T00:15:00Z', 'ended': '1970-01-01T00:16:40Z'},
            result['gap'],
        )

    def test_a_clock_that_is_far_off(self) -> None:
        for at in (-1e18, 1e18, float('inf'), float('nan')):
            self.assertIsNotNone(messages.moment(at).tzinfo)

    def test_what_is_none(self) -> None:
        for text in ('', '{}', 'null', '{"schema": "kronos.vm_event/2"}'):
            self.assertRaises(ValueError, messages.sent, text, 1.0, False)

    def test_the_schema_is_that_of_the_code(self) -> None:
        self.assertEqual(messages.schema(), self.schema)
