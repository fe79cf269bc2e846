# SPDX-License-Identifier: Apache-2.0
"""Which requests may have arrived, and how long is that looked for?"""

from kronos.actions.core import own_requests
from kronos.actions.core.context import Patience
from kronos.common import exceptions
from tests.unit.actions.live import base


def failed(status, sent=None, reason='POST /x: HTTP 409: it is busy'):
    return exceptions.NovaClientError(reason=reason, status=status, sent=sent)


class TestMayHaveArrived(base.MoveTestCase):
    def test_of_each_kind(self):
        for status, sent, expected in (
            (None, None, True),
            (None, False, False),
            (408, None, True),
            (401, None, False),
            (429, None, False),
            (502, None, True),
            (503, False, False),
        ):
            error = failed(status, sent)
            told = own_requests.may_have_arrived(error)
            self.assertEqual(expected, told, (status, sent))

    def test_words(self):
        self.assertEqual('it is busy', own_requests.words_of(failed(409)))


class TestAwaitRequest(base.MoveTestCase):
    def wait(self, find):
        patience = Patience(
            is_cancelled=lambda: False,
            tell=self.told.append,
            clock=self.clock,
            sleep=self.clock.sleep,
        )
        return own_requests.await_request(
            self.settings, patience, self.client, find
        )

    def test_it_comes_late(self):
        answers = ['', 'req-1']
        self.assertEqual('req-1', self.wait(lambda: answers.pop(0)))
        self.assertEqual(1100.0, self.clock.now)

    def test_nova_knows_of_none(self):
        self.assertEqual('', self.wait(lambda: ''))
        self.assertEqual(1000 + 50 * 3, self.clock.now)

    def test_a_busy_server_is_looked_at_for_longer(self):
        self.instance.task_state = 'resize_prep'
        self.clock.at(1500, lambda: setattr(self.instance, 'task_state', None))
        self.assertEqual('', self.wait(lambda: ''))
        self.assertEqual(1600.0, self.clock.now)

    def test_nova_is_away_for_ever(self):
        def away():
            raise failed(503)

        self.assertEqual('', self.wait(away))
        self.assertEqual(2800.0, self.clock.now)


class TestOfServer(base.base.BaseTestCase):
    def test_words_of_novas_checks(self):
        """Of the API of Nova 34; the rest may be about hosts."""
        for words, expected in (
            ("Operation 'live-migration' not supported for vTPM-enabled "
             'instance (u).', True),
            ("Operation 'live-migration' not supported for mem encryption "
             'enabled instance u.', True),
            ("Operation 'live-migration' not supported for instance with "
             'vDPA ports (u).', True),
            ('Feature not supported with Ports that have accelerators.',
             True),
            ('Feature not supported with instances that have accelerators.',
             True),
            ('Feature not supported with instances that have shares.', True),
            ('vTPM live migration is not supported by old nova-compute '
             'services. Upgrade your nova-compute services to Gazpacho '
             '(33.0.0) or later.', True),
            ('The port-resource-request-groups neutron API extension is not '
             'supported by old nova compute service. Upgrade your compute '
             'services to Xena (24.0.0) or later.', True),
            ('Compute host h2 could not be found.', False),
            ('Compute service of h2 is unavailable at this time.', False),
            ('Instance has not been resized.', False),
            ('', False),
        ):  # fmt: skip
            self.assertIs(expected, own_requests.is_of_server(words), words)
