# SPDX-License-Identifier: Apache-2.0
"""A page of metrics is served at an address, or its fault is told."""

from urllib import request

from oslotest import base

from kronos.common.web.page_server import Address, PageServer


def page(environ, start):
    start('200 OK', [('Content-Type', 'text/plain')])
    return [b'page']


class PageServerTestCase(base.BaseTestCase):
    def test_it_serves(self) -> None:
        server = PageServer(Address('127.0.0.1', 0), page)
        self.addCleanup(server.close)
        server.refresh()
        url = f'http://127.0.0.1:{server.port}/'
        with request.urlopen(url) as answer:
            self.assertEqual(b'page', answer.read())

    def test_taken(self) -> None:
        server = PageServer(Address('127.0.0.1', 0), page)
        self.addCleanup(server.close)
        address = Address('127.0.0.1', server.port)
        self.assertRaises(OSError, PageServer, address, page)

    def test_a_certificate_that_is_not_there(self) -> None:
        address = Address('127.0.0.1', 0, '/nowhere.pem')
        self.assertRaises(OSError, PageServer, address, page)
