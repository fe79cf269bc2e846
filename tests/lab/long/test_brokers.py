# SPDX-License-Identifier: Apache-2.0
"""Do three brokers come up, go down and fail as those of a cloud do?"""

import amqp

from tests.lab import nodes

from labkit import layout, process  # isort: skip
from labkit.ha import brokers, choice, faults  # isort: skip

ALL = {*choice.BROKERS}
RECEIPT_SECONDS = 5


class TestBrokers(nodes.NodesTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.brokers = self.useFixture(nodes.Brokers())

    def test_faults_of_one_node(self) -> None:
        self.wait_for('mq1', ALL)
        process.kill(process.records()['mq2'])
        self.wait_for('mq1', {'mq1', 'mq3'})
        self.start('mq2')
        self.wait_for('mq1', ALL)
        faults.isolate('mq3', self.brokers.ports)
        self.wait_for('mq1', {'mq1', 'mq2'})
        faults.end('mq3', self.brokers.ports)
        self.wait_for('mq1', ALL)
        self.wait_for('mq3', ALL)

    def test_full_disk(self) -> None:
        """No node takes a message until there is room again."""
        self.wait_for('mq1', ALL)
        faults.fill('mq3', self.brokers.ports)
        self.assertRaises(TimeoutError, self.publish, 'mq1')
        faults.end('mq3', self.brokers.ports)
        self.publish('mq1')
        self.wait_for('mq1', ALL)

    def test_all_of_them_at_once(self) -> None:
        nodes.end(choice.BROKERS)
        brokers.start(self.brokers.ports)
        self.wait_for('mq1', ALL)

    def test_nothing_is_left(self) -> None:
        pids = [process.records()[name].pid for name in choice.BROKERS]
        self.brokers.cleanUp()
        self.assertEqual([None] * 3, [process.stat(pid) for pid in pids])
        self.assertEqual([], list(layout.DATA.glob('mq?')))
        self.assertEqual([], list(layout.RUN.glob('mq*')))

    def publish(self, name: str) -> None:
        """Send a message that nobody waits for, and wait for its receipt."""
        link = amqp.Connection(
            f'127.0.0.1:{self.brokers.ports[name]}', confirm_publish=True
        )
        link.connect()
        self.addCleanup(link.collect)  # who is blocked cannot say goodbye
        channel = link.channel()
        channel.queue_declare('trial')
        channel.basic_publish_confirm(
            amqp.Message('x'),
            routing_key='trial',
            confirm_timeout=RECEIPT_SECONDS,
        )

    def start(self, name: str) -> None:
        node = brokers.table(self.brokers.ports)[name]
        node.start()
        node.wait()

    def wait_for(self, name: str, members: set[str]) -> None:
        self.wait(
            lambda: self.brokers.members(name) == members,
            f'{name} to see {members}',
        )
