# SPDX-License-Identifier: Apache-2.0
"""The causes for which a service of OpenStack does not answer as it should."""

from keystoneauth1 import exceptions as ks_exceptions

from kronos.clients import transport
from kronos.common import exceptions

ENDPOINT = (
    'correct region_name and valid_interfaces in [{0}], or the endpoint of '
    'the service in the Keystone catalog'
)
CATALOG = (
    'correct the endpoint of the service in the Keystone catalog: another '
    'program answers there'
)
LISTENING = (
    'start the service, or let this machine reach its endpoint in the '
    'Keystone catalog'
)
CERTIFICATE = (
    'set cafile in [{0}] to the CA that signed the certificate of the service'
)
OTHER_KEYSTONE = (
    'point the service to the same Keystone, in its [keystone_authtoken]'
)
SILENT = 'see in the log of the service, or of its proxy, why it is slow'
BROKEN = 'see in the log of the service, or of its proxy, why it fails'
UPGRADE = 'upgrade the service'


def remedy(error: exceptions.ClientError, group: str = 'nova') -> str:
    """What to do about a service that refuses or does not answer.

    :param group: of the configuration, where it says how to reach services
    """
    status = error.kwargs.get('status')
    if status is not None:
        return _of_status(int(status))
    causes = transport.causes(error)
    for kind, text in (
        (ks_exceptions.EndpointNotFound, ENDPOINT),
        (ks_exceptions.EmptyCatalog, ENDPOINT),
        (ks_exceptions.SSLError, CERTIFICATE),
        (ks_exceptions.ConnectTimeout, LISTENING),
        (ks_exceptions.ConnectionError, LISTENING),
        (ks_exceptions.DiscoveryFailure, CATALOG),
    ):
        if any(isinstance(cause, kind) for cause in causes):
            return text.format(group)
    return UPGRADE if 'microversion' in str(error) else ENDPOINT.format(group)


def _of_status(status: int) -> str:
    if status in (200, 300, 404):
        return CATALOG
    if status == 401:
        return OTHER_KEYSTONE
    return SILENT if status in (429, 504) else BROKEN
