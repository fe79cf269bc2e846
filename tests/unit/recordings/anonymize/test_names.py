# SPDX-License-Identifier: Apache-2.0
"""Is each name another one, the same wherever it stands?"""

from oslotest import base

from kronos.engine.types import UNASSIGNED
from kronos.policies.models import LabelType
from kronos.recordings.anonymize import anonymizer, names
from kronos.recordings.recording import ANY_LABEL
from kronos.snapshots.scopes import ALL, AggregateRef
from tests.builders import recordings


class TestRequests(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.was = recordings.with_names()

    def test_requests(self) -> None:
        """What is named by name, uuid or id still is."""
        now = anonymizer.anonymized(self.was)
        [a, b] = now.gathered.cloud.aggregates
        request = now.request
        self.assertEqual(
            [
                a.name,
                '2',
                AggregateRef(name=b.name),
                AggregateRef(id='1'),
                ALL,
            ],
            request.aggregates,
        )
        self.assertEqual([b.uuid, a.name], request.excluded_aggregates)
        self.assertEqual(['zone-001', ALL], request.availability_zones)
        hosts = [*now.gathered.cloud.hosts.values()]
        self.assertEqual(
            [hosts[0].name, hosts[1].node], request.excluded_hosts
        )
        instances = now.gathered.instances
        self.assertEqual(instances[1].uuid, request.excluded_instances[0])
        self.assertNotIn('gone', request.excluded_instances)
        self.assertEqual([instances[0].project_id], request.excluded_projects)
        [items] = request.excluded_metadata
        self.assertIn('kronos:pin', items)
        shared = items.keys() & instances[0].metadata.keys()
        self.assertEqual(1, len(shared))
        self.assertEqual(
            {items[key] for key in shared},
            {instances[0].metadata[key] for key in shared},
        )
        self.assertEqual(
            {a.name: 5.0, UNASSIGNED: 6.0}, now.seeds.aggregate_cooldowns
        )
        self.assertEqual(
            {instances[2].uuid: 3.0}, now.seeds.instance_cooldowns
        )


class TestNames(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.names = names.Names(recordings.small())

    def test_what_is_no_name(self) -> None:
        for name in (UNASSIGNED, ALL):
            self.assertEqual(name, self.names.aggregate(name))
            self.assertEqual('', self.names.known(name))
        self.assertEqual('', self.names.known('a text'))

    def test_policies(self) -> None:
        """Words of the trade say nothing of a cloud."""
        self.assertEqual('cpu', self.names.policy('cpu'))
        self.assertEqual('policy-001', self.names.policy('acme'))
        self.assertEqual('policy-001', self.names.policy('acme'))

    def test_traits_and_resources(self) -> None:
        self.assertEqual('COMPUTE_NODE', self.names.trait('COMPUTE_NODE'))
        self.assertEqual('VCPU', self.names.resource_class('VCPU'))
        new = self.names.trait('CUSTOM_ACME')
        self.assertEqual('CUSTOM_NAME_001', new)
        self.assertEqual(new, self.names.resource_class('CUSTOM_ACME'))

    def test_labels(self) -> None:
        uuid = self.names.uuid('u1')
        self.assertEqual(
            uuid, self.names.label(LabelType.NOVA_INSTANCE_UUID, 'u1')
        )
        self.assertEqual(uuid, self.names.known('u1'))
        host = self.names.host('a1')
        self.assertEqual(host, self.names.label(None, 'a1'))


class TestKinds(base.BaseTestCase):
    def test_what_each_label_means(self) -> None:
        cpu = recordings.policies()[0]
        instance, host = LabelType.NOVA_INSTANCE_UUID, None
        self.assertEqual(
            {
                ('cpu_of_host', 'host'): host,
                ('cpu_of_host', ANY_LABEL): host,
                ('cpu_of_vm', 'instance_name'): instance,
                ('cpu_of_vm', ANY_LABEL): instance,
                ('cores', 'host'): host,
                ('cores', ANY_LABEL): host,
            },
            names.kinds([cpu]),
        )
