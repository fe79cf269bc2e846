# SPDX-License-Identifier: Apache-2.0
"""Is everything asked once, and answered as often as wanted?"""

from typing import Any
from unittest import mock

from oslotest import base

from kronos.clients.nova.client import NovaClient
from kronos.clients.placement import PlacementClient
from kronos.cmd.checks import cached_clients
from kronos.common import exceptions
from kronos.engine.types import Health, Reading, Sample


class TestListings(base.BaseTestCase):
    def asked(self, client: type, name: str, **answer: Any) -> mock.Mock:
        """What stands in for the method that asks the service."""
        made = mock.create_autospec(getattr(client, name), **answer)
        made.__name__ = name
        return made

    def test_each_listing(self) -> None:
        for client, names in (
            (
                cached_clients.OnceNova,
                (
                    'list_compute_services',
                    'list_compute_hosts',
                    'list_aggregates',
                    'list_instances',
                    'list_server_groups',
                ),
            ),
            (cached_clients.OncePlacement, ('headroom',)),
        ):
            for name in names:
                self.assertIn(name, vars(client))
                ask = self.asked(client, name, return_value=[name])
                once = cached_clients._once(ask)
                one = client(mock.Mock())
                self.assertIs(once(one), once(one))
                ask.assert_called_once_with(one)

    def test_each_client_for_itself(self) -> None:
        ask = self.asked(
            PlacementClient, 'headroom', side_effect=[{'a': 1}, {'b': 2}]
        )
        once = cached_clients._once(ask)
        first, second = (
            cached_clients.OncePlacement(mock.Mock()) for _ in range(2)
        )
        self.assertEqual({'a': 1}, once(first))
        self.assertEqual({'b': 2}, once(second))
        self.assertEqual({'a': 1}, once(first))

    def test_the_first_answer_counts(self) -> None:
        """Whatever it is asked with: the checks want one view."""
        ask = self.asked(NovaClient, 'list_migrations', return_value=[])
        once = cached_clients._once(ask)
        nova = cached_clients.OnceNova(mock.Mock())
        once(nova, 10.0)
        once(nova, 20.0)
        ask.assert_called_once_with(nova, 10.0)

    def test_an_error_is_remembered(self) -> None:
        error = exceptions.NovaClientError(reason='503')
        ask = self.asked(NovaClient, 'list_aggregates', side_effect=error)
        once = cached_clients._once(ask)
        nova = cached_clients.OnceNova(mock.Mock())
        for _ in range(2):
            self.assertIs(
                error,
                self.assertRaises(exceptions.NovaClientError, once, nova),
            )
        ask.assert_called_once()

    def test_a_fault_of_the_program_is_not(self) -> None:
        ask = self.asked(NovaClient, 'list_aggregates', side_effect=KeyError)
        once = cached_clients._once(ask)
        nova = cached_clients.OnceNova(mock.Mock())
        for _ in range(2):
            self.assertRaises(KeyError, once, nova)
        self.assertEqual(2, ask.call_count)


class TestPrometheus(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.prometheus = mock.Mock()
        self.once = cached_clients.OncePrometheus(self.prometheus)

    def test_each_query_and_label(self) -> None:
        self.prometheus.instant_query.side_effect = [
            Reading('up', samples=[Sample('cmp1', 1.0, 0)]),
            Reading('up', samples=[Sample('a', 1.0, 0)]),
        ]
        by_host = self.once.instant_query('up')
        by_job = self.once.instant_query('up', 'job')
        self.assertIs(by_host, self.once.instant_query('up', 'host'))
        self.assertIs(by_job, self.once.instant_query('up', 'job'))
        self.assertEqual(2, self.prometheus.instant_query.call_count)

    def test_one_that_is_away(self) -> None:
        """The others are not tried, but told as unreachable."""
        reading = Reading('up')
        away = Reading('a', Health.UNREACHABLE, error='away', is_away=True)
        self.prometheus.instant_query.side_effect = [reading, away]
        self.once.instant_query('up')
        self.assertIs(away, self.once.instant_query('a'))
        other = self.once.instant_query('b')
        self.assertEqual(
            (Health.UNREACHABLE, 'away', True),
            (other.health, other.error, other.is_away),
        )
        self.assertIs(reading, self.once.instant_query('up'))
        self.assertEqual(2, self.prometheus.instant_query.call_count)
