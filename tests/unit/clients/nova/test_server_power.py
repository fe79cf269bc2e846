# SPDX-License-Identifier: Apache-2.0
"""The restart of servers at the wire."""

from kronos.clients.nova.instance_actions import Stop
from kronos.clients.nova.server_power import ServerPower
from tests.fakes.keystone import NOVA
from tests.unit.clients.nova.test_client import NovaTestCase

ACTION = f'{NOVA}/servers/vm/action'
ACTIONS = f'{NOVA}/servers/vm/os-instance-actions'


class ServerPowerTestCase(NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.power = ServerPower(self.nova.api)

    def test_the_requests(self) -> None:
        self.wire.post(
            ACTION, status_code=202, headers={'x-compute-request-id': 'req-1'}
        )
        for found in (
            self.power.stop('vm'),
            self.power.start('vm'),
            self.power.migrate('vm', 'h2'),
            self.power.confirm('vm'),
        ):
            self.assertEqual('req-1', found)
        self.assertEqual(
            [
                {'os-stop': None},
                {'os-start': None},
                {'migrate': {'host': 'h2'}},
                {'confirmResize': None},
            ],
            [request.json() for request in self.keystone.requests('/action')],
        )

    def test_a_refusal(self) -> None:
        self.wire.post(ACTION, status_code=409, json={})
        error = self.fails(self.power.stop, 'vm')
        self.assertEqual(409, error.kwargs['status'])

    def test_who_stopped_it(self) -> None:
        """nova-compute acts without a user."""

        def listed(*users: str | None) -> None:
            rows = [
                {'action': 'start', 'request_id': 'req-0', 'user_id': 'joe'},
                *(
                    {'action': 'stop', 'request_id': f'req-{n}',
                     'user_id': user}
                    for n, user in enumerate(users, 1)
                ),
            ]  # fmt: skip
            self.wire.get(
                ACTIONS,
                [
                    {'json': {'instanceActions': rows}},
                    {'json': {'instanceActions': []}},
                ],
            )

        listed(None, 'joe')
        self.assertEqual(Stop('req-1', ''), self.nova.last_stop('vm'))
        listed('joe', None)
        self.assertEqual(Stop('req-1', 'joe'), self.nova.last_stop('vm'))
        listed()
        self.assertIsNone(self.nova.last_stop('vm'))

    def test_who_stopped_it_with_clocks_apart(self) -> None:
        """A user's stop has the API's clock, Nova's own a conductor's."""
        for user, start, nova, expected in (
            # Its user stopped it, started it, and then it crashed.
            (100, 160, 220, ''),
            (400, 460, 220, ''),
            (100, 160, 5000, ''),
            # It crashed, its user started it, and stopped it then.
            (160, 100, 40, 'joe'),
            (160, 100, 340, 'joe'),
            (160, 100, 459, 'joe'),
            # It crashed long after.
            (160, 100, 470, ''),
            (5000, 100, 40, 'joe'),
        ):
            times = {
                ('stop', 'joe'): user, ('start', 'joe'): start,
                ('stop', None): nova,
            }  # fmt: skip
            rows = [
                {
                    'action': action, 'user_id': who,
                    'request_id': f'req-{who}',
                    'start_time': f'2026-01-01T{at // 3600:02}:'
                    f'{at // 60 % 60:02}:{at % 60:02}.000000',
                }
                for (action, who), at in sorted(
                    times.items(), key=lambda item: -item[1]
                )
            ]  # fmt: skip
            with self.subTest(times):
                self.wire.get(
                    ACTIONS,
                    [
                        {'json': {'instanceActions': rows}},
                        {'json': {'instanceActions': []}},
                    ],
                )
                stop = self.nova.last_stop('vm')
                self.assertEqual(expected, stop.user_id if stop else None)
