# SPDX-License-Identifier: Apache-2.0
"""The credentials with which a command asks the cloud.

Of ``[nova]`` in its configuration, of a clouds.yaml or of the environment;
Watcher and nova-scheduler have their own.
"""

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import openstack
from keystoneauth1 import adapter, loading
from keystoneauth1 import exceptions as ks_exceptions
from openstack import connection

from kronos.clients import answers, keystone, rest
from kronos.clients import connection as clients_connection
from kronos.common import exceptions

GROUP = 'nova'
WATCHER = 'watcher_clients_auth'
"""Where Watcher has the credentials that its strategies use."""
GROUPS = (GROUP, WATCHER)
HALVES = (
    ('username', 'password'),
    ('user_id', 'password'),
    ('application_credential_id', 'application_credential_secret'),
    ('keyfile', 'certfile'),
)
"""Options that mean nothing without another one."""
FROM_ENVIRONMENT = ('OS_CLOUD', 'OS_AUTH_URL', 'OS_AUTH_TYPE')

NONE_GIVEN = (
    'there are no credentials: set auth_type and its options in [nova] of '
    'the configuration file, name a cloud of clouds.yaml with --os-cloud, or '
    'set the variables OS_* of the openstack client'
)


@dataclass
class Identity:
    """Who asks, as Keystone sees it."""

    user: str
    project: str
    roles: list[str] = field(default_factory=list)


class Access:
    """A way into the cloud; nothing is asked before it is used.

    :param session: a keystoneauth1 session
    :param clients: of that session
    :param source: where the credentials are from, for messages
    :param place: gives region and interface of a type of service
    """

    def __init__(
        self,
        session: Any,
        clients: clients_connection.Clients,
        source: str,
        place: Callable[[str], dict[str, Any]],
    ) -> None:
        self.session = session
        self.clients = clients
        self.source = source
        self._place = place

    def adapter(self, service_type: str) -> Any:
        """To a service that planning does not ask."""
        return adapter.Adapter(
            self.session,
            service_type=service_type,
            **self._place(service_type),
        )

    def identity(self) -> Identity:
        """Log in.

        :raises ClientError: Keystone refuses, or is not there
        """
        plugin = self.session.auth
        if not hasattr(plugin, 'get_access'):
            # An auth_type that knows no Keystone, such as "none".
            return Identity('', '')
        try:
            with rest.guarded(exceptions.ClientError, 'Keystone'):
                access = plugin.get_access(self.session)
                return Identity(
                    access.username or '',
                    access.project_name or '',
                    sorted(access.role_names),
                )
        except exceptions.ClientError as error:
            status = getattr(error.__cause__, 'http_status', None)
            error.kwargs['status'] = status
            raise


def register_opts(conf: Any, group: str = GROUP) -> None:
    """Register what tells credentials and endpoints.

    :param conf: an ``oslo_config.cfg.ConfigOpts``
    :param group: of the credentials
    """
    loading.register_auth_conf_options(conf, group)
    loading.register_session_conf_options(conf, group)
    for name in clients_connection.GROUPS:
        loading.register_adapter_conf_options(conf, name)


def list_opts() -> list[tuple[str, list[Any]]]:
    """What the commands need beside ``[kronos]``, for oslo-config-generator.

    With a password, which is what most have; keystoneauth has other plugins.
    """
    of_adapter = loading.get_adapter_conf_options()
    return [
        (
            GROUP,
            [
                *loading.get_auth_common_conf_options(),
                *loading.get_auth_plugin_conf_options('password'),
                *loading.get_session_conf_options(),
                *of_adapter,
            ],
        ),
        (clients_connection.GROUPS[1], of_adapter),
    ]


def faults(conf: Any, group: str) -> dict[str, str]:
    """What a group of credentials alone shows to be wrong.

    :param conf: with the options of :func:`register_opts`, if it has the group
    :returns: fault to remedy
    """
    if group not in conf or not conf[group].auth_type:
        return {}
    try:
        loading.load_auth_from_conf_options(conf, group)
    except ks_exceptions.NoMatchingPlugin:
        return {}  # it may be where the service runs
    except rest.FAILURES as error:
        return {answers.line_of(error): 'set the options named in the error'}
    return {
        f'{name} is set, but {other} is not': f'set {other}'
        for name, other in HALVES
        if _value(conf, group, name) and not _value(conf, group, other)
    }


def _value(conf: Any, group: str, name: str) -> Any:
    """Of an option, if its plugin has it."""
    is_known = name in conf[group]
    return conf[group][name] if is_known else None


def unreadable(conf: Any, group: str) -> dict[str, str]:
    """The files that cannot be read here, by their option."""
    if group not in conf:
        return {}
    paths = {
        f'[{group}] {name}': _value(conf, group, name)
        for name in ('cafile', 'certfile', 'keyfile')
    }
    return {
        name: path
        for name, path in paths.items()
        if path and not os.access(path, os.R_OK)
    }


def names() -> set[str]:
    """The names of options that a group of credentials may have."""
    opts = [
        *loading.get_auth_common_conf_options(),
        *loading.get_session_conf_options(),
        *loading.get_adapter_conf_options(),
        *(
            opt
            for loader in loading.get_available_plugin_loaders().values()
            for opt in loader.get_options()
        ),
    ]
    return {
        name.replace('-', '_')
        for opt in opts
        for name in (
            getattr(opt, 'dest', opt.name),
            *(
                old.name
                for old in (
                    getattr(opt, 'deprecated_opts', None)
                    or getattr(opt, 'deprecated', None)
                    or ()
                )
            ),
        )
    }


def connect(
    conf: Any,
    os_cloud: str = '',
    group: str = GROUP,
    environ: Mapping[str, str] = os.environ,
) -> Access:
    """Find the credentials, the first of these that is given.

    1. ``os_cloud``, a cloud of clouds.yaml;
    2. ``auth_type`` or ``auth_section`` in a group of ``conf``;
    3. the variables ``OS_*``.

    :param conf: with the options of :func:`register_opts`
    :raises ConfigurationError: there are none, or they are not whole; no
        text holds a secret
    """
    if os_cloud:
        return _by_sdk(f'cloud {os_cloud} of clouds.yaml', cloud=os_cloud)
    if conf[group].auth_type or conf[group].auth_section:
        return _by_conf(conf, group)
    if any(environ.get(name) for name in FROM_ENVIRONMENT):
        return _by_sdk('the variables OS_* of the environment')
    raise exceptions.ConfigurationError(reason=NONE_GIVEN)


def _by_conf(conf: Any, group: str) -> Access:
    try:
        auth = loading.load_auth_from_conf_options(conf, group)
        session = keystone.own(
            loading.load_session_from_conf_options(conf, group, auth=auth),
            use_proxies=True,
        )
    except rest.FAILURES as error:
        raise exceptions.ConfigurationError(
            reason=f'[{group}] {error}'
        ) from error
    first, second = clients_connection.GROUPS
    for name in ('region_name', 'valid_interfaces'):
        # Who says where Nova is need not say it of Placement, too.
        conf.set_default(name, conf[first][name], group=second)
    return Access(
        session,
        clients_connection.HostProcess(lambda: session, conf),
        f'[{group}] of the configuration',
        lambda _: {
            'region_name': conf[first].region_name,
            'interface': conf[first].valid_interfaces,
        },
    )


def _by_sdk(source: str, **kwargs: str) -> Access:
    try:
        cloud: connection.Connection = openstack.connect(
            app_name='kronos', **kwargs
        )
        # Before its session is made, that is.
        cloud.config.set_session_constructor(
            functools.partial(keystone.KeystoneSession, use_proxies=True)
        )
        session = cloud.session
    except rest.FAILURES as error:
        raise exceptions.ConfigurationError(
            reason=f'{source}: {error}'
        ) from error
    return Access(
        session,
        clients_connection.Clients(lambda: cloud),
        source,
        lambda service_type: {
            'region_name': cloud.config.get_region_name(service_type),
            'interface': cloud.config.get_interface(service_type),
        },
    )
