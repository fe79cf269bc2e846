# SPDX-License-Identifier: Apache-2.0
"""The plugin of the openstack client: its commands, and their client.

The client loads this module and those of the commands whatever it is asked
for, so they import no more of Kronos than they need to be found.
"""

from typing import Any

API_NAME = 'kronos'
"""The commands are in the group ``openstack.kronos.v1``: not Watcher's own,
so they are there without python-watcherclient, too, and beside it."""
API_VERSION_OPTION = 'os_kronos_api_version'
API_VERSIONS = {'1': 'kronos.clients.watcher.WatcherClient'}
DEFAULT_API_VERSION = '1'
VERBOSE = 2
"""The level of the client's ``-v``."""
IDENTITY = 'keystoneauth.identity'
"""The loggers of the plugins that log in."""


def make_client(instance: Any) -> Any:
    """A client of Watcher's API, with the credentials that the user has.

    Nothing is tried twice: somebody waits, and may do that. The commands let
    the openstack client log in nowhere: its session has no time-out.

    :param instance: the ClientManager of the openstack client
    :raises ClientError: there is no Watcher, or Keystone refuses
    """
    from kronos.clients import watcher

    session, options = session_of(instance), instance.get_configuration()
    override = [
        options.get(f'{kind.replace("-", "_")}_endpoint_override')
        for kind in watcher.SERVICE_TYPES
    ]
    return watcher.find(
        session,
        instance.region_name or None,
        instance.interface or None,
        next(filter(None, override), None),
        max_retries=0,
    )


def session_of(instance: Any) -> Any:
    """A session with the credentials that the user has.

    :param instance: the ClientManager of the openstack client
    """
    from oslo_log import log as logging

    from kronos.clients import keystone

    # Else it loads no credentials.
    instance._auth_required = True
    instance.setup_auth()
    if instance.get_configuration().get('verbose_level', 1) < VERBOSE:
        # It warns of what our own error says.
        logging.getLogger(IDENTITY).setLevel('ERROR')
    return keystone.own(
        instance.session,
        warn=logging.getLogger(__name__).debug,
        use_proxies=True,
    )


def build_option_parser(parser: Any) -> Any:
    """No option that all commands of the client would get."""
    return parser
