# SPDX-License-Identifier: Apache-2.0
"""Is a host closed only while it should be?"""

from kronos.clients.nova.compute_services import ComputeServices
from kronos.common import exceptions
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.extensions.recovery.actions.close import run
from tests.fakes.small_cloud import cloud
from tests.unit.actions.live import base

PUT = ('PUT', '/nova/v2.1/os-services/0')


class HostClosingTestCase(base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.at_fault = {'h1': 2.0}
        self.told = []
        self.cancelled = False

    def closing(self, **settings):
        return run.ClosingRun(
            run.ClosingSettings(
                **{
                    'host': 'h1',
                    'aggregate': 'alpha',
                    'plan': 'the-plan',
                    'retry_backoff': 1.0,
                    **settings,
                }
            ),
            run.ClosingContext(
                nova=self.client,
                services=ComputeServices(self.client.api),
                at_fault=lambda hosts: self.at_fault,
                is_cancelled=lambda: self.cancelled,
                tell=self.told.append,
                clock=self.clock,
                sleep=self.clock.sleep,
            ),
        )

    def refused(self, fault, **settings):
        closing = self.closing(**settings)
        for call in (closing.begin, closing.carry_out):
            error = self.assertRaises(exceptions.KronosException, call)
            self.assertIs(fault, faults.of_error(error), error)
        self.assertNotIn(PUT, self.cloud.calls)
        return str(error)

    def test_closed(self):
        closing = self.closing()
        closing.begin()
        self.assertNotIn(PUT, self.cloud.calls)
        self.assertEqual('', closing.carry_out())
        found = self.cloud.services['h1']
        self.assertEqual('disabled', found['status'])
        self.assertEqual(
            'KRONOS: at fault, host_fault_query gave 2; closed by action '
            'plan the-plan. Kronos does not open it again',
            found['reason'],
        )

    def test_disabled_already(self):
        self.cloud.services['h1'] |= {'status': 'disabled', 'reason': 'why'}
        self.at_fault = {}
        closing = self.closing()
        closing.begin()
        self.assertEqual('h1 was disabled already', closing.carry_out())
        self.assertEqual('why', self.cloud.services['h1']['reason'])

    def test_it_is_well(self):
        self.at_fault = {'h2': 2.0}
        self.refused(Fault.HOST_NOT_AT_FAULT)

    def test_too_many(self):
        self.at_fault['h2'] = 3.0
        text = self.refused(Fault.TOO_MANY_AT_FAULT)
        self.assertIn('(h1, h2), and max_closed_hosts is 1', text)
        self.closing(max_closed_hosts=2).carry_out()
        self.assertIn(PUT, self.cloud.calls)

    def test_closed_ones_count(self):
        self.cloud.services['h2'] |= {
            'status': 'disabled',
            'reason': 'KRONOS: at fault',
        }
        self.refused(Fault.TOO_MANY_AT_FAULT)

    def test_it_left_the_aggregate(self):
        self.refused(Fault.HOST_LEFT_SCOPE, aggregate='beta')

    def test_it_is_gone(self):
        self.at_fault = {'h9': 2.0}
        self.refused(Fault.SOURCE_NOT_UP, host='h9')

    def test_nobody_knows(self):
        def away(hosts):
            raise exceptions.PrometheusError('away', transient=False)

        closing = self.closing()
        closing._context.at_fault = away
        self.assertRaises(exceptions.PrometheusError, closing.begin)

    def test_tried_again(self):
        self.cloud.answers[PUT] = [503, 503]
        self.assertEqual('', self.closing().carry_out())
        self.assertEqual(2, len(self.told))

    def test_not_for_ever(self):
        self.cloud.answers[PUT] = [503] * 9
        closing = self.closing(max_retries=1)
        self.assertRaises(exceptions.NovaClientError, closing.carry_out)
        self.assertEqual(7, len(self.cloud.answers[PUT]))

    def test_an_answer_that_got_lost(self):
        """It is closed, and by this action."""
        for retries in (0, 3):
            for answer in (403, 500, 503, 504, cloud.RESET):
                self.cloud.services['h1'] |= {'status': 'enabled'}
                self.cloud.lost[PUT] = [answer]
                self.cloud.calls.clear()
                closing = self.closing(max_retries=retries)
                self.assertEqual('', closing.carry_out(), answer)
                self.assertEqual(1, self.cloud.calls.count(PUT), answer)

    def test_nova_refuses(self):
        """At once, in Nova's words."""
        self.cloud.answers[PUT] = [403]
        error = self.assertRaises(
            exceptions.NovaClientError, self.closing().carry_out
        )
        self.assertIn('HTTP 403: away for now', str(error))
        self.assertEqual(1, self.cloud.calls.count(PUT))

    def test_when_nova_wants_it(self):
        self.cloud.answers[PUT] = [(429, {'Retry-After': '5'})]
        began = self.clock()
        self.assertEqual('', self.closing().carry_out())
        self.assertEqual(5, self.clock() - began)

    def test_cancelled(self):
        self.cancelled = True
        self.refused(Fault.PLAN_CANCELLED)

    def test_nova_did_not_do_it(self):
        self.cloud.lost[PUT] = [None]
        real = self.cloud.answer

        def answer(method, path, query, body):
            if (method, path) == PUT:
                return {'service': {}}
            return real(method, path, query, body)

        self.cloud.answer = answer
        error = self.assertRaises(
            exceptions.NovaClientError, self.closing().carry_out
        )
        self.assertIn('is not disabled, although', str(error))
