# SPDX-License-Identifier: Apache-2.0
"""Has each way in which a service fails a remedy of its own?"""

from keystoneauth1 import exceptions as ks_exceptions
from oslotest import base

from kronos.clients import rest
from kronos.cmd.checks.causes import services
from kronos.common import exceptions


class TestRemedy(base.BaseTestCase):
    def remedy(self, cause: Exception) -> str:
        try:
            with rest.guarded(exceptions.NovaClientError, 'GET /x'):
                raise cause
        except exceptions.NovaClientError as error:
            return services.remedy(error)

    def test_statuses(self) -> None:
        for status, remedy in (
            (200, services.CATALOG),
            (401, services.OTHER_KEYSTONE),
            (404, services.CATALOG),
            (429, services.SILENT),
            (500, services.BROKEN),
            (504, services.SILENT),
        ):
            error = exceptions.NovaClientError(
                reason='no', **rest.facts(status)
            )
            self.assertEqual(remedy, services.remedy(error))

    def test_connections(self) -> None:
        for cause, remedy in (
            (ks_exceptions.EndpointNotFound(), services.ENDPOINT),
            (ks_exceptions.ConnectFailure('no'), services.LISTENING),
            (ks_exceptions.ConnectTimeout('no'), services.LISTENING),
            (ks_exceptions.SSLError('no'), services.CERTIFICATE),
            (ks_exceptions.DiscoveryFailure('no'), services.CATALOG),
        ):
            self.assertEqual(remedy.format('nova'), self.remedy(cause))

    def test_it_is_too_old(self) -> None:
        error = exceptions.NovaClientError(
            reason='its newest microversion is 2.60', **rest.facts()
        )
        self.assertEqual(services.UPGRADE, services.remedy(error))
