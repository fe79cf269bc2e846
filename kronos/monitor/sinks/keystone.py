# SPDX-License-Identifier: Apache-2.0
"""The Keystone session of a sink: its user, and the rotation of its files."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1 import loading
from oslo_log import log as logging

from kronos.clients import answers, keystone, transport
from kronos.common import (
    exceptions,
    masking,
    plain_files,
    plain_text,
    yaml_files,
)
from kronos.common.names import near_names
from kronos.common.web import addresses
from kronos.monitor.sinks import https, remedies
from kronos.monitor.sinks.base import Options, Outcome, Result

LOG = logging.getLogger(__name__)

MAX_SECRET = 16 * 1024
LONGEST = 4 * 2**20
"""Bytes of an answer: Masakari and Watcher tell little."""
SECRETS = ('password', 'application_credential_secret')
"""Options of plugins that ``secret_file`` may stand for."""
_FILES = ('cafile', 'certfile', 'keyfile', 'secret_file')

Client = TypeVar('Client')


class Service(Generic[Client]):
    """A service that a sink asks, as the user of the sink.

    Its client is made anew whenever a file of the credentials changed.

    :param options: of the sink's group
    :param make: a client, of a session and the further arguments region,
        interface, override of the endpoint
    :param name: for people
    """

    def __init__(
        self, options: Options, make: Callable[..., Client], name: str
    ) -> None:
        self._options = options
        self._name = name
        self._make = make
        self._versions: plain_files.Versions = ()
        self._client: Client | None = None
        self._session: keystone.KeystoneSession | None = None
        self._secrets: list[str] = []
        """What no text may show, be it of the file before."""

    def client(self) -> Client:
        """:raises ClientError: there is none just now"""
        versions = plain_files.versions(
            *(self._options[key] or '' for key in _FILES)
        )
        if self._client is None or versions != self._versions:
            self.close()
            self._client = self._new_client()
            self._versions = versions
        return self._client

    def result_of(
        self, error: exceptions.ClientError, remedy: str = ''
    ) -> Result:
        """What a failed request says of the service as a whole.

        :param remedy: where who asked knows a better one
        """
        masked = masking.Secrets(self._secrets).masked(str(error))
        text = plain_text.line(answers.line_of(masked)).rstrip('.')
        remedy = remedy or remedies.of(error, self._name, self._options)
        return Result(
            Outcome.AWAY,
            f'{text}; {remedy}' if remedy else text,
            error.kwargs.get('retry_after'),
        )

    def close(self) -> None:
        """Close its connections; the next request makes others."""
        if self._session is not None:
            self._session.session.close()
        self._client = self._session = None

    def _new_client(self) -> Client:
        options = self._options
        secret = _secret(options)
        shown = [secret, *(options.get(name) for name in SECRETS)]
        self._secrets = [*filter(None, shown), *self._secrets][:4]
        self._session = session_of(options, secret)
        client = self._make(
            self._session,
            options['region_name'],
            options['interface'],
            options['endpoint_override'],
            max_retries=0,
            timeout=options['timeout'],
        )
        endpoint = str(getattr(client, 'endpoint', ''))
        if endpoint.startswith('http://') and not options['insecure']:
            place = addresses.shown(endpoint, path=False)
            raise exceptions.ClientError(
                reason=f'its endpoint is {place}, {https.CLEAR_TEXT}'
            )
        return client


def session_of(options: Options, secret: str) -> keystone.KeystoneSession:
    """A session with the files as they are now.

    :param secret: that of ``secret_file``
    :raises ClientError: a file cannot be read, or holds something else
    """
    timeout = options['timeout']
    cert = options['certfile']
    if cert and options['keyfile']:
        cert = (cert, options['keyfile'])
    for name in _FILES[:3]:
        _require_readable(name, options[name])
    return keystone.KeystoneSession(
        _plugin(options, secret),
        transport.Limits(timeout, timeout, timeout, LONGEST),
        LOG.debug,
        verify=options['cafile'] or True,
        cert=cert or None,
    )


def faults(options: Options) -> list[str]:
    """What is wrong with the options that all services have."""
    texts = [*_faults_of_files(options)]
    for name in ('auth_url', 'endpoint_override'):
        texts += _faults_of_url(name, options)
    names = _names_of(options)
    if not names:
        kinds = sorted(loading.get_available_plugin_names())
        hint = near_names.of_fields(options['auth_type'], kinds)
        clipped = yaml_files.clip(options['auth_type'] or '')
        return [*texts, f'auth_type: there is no {clipped}, {hint}']
    try:
        _plugin(options, 'unread' if options['secret_file'] else '')
    except exceptions.ClientError as error:
        texts.append(str(error))
    return texts


def _faults_of_files(options: Options) -> list[str]:
    texts = https.faults_of_files(options, _FILES)
    if options['secret_file']:
        name = _secret_name(options)
        if not name:
            texts.append(
                f'secret_file: auth_type {options["auth_type"]} has no secret'
            )
        elif options.get(name):
            texts.append(f'secret_file: is set, and so is {name}')
    return texts


def _faults_of_url(name: str, options: Options) -> list[str]:
    url = options.get(name) or ''
    if not url:
        return []
    address = https.address_of(url)
    if address is None:
        return [f'{name}: it must be https://HOST']
    if address.scheme == 'http' and not options['insecure']:
        return [f'{name}: it is http://, {https.CLEAR_TEXT}']
    return []


def _names_of(options: Options) -> dict[str, Any]:
    """The options of the plugin; none: there is no such plugin."""
    try:
        loader = loading.get_plugin_loader(options['auth_type'])
    except ks_exceptions.NoMatchingPlugin:
        return {}
    return {opt.dest: opt for opt in loader.get_options()}


def _secret_name(options: Options) -> str:
    """What ``secret_file`` stands for; '': nothing."""
    names = _names_of(options)
    return next((name for name in reversed(SECRETS) if name in names), '')


def _secret(options: Options) -> str:
    """As the file has it now; '' if there is none.

    :raises ClientError: it cannot be read, or is empty
    """
    path = options['secret_file']
    if not path:
        return ''
    try:
        secret = plain_files.read(path, MAX_SECRET).decode().rstrip('\r\n')
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or 'it is no text'
        raise _wrong(f'secret_file {path}: {reason}') from None
    if not secret:
        raise _wrong(f'secret_file {path}: it is empty')
    return secret


def _plugin(options: Options, secret: str) -> Any:
    """:raises ClientError: the credentials are not whole"""
    names = _names_of(options)
    values = {
        name: options[name] for name in names if options.get(name) is not None
    }
    needed = _secret_name(options)
    if secret and needed:
        values[needed] = secret
    if needed and not values.get(needed):
        raise _wrong(f'{needed}: is not set, nor is secret_file')
    if needed == 'password' and not values.keys() & {'username', 'user_id'}:
        raise _wrong('username: is not set')
    try:
        loader = loading.get_plugin_loader(options['auth_type'])
        return loader.load_from_options(**values)
    except ks_exceptions.ClientException as error:
        # The text of another one might hold a value.
        is_safe = isinstance(error, ks_exceptions.OptionError)
        reason = str(error) if is_safe else type(error).__name__
        raise _wrong(f'auth_type {options["auth_type"]}: {reason}') from None


def _require_readable(name: str, path: str | None) -> None:
    """:raises ClientError: requests would raise what says less"""
    if reason := plain_files.fault(path or ''):
        raise _wrong(f'{name} {path}: {reason}')


def _wrong(reason: str) -> exceptions.ClientError:
    return exceptions.ClientError(reason=reason)
