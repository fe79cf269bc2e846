# SPDX-License-Identifier: Apache-2.0
"""Does each command of the openstack client end, whatever Keystone says?"""

import functools
import re

import fixtures
import requests_mock

from kronos.clients import keystone, transport
from tests.fakes import loopback_keystone, watcher_api
from tests.unit.osc import clouds

HANGS = 300


class TestLogins(clouds.CloudTestCase):
    def setUp(self) -> None:
        super().setUp()
        # The client does not run in a thread.
        self.useFixture(fixtures.Timeout(HANGS, gentle=True))
        self.add_plan(1)
        self.loopback = self.useFixture(
            loopback_keystone.Keystone({'infra-optim': watcher_api.WATCHER})
        )
        self.keystone.wire.register_uri(
            requests_mock.ANY, re.compile(self.loopback.url), real_http=True
        )

    def limited(self, seconds: float) -> fixtures.MonkeyPatch:
        return fixtures.MonkeyPatch(
            f'{keystone.__name__}.Limits',
            functools.partial(transport.Limits, silence=seconds),
        )

    def test_each_mood(self) -> None:
        cloud = {'auth': self.loopback.auth}
        commands = (['plan', 'list'], ['plan', 'show', clouds.uuid(1)])
        for number, mood in enumerate(loopback_keystone.MOODS):
            arguments = commands[number % 2]
            with self.subTest(f'{mood} {arguments}'):
                self.loopback.be(mood)
                with self.limited(loopback_keystone.limit_of(mood)):
                    text = self.refused(*arguments, cloud=cloud)
                self.assertIn('Keystone', text)
                self.assertNotIn('TimeoutException', text)
                self.loopback.be('')
                code, out, err = self.run_client(*arguments, cloud=cloud)
                self.assertEqual((0, ''), (code, err), out)
