# SPDX-License-Identifier: Apache-2.0
"""The redirects that a request may follow: those that stay at one address.

A request carries a password, a token or a client certificate, which are meant
for one scheme, host and port.
"""

import requests

from kronos.clients import transport
from kronos.common.web import addresses


class Elsewhere(requests.RequestException):
    """A redirect to another address, which is not followed."""


def stay(response: requests.Response, remedy: str) -> None:
    """Let a redirect lead to the same address only.

    A relative one becomes absolute, which keystoneauth needs.

    :param remedy: what corrects the address that was asked, for the error
    :raises Elsewhere: it leads to another address
    """
    location = response.headers.get('Location')
    if response.status_code not in addresses.REDIRECTS or location is None:
        return
    url = response.request.url or ''
    target = addresses.target(url, location)
    if not addresses.is_same(url, target):
        raise Elsewhere(
            f'HTTP {response.status_code}: '
            f'{addresses.shown(url, path=False)} redirects to '
            f'{addresses.shown(target, path=False)}, where Kronos does not '
            f'send credentials. {remedy}',
            response=response,
        )
    response.headers['Location'] = target


def lasting(error: BaseException) -> BaseException | None:
    """What an error came of, if another try would end in the same way.

    An answer without end, or a redirect elsewhere.
    """
    kinds = (transport.TooLong, Elsewhere)
    causes = transport.causes(error)
    return next((cause for cause in causes if isinstance(cause, kinds)), None)
