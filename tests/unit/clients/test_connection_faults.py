# SPDX-License-Identifier: Apache-2.0
"""Is the fault of a connection found below what libraries make of it?"""

import http.client
import socket
import ssl

import requests
from keystoneauth1 import exceptions as ks_exceptions
from oslotest import base

from kronos.clients import connection_faults
from kronos.clients.connection_faults import ConnectionFault


class TestFaults(base.BaseTestCase):
    def test_each(self) -> None:
        for error, fault in (
            (socket.gaierror(-2, 'unknown'), ConnectionFault.NAME),
            (ConnectionRefusedError(), ConnectionFault.REFUSED),
            (http.client.RemoteDisconnected(), ConnectionFault.REFUSED),
            (http.client.BadStatusLine('x'), ConnectionFault.HTTPS),
            (TimeoutError(), ConnectionFault.SILENT),
            (requests.ReadTimeout(), ConnectionFault.SILENT),
            (ks_exceptions.ConnectTimeout(), ConnectionFault.SILENT),
            (ks_exceptions.ConnectFailure(), ConnectionFault.REFUSED),
            (ValueError('no JSON'), None),
        ):
            self.assertEqual(fault, connection_faults.of(error))
            wrapped = requests.ConnectionError(error)
            expected = fault or ConnectionFault.REFUSED
            self.assertEqual(expected, connection_faults.of(wrapped))

    def test_keystone(self) -> None:
        for error, status, is_of_catalog in (
            (ks_exceptions.Unauthorized(), 401, False),
            (ks_exceptions.GatewayTimeout(), 504, False),
            (ks_exceptions.EmptyCatalog(), None, True),
            (ks_exceptions.EndpointNotFound(), None, True),
            (ValueError('the catalog has no endpoint'), None, True),
            (ValueError('no JSON'), None, False),
        ):
            result = connection_faults.status_of_keystone(error)
            self.assertEqual(status, result)
            self.assertEqual(
                is_of_catalog, connection_faults.is_of_catalog(error)
            )

    def test_certificates(self) -> None:
        for code, fault in (
            (9, ConnectionFault.EXPIRED),
            (10, ConnectionFault.EXPIRED),
            (18, ConnectionFault.CA),
            (20, ConnectionFault.CA),
            (62, ConnectionFault.OTHER_NAME),
            (64, ConnectionFault.OTHER_NAME),
        ):
            error = ssl.SSLCertVerificationError(1, 'failed')
            error.verify_code = code
            self.assertIs(fault, connection_faults.of(error))

    def test_tls(self) -> None:
        for reason, fault in (
            ('WRONG_VERSION_NUMBER', ConnectionFault.HTTP),
            (
                'TLSV13_ALERT_CERTIFICATE_REQUIRED',
                ConnectionFault.CLIENT_CERTIFICATE,
            ),
            ('TLSV1_ALERT_UNKNOWN_CA', ConnectionFault.CLIENT_CERTIFICATE),
            ('UNEXPECTED_EOF_WHILE_READING', ConnectionFault.REFUSED),
            ('SOMETHING_ELSE', ConnectionFault.CA),
        ):
            error = ssl.SSLError(1, reason)
            error.reason = reason
            self.assertIs(fault, connection_faults.of(error))
        self.assertIs(
            ConnectionFault.CLIENT_CERTIFICATE,
            connection_faults.of(ssl.SSLEOFError(8, 'EOF occurred')),
        )
