# SPDX-License-Identifier: Apache-2.0
"""The webhook: each message is posted as JSON to one address."""

import os
from urllib import parse

from oslo_log import log as logging

from kronos.common import addresses, masking, plain_text, retry_after
from kronos.monitor import messages
from kronos.monitor.messages import Message
from kronos.monitor.sinks.base import Options, Outcome, Result, Sink
from kronos.monitor.sinks.https import Answer, Files, Https, Unreachable

LOG = logging.getLogger(__name__)

TOLD = 200
"""Characters of an answer that a log repeats."""
MAX_TOKEN = 16 * 1024
_OF_ONE_MESSAGE = (400, 409, 410, 413, 415, 422)
"""Statuses that speak of the message and not of the sink."""
_FILES = ('cafile', 'certfile', 'keyfile', 'bearer_token_file')


class Webhook(Sink):
    """Posts to a URL, over TLS.

    Whatever it answers but a status of 200 to 299, the message is tried
    again: an operator may mend what refuses it.
    """

    def __init__(self, name: str, options: Options) -> None:
        super().__init__(name, options)
        self._token_file = options['bearer_token_file'] or ''
        self._secrets: list[str] = []
        self._https = Https(
            options['url'],
            Files(*(options[key] or '' for key in _FILES[:3])),
            options['timeout'],
        )

    @classmethod
    def faults(cls, options: Options) -> list[str]:
        found = _faults_of_url(options['url'] or '', options['insecure'])
        for name in _FILES:
            path = options[name]
            if path and not os.access(path, os.R_OK):
                found.append(f'{name}: {path} cannot be read')
        if options['keyfile'] and not options['certfile']:
            found.append('keyfile: is set, but certfile is not')
        return found

    def deliver(self, message: Message) -> Result:
        return self._ask('POST', messages.kept(message).encode())

    def check(self, host: str) -> str:
        result = self._ask('OPTIONS', b'')
        answered = result.outcome is not Outcome.AWAY
        is_known = not result.text.startswith(('HTTP 401', 'HTTP 403'))
        is_http = result.text.startswith('HTTP ')
        return '' if (answered or is_http) and is_known else result.text

    def close(self) -> None:
        self._https.close()

    def _ask(self, method: str, body: bytes) -> Result:
        headers = {
            'Content-Type': 'application/json',
            'User-Agent': 'kronos-instance-monitor',
        }
        try:
            if self._token_file:
                headers['Authorization'] = f'Bearer {self._token()}'
            answer = self._https.ask(method, body, headers)
        except (OSError, ValueError) as error:
            told = getattr(error, 'strerror', None) or str(error)
            return Result(
                Outcome.AWAY, f'bearer_token_file {self._token_file}: {told}'
            )
        except Unreachable as error:
            return Result(Outcome.AWAY, f'{self._https.place}: {error}')
        return self._result(answer)

    def _result(self, answer: Answer) -> Result:
        if 200 <= answer.status < 300:
            return Result(Outcome.DELIVERED)
        said = answer.body[: 4 * TOLD].decode(errors='replace')
        for secret in self._secrets:
            said = said.replace(secret, masking.HIDDEN)
        said = ' '.join(masking.masked(said).split())
        text = f'HTTP {answer.status}: {plain_text.line(said)[:TOLD]}'
        location = answer.headers.get('Location')
        if answer.status in addresses.REDIRECTS and location:
            target = addresses.target(self.options['url'], location)
            text = (
                f'HTTP {answer.status}: it redirects to '
                f'{addresses.shown(target, path=False)}, which is not '
                'followed. Set url to where it is'
            )
        if answer.status in _OF_ONE_MESSAGE:
            return Result(Outcome.LATER, text)
        return Result(Outcome.AWAY, text, retry_after.seconds_of(answer))

    def _token(self) -> str:
        """As the file has it now.

        :raises OSError: it cannot be read
        :raises ValueError: it holds no token
        """
        with open(self._token_file, encoding='utf-8') as file:
            token = file.read(MAX_TOKEN).strip()
        if not token or not (token.isascii() and token.isprintable()):
            raise ValueError('it holds no token')
        # An answer may come to a request with the one before.
        self._secrets = [token, *self._secrets[:1]]
        return token


def _faults_of_url(url: str, insecure: bool) -> list[str]:
    try:
        parts = parse.urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, parse.urlsplit('')
    if parts.scheme not in ('http', 'https') or not host:
        return ['url: it must be https://HOST, with a port and a path if need']
    found = []
    if parts.scheme == 'http' and not insecure:
        found.append(
            'url: it is http://, which anybody on the way can read and '
            'change; use https://, or set insecure = true'
        )
    if parts.username is not None:
        found.append('url: it holds a user; use bearer_token_file instead')
    if any(ord(one) <= 32 or ord(one) > 126 for one in url):
        found.append('url: it holds a character that no URL may have')
    return found
