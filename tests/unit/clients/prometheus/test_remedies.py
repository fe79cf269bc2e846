# SPDX-License-Identifier: Apache-2.0
"""Does each way to fail get the remedy of its own option?"""

import ssl

import requests
from oslotest import base

from kronos.clients import transport
from kronos.clients.prometheus import remedies
from tests.unit.monitor import alone

HERE = 'http://p.example.org:9090/api/v1/query'


class TestStatuses(base.BaseTestCase):
    def test_each(self) -> None:
        for status, remedy in (
            (401, remedies.LOGIN),
            (403, remedies.LOGIN),
            (404, remedies.ADDRESS),
            (400, remedies.ADDRESS),
            (407, remedies.PROXY),
            (429, remedies.LIMITED),
            (500, remedies.BEHIND),
            (504, remedies.BEHIND),
        ):
            self.assertEqual(remedy, remedies.of_status(status, 'no'))

    def test_of_what_keystone_leads_to(self) -> None:
        """No option of a login or an address has anything to do with it."""
        for status, remedy in (
            (401, remedies.ROLE),
            (404, remedies.ENDPOINT),
            (503, remedies.BEHIND),
        ):
            self.assertEqual(remedy, remedies.of_status(status, '', True))
        error = requests.ConnectionError()
        self.assertEqual(remedies.ENDPOINT, remedies.of_error(error, True))

    def test_plain_http_to_a_port_of_tls(self) -> None:
        for text in (
            'Client sent an HTTP request to an HTTPS server.',
            'The plain HTTP request was sent to HTTPS port',
        ):
            self.assertEqual(remedies.HTTPS, remedies.of_status(400, text))


class TestRedirects(base.BaseTestCase):
    def test_each(self) -> None:
        for target, remedy in (
            ('https://p.example.org:9090/api/v1/query', remedies.HTTPS),
            ('https://p.example.org/api/v1/query', remedies.HTTPS),
            ('https://sso.example.org/', remedies.LOGIN),
            ('http://p.example.org:9090/oauth2/start', remedies.LOGIN),
            ('http://p.example.org:9090/signin?next=x', remedies.LOGIN),
            ('http://p.example.org:9090/graph', remedies.ADDRESS),
            (HERE, remedies.ADDRESS),
            (
                'http://q.example.org/prom/api/v1/query',
                'set [kronos_prometheus] url to http://q.example.org/prom',
            ),
        ):
            self.assertEqual(remedy, remedies.of_redirect(HERE, target))


class TestAlone(alone.AloneTestCase):
    """With real sockets: what the libraries make of them."""

    MODULE = 'tests.unit.clients.prometheus.remedies_alone'

    def test_all(self) -> None:
        self.run_alone()


class TestErrors(base.BaseTestCase):
    def test_certificates(self) -> None:
        for code, remedy in (
            (18, remedies.CA),
            (20, remedies.CA),
            (62, remedies.CERTIFICATE_NAME),
            (64, remedies.CERTIFICATE_NAME),
        ):
            error = ssl.SSLCertVerificationError(1, 'failed')
            error.verify_code = code
            result = remedies.of_error(requests.exceptions.SSLError(error))
            self.assertEqual(remedy, result)

    def test_an_answer_that_is_too_long(self) -> None:
        """That is the query's."""
        self.assertEqual('', remedies.of_error(transport.TooLong('x')))
