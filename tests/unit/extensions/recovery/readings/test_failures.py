# SPDX-License-Identifier: Apache-2.0
"""What do the queries of a recovery find?"""

import math

from oslotest import base

from kronos.common import exceptions
from kronos.engine.settings import HostMatch
from kronos.engine.types import Health, Host, Instance, Reading, Sample
from kronos.extensions.recovery.failures import NOT_ASKED, why_unknown
from kronos.extensions.recovery.readings import failures
from kronos.extensions.recovery.readings.failures import FailureQueries
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud

NOW = 1_800_000_000.0
HOSTS, SERVERS = 'of hosts', 'of servers'


def sample(value: float, label: str = '', **labels: str) -> Sample:
    inner = ', '.join(f'{name}="{text}"' for name, text in labels.items())
    return Sample(label, value, NOW, f'{{{inner}}}')


def failed(
    uuid: str, kind: str = 'crash', at: float = NOW, host: str = 'a1'
) -> Sample:
    return sample(at, uuid, host=host, instance_uuid=uuid, kind=kind)


class Prometheus:
    """Answers with what a test says."""

    def __init__(self) -> None:
        self.answers = {HOSTS: Reading(HOSTS), SERVERS: Reading(SERVERS)}
        self.labels: dict[str, str] = {}

    def instant_query(self, query: str, label_key: str) -> Reading:
        self.labels[query] = label_key
        return self.answers[query]


class FailuresTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.prometheus = Prometheus()
        hosts = {name: Host(name) for name in ('a1', 'a2', 'a3')}
        self.cloud = CloudInventory(
            Cloud(hosts, {}, []),
            {},
            [Instance('v', 'a1'), Instance('w', 'a2')],
        )

    def note(
        self,
        hosts: str = HOSTS,
        servers: str = SERVERS,
        how: HostMatch = HostMatch.EXACT,
    ) -> None:
        failures.note(
            self.cloud, self.prometheus, FailureQueries(hosts, servers), how
        )

    def say(self, query: str, *samples: Sample) -> None:
        self.prometheus.answers[query] = Reading(query, samples=list(samples))

    def faulty(self) -> dict[str, float | None]:
        found = self.cloud.cloud.hosts.values()
        return {one.name: one.faulty for one in found if one.faulty}

    def failures(self) -> dict[str, tuple[str, float]]:
        return {
            one.uuid: (one.failure, one.failed_at)
            for one in self.cloud.instances
            if one.failure
        }


class TestHosts(FailuresTestCase):
    def test_at_fault(self) -> None:
        self.assertEqual(NOT_ASKED, why_unknown(self.cloud.beside))
        self.say(HOSTS, sample(2.0, host='a1'), sample(0.0, host='a2'))
        self.note()
        self.assertEqual({'a1': 2.0}, self.faulty())
        self.assertEqual('', why_unknown(self.cloud.beside))

    def test_not_a_number_closes_nothing(self) -> None:
        self.say(HOSTS, sample(math.nan, host='a1'))
        self.note()
        self.assertEqual({}, self.faulty())

    def test_it_has_to_be_certain_which(self) -> None:
        """An exclusion would concern each; nobody closes each."""
        self.cloud.cloud.hosts = {
            name: Host(name) for name in ('a1.one', 'a1.two')
        }
        self.say(HOSTS, sample(2.0, host='a1'))
        self.note(how=HostMatch.SHORT)
        self.assertEqual({}, self.faulty())
        self.assertIn('not certain by a1', why_unknown(self.cloud.beside))

    def test_no_query(self) -> None:
        self.note(hosts='', servers='')
        self.assertEqual('', why_unknown(self.cloud.beside))
        self.assertEqual({}, self.prometheus.labels)


class TestServers(FailuresTestCase):
    def test_failed(self) -> None:
        self.say(SERVERS, failed('v'), failed('gone'))
        self.note()
        self.assertEqual({'v': ('crash', NOW)}, self.failures())
        self.assertEqual('instance_uuid', self.prometheus.labels[SERVERS])

    def test_the_newest_counts(self) -> None:
        old, new = failed('v', 'panic', NOW - 9), failed('v', 'crash')
        for order in ((old, new), (new, old)):
            self.say(SERVERS, *order)
            self.note()
            self.assertEqual({'v': ('crash', NOW)}, self.failures())

    def test_of_two_at_once_the_i_o_error(self) -> None:
        self.say(SERVERS, failed('v', 'io_error'), failed('v', 'panic'))
        self.note()
        self.assertEqual({'v': ('io_error', NOW)}, self.failures())

    def test_what_another_host_says_is_old(self) -> None:
        """The agent of the host that it left may not know yet."""
        self.say(SERVERS, failed('w', host='a1'))
        self.note()
        self.assertEqual({}, self.failures())
        self.say(SERVERS, failed('w', host='what nobody knows'))
        self.note()
        self.assertEqual(['w'], list(self.failures()))

    def test_a_kind_that_is_not_known(self) -> None:
        self.say(SERVERS, failed('v', kind='bored'))
        self.note()
        self.assertEqual({'v': ('unknown', NOW)}, self.failures())

    def test_no_time(self) -> None:
        for value in (1.0, math.nan, math.inf):
            self.say(SERVERS, failed('v', at=value))
            self.note()
            self.assertIn('no Unix time', why_unknown(self.cloud.beside))


class TestUnknown(FailuresTestCase):
    def test_either_query(self) -> None:
        """Without the one nothing is said by the other."""
        for query in (HOSTS, SERVERS):
            self.say(HOSTS, sample(2.0, host='a1'))
            self.say(SERVERS, failed('v'))
            self.prometheus.answers[query] = Reading(
                query, Health.UNREACHABLE, error='it is away', is_away=True
            )
            self.note()
            self.assertIn('it is away', why_unknown(self.cloud.beside))
            self.assertEqual({}, self.faulty() | self.failures())

    def test_the_errors(self) -> None:
        self.prometheus.answers[SERVERS] = Reading(
            SERVERS, Health.STALE, error='old'
        )
        error = self.assertRaises(
            exceptions.PrometheusError,
            failures.of_servers,
            self.prometheus,
            SERVERS,
            [],
            HostMatch.EXACT,
        )
        self.assertTrue(error.kwargs['transient'])
        self.assertEqual('server_fault_query: old', str(error))
