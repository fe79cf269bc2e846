# SPDX-License-Identifier: Apache-2.0
"""Does each way to fail of Masakari and Watcher have a remedy of its own?"""

from oslotest import base

from kronos.clients import login, rest
from kronos.common import exceptions
from kronos.monitor.sinks import remedies
from tests.unit.monitor import alone
from tests.unit.monitor.sinks import services

URL = 'https://keystone.example.org'


def error(text: str, status: int | None = None) -> exceptions.ClientError:
    return exceptions.ClientError(reason=text, **rest.facts(status))


class TestStatuses(base.BaseTestCase):
    def remedy(self, status: int, text: str = 'no') -> str:
        options = services.options('masakari', URL)
        return remedies.of(error(text, status), 'Masakari', options)

    def test_each(self) -> None:
        """One line, which names the service or an option."""
        for status in range(300, 600):
            remedy = self.remedy(status)
            self.assertNotEqual('', remedy, status)
            self.assertNotIn('\n', remedy)
            self.assertNotRegex(remedy, r'[{}]')
            self.assertIn('Masakari', remedy)

    def test_kinds(self) -> None:
        for words, statuses in (
            ('another program answers there', (300, 302, 404, 405, 407, 410)),
            ('[keystone_authtoken]', (401,)),
            ('in the policy of Masakari', (403,)),
            ('why it refuses', (400, 409, 413)),
            ('accept more requests', (429,)),
            ('why it is slow', (408, 504)),
            ('why it fails', (500, 502, 503, 599)),
        ):
            for status in statuses:
                self.assertIn(words, self.remedy(status), status)

    def test_http_to_a_port_of_tls(self) -> None:
        text = 'The plain HTTP request was sent to HTTPS port'
        self.assertIn('write https://', self.remedy(400, text))


class TestErrors(base.BaseTestCase):
    def test_what_has_a_remedy(self) -> None:
        """Or names an option: there is one, and no second."""
        options = services.options('masakari', URL)
        for failed in (
            error(f'x answers 401. {login.CORRECT}'),
            error(f'Keystone has not answered. {login.SEE}'),
            exceptions.ClientError(reason='secret_file /x: it is empty'),
        ):
            self.assertEqual('', remedies.of(failed, 'Masakari', options))

    def test_a_catalog_without_it(self) -> None:
        options = services.options('watcher', URL)
        failed = error('the Keystone catalog has no endpoint of type x')
        self.assertEqual(
            remedies.CATALOG, remedies.of(failed, 'Watcher', options)
        )


class TestAlone(alone.AloneTestCase):
    """With real sockets: what the libraries make of them."""

    MODULE = 'tests.unit.monitor.sinks.remedies_alone'

    def test_all(self) -> None:
        self.run_alone()
