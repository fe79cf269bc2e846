# SPDX-License-Identifier: Apache-2.0
"""A listener on RabbitMQ hears what becomes of the moves."""

import threading
from typing import Any

import oslo_messaging
from oslo_config import cfg

from kronos.actions.core import notifications
from tests.lab import base
from tests.lab.test_spread import pile

from labkit import layout, ports  # isort: skip

TOPIC = 'kronos.results.alpha'


def restart_without_options(lab: base.Lab) -> None:
    layout.KRONOS.unlink(missing_ok=True)
    lab.restart('watcher-applier')


class Listener:
    """Keeps what it hears, with the priority."""

    def __init__(self, port: int) -> None:
        self._heard: list[tuple[str, str, str, dict[str, Any]]] = []
        self._lock = threading.Lock()
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        self._transport = oslo_messaging.get_notification_transport(
            conf, f'rabbit://guest:guest@127.0.0.1:{port}/'
        )
        self._server = oslo_messaging.get_notification_listener(
            self._transport,
            [oslo_messaging.Target(topic=TOPIC, exchange='watcher')],
            [self],
            executor='threading',
        )
        self._server.start()

    def stop(self) -> None:
        self._server.stop()
        self._server.wait()
        self._transport.cleanup()

    def info(self, *told: Any) -> None:
        self._keep('info', *told)

    def warn(self, *told: Any) -> None:
        self._keep('warn', *told)

    def error(self, *told: Any) -> None:
        self._keep('error', *told)

    def _keep(
        self,
        priority: str,
        context: Any,
        publisher: str,
        event: str,
        payload: dict[str, Any],
        metadata: Any,
    ) -> None:
        with self._lock:
            self._heard.append((priority, publisher, event, payload))

    def of(
        self, plan: dict[str, Any]
    ) -> list[tuple[str, str, str, dict[str, Any]]]:
        """What was told of a plan: (priority, publisher, event, payload)."""
        with self._lock:
            return [
                one
                for one in self._heard
                if one[3]['action_plan_uuid'] == plan['uuid']
            ]


class TestNotices(base.LabTestCase):
    options = {'notify': 'true', 'max_retries': 0}  # noqa: RUF012

    def setUp(self) -> None:
        super().setUp()
        # Other than the decision engine it reads its options only once.
        self.lab.restart('watcher-applier')
        self.addCleanup(restart_without_options, self.lab)
        self.listener = Listener(ports.load()['rabbitmq'])
        self.addCleanup(self.listener.stop)

    def planned(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """An audit and its plan of one move."""
        audit, plan, actions = self.audited(
            'aggregates=alpha max_migrations=1'
        )
        self.assertEqual(1, len(actions))
        return audit, plan

    def heard(self, plan: dict[str, Any], last: str) -> list[Any]:
        """What was told of a plan, once its last event has come."""
        self.wait(
            lambda: last in {event for *_, event, _ in self.listener.of(plan)},
            f'{last} to be heard',
        )
        return self.listener.of(plan)

    def check_facts(
        self,
        payload: dict[str, Any],
        audit: dict[str, Any],
        action: dict[str, Any],
    ) -> None:
        told = action['input_parameters']
        expected = {
            'version': notifications.VERSION,
            'instance_uuid': told['resource_id'],
            'instance_name': told['resource_name'],
            'scope': 'alpha',
            'phase': 'spread',
            'source': told['source_node'],
            'destination': told['destination_node'],
            'action_uuid': action['uuid'],
            'action_plan_uuid': action['action_plan_uuid'],
            'audit_uuid': audit['UUID'],
            'retry_count': 0,
        }
        found = {name: payload[name] for name in expected}
        self.assertEqual(expected, found)
        self.assertTrue(payload['request_id'].startswith('req-'), payload)

    def migration(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Nova's row of the migration that was told of."""
        [row] = [
            row
            for row in self.cloud.migrations()
            if row['uuid'] == payload['migration_uuid']
        ]
        return row

    def test_a_move_that_arrives_and_one_that_fails(self):
        self.boot(pile('cmp1', 6))
        self.check_one_that_arrives()
        self.wait_for_metrics()
        self.check_one_that_fails()

    def check_one_that_arrives(self) -> None:
        audit, plan = self.planned()
        self.carried_out(plan)
        [action] = self.actions(plan)
        started, completed = self.heard(plan, 'migration.completed')
        for (priority, publisher, event, payload), name in (
            (started, 'migration.started'),
            (completed, 'migration.completed'),
        ):
            self.assertEqual(
                ('info', 'kronos.controller', name),
                (priority, publisher, event),
            )
            self.check_facts(payload, audit, action)
            self.assertIsNone(payload['error_type'])
        self.assertFalse(started[3]['final'])
        payload = completed[3]
        self.assertTrue(payload['final'])
        self.assertEqual(started[3]['request_id'], payload['request_id'])
        row = self.migration(payload)
        self.assertEqual(
            (payload['instance_uuid'], row['status']),
            (row['instance_uuid'], payload['status']),
        )
        self.assertGreater(payload['total_seconds'], 0)

    def check_one_that_fails(self) -> None:
        """The class that the action's message begins with."""
        audit, plan = self.planned()
        self.cloud.set_migrations({'default': {'end': 'failed'}})
        self.start(plan)
        self.assertEqual('FAILED', self.executed(plan)['state'])
        [action] = self.actions(plan)
        _started, failed = self.heard(plan, 'migration.failed')
        priority, publisher, _event, payload = failed
        self.assertEqual(('error', 'kronos.controller'), (priority, publisher))
        self.check_facts(payload, audit, action)
        self.assertTrue(payload['final'])
        self.assertIn(
            f'KRONOS:{payload["error_type"]}: [{payload["fault"]}] '
            f'{payload["message"]}',
            action['status_message'],
        )
        self.assertEqual('MigrationFailed', payload['error_type'])
        self.assertEqual(self.migration(payload)['status'], payload['status'])
