# SPDX-License-Identifier: Apache-2.0
"""Which hosts are emptied, and which only named?"""

from typing import Any

from oslotest import base

from kronos.engine.eligibility import hosts
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot
from tests.builders import policies


def cloud(**services: dict[str, Any]) -> Snapshot:
    """Three hosts that are well, but for what is said of their services."""
    found = policies.snapshot(
        {'cpu': {'a': 0.2, 'b': 0.2, 'c': 0.2}},
        instances=[policies.instance('v', 'a'), policies.instance('w', 'a')],
    )
    assert found.services is not None
    for host, fields in services.items():
        found.services[host] = policies.up(host, **fields)
    return found


def settings(**fields: Any) -> Settings:
    return Settings(**{'evacuate': True, **fields})


OFF = {'status': 'disabled', 'disabled_reason': 'new disks'}


class TestToDrain(base.BaseTestCase):
    def test_disabled(self) -> None:
        found = hosts.to_drain(cloud(a=OFF), settings())
        self.assertEqual({'a': 'nova-compute is disabled (new disks)'}, found)
        self.assertEqual([], hosts.undrainable(cloud(a=OFF), settings()))
        self.assertEqual({}, hosts.not_drained(cloud(a=OFF), settings()))

    def test_switched_off(self) -> None:
        self.assertEqual({}, hosts.to_drain(cloud(a=OFF), Settings()))
        self.assertEqual([], hosts.undrainable(cloud(a=OFF), Settings()))

    def test_unknown_services(self) -> None:
        snapshot = cloud(a=OFF)
        snapshot.services = None
        self.assertEqual({}, hosts.to_drain(snapshot, settings()))

    def test_elsewhere(self) -> None:
        """A host of another scope is none of this one's."""
        snapshot = cloud(z=OFF)
        self.assertEqual({}, hosts.to_drain(snapshot, settings()))
        named = settings(drain_hosts=['z'])
        self.assertEqual({}, hosts.to_drain(snapshot, named))
        self.assertEqual([], hosts.undrainable(snapshot, named))

    def test_down(self) -> None:
        """Named, not touched; asked for by name or not."""
        for fields, reason in (
            ({'state': 'down'}, 'nova-compute is down'),
            ({'forced_down': True}, 'nova-compute is forced down'),
            ({'state': None, 'status': 'UNKNOWN'}, 'its cell is down'),
            ({'binary': 'nova-volume'}, 'it has no nova-compute service'),
            (
                {'disabled_reason': 'AUTO: Connection to libvirt lost: 1'},
                'nova-compute has lost its hypervisor (AUTO: ',
            ),
        ):
            for more in ({}, {'drain_hosts': ['a']}):
                snapshot = cloud(a=OFF | fields)
                if not more and fields.get('status'):
                    continue  # nobody knows that it is disabled
                found = settings(**more)
                self.assertEqual({}, hosts.to_drain(snapshot, found))
                [warning] = hosts.undrainable(snapshot, found)
                self.assertIn('host a is not drained', warning)
                [why] = hosts.not_drained(snapshot, found).items()
                self.assertEqual('a', why[0])
                self.assertIn(reason, why[1])
                self.assertIn(reason, warning)
                self.assertIn('its 2 instances', warning)

    def test_named_without_a_service(self) -> None:
        snapshot = cloud()
        assert snapshot.services is not None
        del snapshot.services['a']
        found = settings(drain_hosts=['a'])
        self.assertEqual({}, hosts.to_drain(snapshot, found))
        [warning] = hosts.undrainable(snapshot, found)
        self.assertIn('it has no nova-compute service', warning)

    def test_in_no_known_cell(self) -> None:
        snapshot = cloud(a=OFF)
        snapshot.hosts['a'].frozen = 'no cell is known of it'
        self.assertEqual({}, hosts.to_drain(snapshot, settings()))
        [warning] = hosts.undrainable(snapshot, settings())
        self.assertIn('no cell is known of it', warning)

    def test_named(self) -> None:
        """Only those, enabled ones too; then new servers may come."""
        found = settings(drain_hosts=['b', 'c'])
        snapshot = cloud(a=OFF, b=OFF)
        self.assertEqual(
            {
                'b': 'nova-compute is disabled (new disks)',
                'c': 'it is being drained',
            },
            hosts.to_drain(snapshot, found),
        )
        [warning] = hosts.undrainable(snapshot, found)
        self.assertIn('host c is drained but enabled', warning)


class TestReasons(base.BaseTestCase):
    """All that keeps a host from taking anything, in one place."""

    def codes(self, snapshot: Snapshot, *gaps: Reason, **more: Any) -> Any:
        found = hosts.reasons(snapshot, 'a', settings(**more), gaps)
        return [one.code for one in found]

    def test_nothing(self) -> None:
        snapshot = cloud()
        self.assertEqual([], self.codes(snapshot))
        self.assertIsNone(hosts.why_out(snapshot, 'a', settings()))
        self.assertIsNone(hosts.why_closed(snapshot, 'a', settings()))

    def test_all_in_their_order(self) -> None:
        snapshot = cloud(a={'forced_down': True, **OFF})
        about = snapshot.hosts['a']
        about.frozen, about.closed = 'its cell is not known', 'said so'
        about.headroom, about.excluded = None, 1.0
        gap = Reason('policy cpu has no value', Code.HOST_NO_SAMPLE, 'cpu')
        self.assertEqual(
            [
                Code.HOST_FROZEN,
                Code.HOST_FORCED_DOWN,
                Code.HOST_DISABLED,
                Code.HOST_DRAINED,
                Code.HOST_NO_SAMPLE,
                Code.HOST_CLOSED,
                Code.HOST_EXCLUDED,
                Code.HOST_NO_PLACEMENT,
            ],
            self.codes(
                snapshot, gap, drain_hosts=['a'], require_headroom=True
            ),
        )

    def test_unknown_services_hide_the_rest(self) -> None:
        snapshot = cloud()
        snapshot.services, snapshot.hosts['a'].closed = None, 'said so'
        self.assertEqual([Code.SCOPE_NO_SERVICES], self.codes(snapshot))

    def test_unknown_exclusions_hide_the_rest(self) -> None:
        snapshot = cloud(a=OFF)
        snapshot.exclusions_unknown = 'exclude_hosts_query: no'
        self.assertEqual([Code.SCOPE_EXCLUSIONS_UNKNOWN], self.codes(snapshot))
        self.assertEqual({}, hosts.to_drain(snapshot, settings()))
        self.assertEqual({}, hosts.not_drained(snapshot, settings()))

    def test_what_a_row_says_is_one_sentence(self) -> None:
        snapshot = cloud(a={'state': 'down', **OFF})
        why = hosts.why_out(snapshot, 'a', settings())
        self.assertEqual(
            'nova-compute is down, nova-compute is disabled (new disks)', why
        )
        assert why is not None
        self.assertIs(Code.HOST_DOWN, why.code)

    def test_a_closed_host_takes_part(self) -> None:
        for field, how in (
            ({'closed': 'said so'}, settings()),
            ({'excluded': float('nan')}, settings()),
            ({'headroom': None}, settings(require_headroom=True)),
        ):
            snapshot = cloud()
            for name, value in field.items():
                setattr(snapshot.hosts['a'], name, value)
            self.assertIsNone(hosts.why_out(snapshot, 'a', how))
            self.assertIsNotNone(hosts.why_closed(snapshot, 'a', how))

    def test_the_host_is_named_where_that_is_asked_for(self) -> None:
        there = 'destination h2'
        self.assertEqual(
            ['destination h2 has no nova-compute service'],
            hosts.of_service(None, there),
        )
        self.assertEqual(
            [
                'nova-compute on destination h2 is down',
                'nova-compute on destination h2 is disabled (new disks)',
            ],
            hosts.of_service(
                policies.up('h2', **{'state': 'down', **OFF}), there
            ),
        )
