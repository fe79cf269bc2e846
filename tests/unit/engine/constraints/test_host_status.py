# SPDX-License-Identifier: Apache-2.0
"""Does a host that takes nothing get nothing, and is it told why?"""

from kronos.engine import edits
from kronos.engine.constraints.host_status import HostStatus
from kronos.engine.eligibility import hosts
from kronos.engine.reasons import Code, Reason
from tests.builders import constraints
from tests.unit.engine.constraints import scope_case


class TestHosts(scope_case.ScopeTestCase):
    def test_available(self) -> None:
        self.assertIsNone(self.reason())

    def test_services(self) -> None:
        """Each way in which os-services keeps a host out."""
        services = self.snapshot.services or {}
        services['b'].status = 'disabled'
        services['b'].disabled_reason = 'new fan'
        self.assertIn('disabled (new fan)', self.reason())
        services['b'].status, services['b'].forced_down = 'enabled', True
        self.assertIn('forced down', self.reason())
        services['b'].forced_down, services['b'].state = False, None
        self.assertIn('cell is down', self.reason())
        del services['b']
        self.assertIn('no nova-compute service', self.reason())

    def test_unknown_services_close_every_host(self) -> None:
        """Without an answer of os-services nothing is planned."""
        self.snapshot.services = None
        self.assertIn(
            'unknown',
            hosts.why_closed(self.snapshot, 'b', self.settings),
        )

    def test_a_stale_service_row_closes_without_a_scorecard(self) -> None:
        (self.snapshot.services or {})['b'].state = 'down'
        self.assertIn(
            'nova-compute is down',
            hosts.why_closed(self.snapshot, 'b', self.settings),
        )

    def test_closed(self) -> None:
        self.snapshot.hosts['b'].closed = 'available is false'
        self.assertIn(
            'accepts no instances: available is false', self.reason()
        )

    def test_require_headroom(self) -> None:
        self.settings.require_headroom = True
        self.assertIn('Placement shows no inventory', self.reason())

    def _relaxed(self, reason: Reason) -> Reason | None:
        """What closes the host, once a reason is gone."""
        case = constraints.relaxed(
            HostStatus,
            self.snapshot,
            self.settings,
            reason,
            edits.Pair('v', 'a', 'b'),
            self.policies,
        )
        self.snapshot, self.settings = case.snapshot, case.settings
        return hosts.why_closed(self.snapshot, 'b', self.settings)

    def test_relaxations(self) -> None:
        """One after the other, until it is open."""
        self.snapshot.services = None
        self.snapshot.exclusions_unknown = 'for the test'
        self.snapshot.hosts['b'].closed = 'for the test'
        self.snapshot.hosts['b'].excluded = 1.0
        self.settings.require_headroom = True
        reason = hosts.why_closed(self.snapshot, 'b', self.settings)
        found = []
        while reason is not None:
            found.append(reason.code)
            self.assertIn(reason.code, HostStatus.codes)
            reason = self._relaxed(reason)
        self.assertEqual(
            [
                Code.SCOPE_NO_SERVICES,
                Code.SCOPE_EXCLUSIONS_UNKNOWN,
                Code.HOST_CLOSED,
                Code.HOST_EXCLUDED,
                Code.HOST_NO_PLACEMENT,
            ],
            found,
        )

    def test_relaxed_services(self) -> None:
        for code, values in (
            (Code.HOST_FORCED_DOWN, {'forced_down': True, 'state': 'down'}),
            (Code.HOST_DOWN, {'state': 'down'}),
            (Code.HOST_DISABLED, {'status': 'disabled'}),
            (
                Code.HOST_NO_HYPERVISOR,
                {'status': 'disabled', 'disabled_reason': 'AUTO: lost'},
            ),
            (Code.HOST_CELL_DOWN, {'state': None}),
            (Code.HOST_NO_SERVICE, {'binary': 'nova-conductor'}),
        ):
            service = (self.snapshot.services or {})['b']
            for name, value in values.items():
                setattr(service, name, value)
            reason = hosts.why_closed(self.snapshot, 'b', self.settings)
            assert reason is not None
            with self.subTest(code=code):
                self.assertIs(code, reason.code)
                self.assertIsNone(self._relaxed(reason))

    def test_what_the_scorecard_says(self) -> None:
        """Its own reason is given, in the words of the constraint."""
        reason = Reason('no sample', Code.HOST_NO_SAMPLE, 'cpu', host='b')
        given = constraints.given(self.snapshot, excluded={'b': reason})
        stated = HostStatus.build(given).why_not(0, 1)
        assert stated is not None
        self.assertEqual('the host accepts no instances: no sample', stated)
        self.assertEqual(
            (reason.code, 'cpu', 'b'),
            (stated.code, stated.about, stated.host),
        )
        readings = self.snapshot.readings['cpu']
        del readings.imbalance.samples[1]
        self._relaxed(stated)
        samples = self.snapshot.readings['cpu'].imbalance.samples
        self.assertEqual('b', samples[-1].label)

    def test_masks(self) -> None:
        for frozen in ({}, {'b': Reason('closed', Code.HOST_CLOSED)}):
            given = constraints.given(self.snapshot, excluded=frozen)
            constraint = HostStatus.build(given)
            self.assertEqual(
                [[True, not frozen, True]],
                constraints.pairs(constraint, given.shape),
            )
