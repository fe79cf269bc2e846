# SPDX-License-Identifier: Apache-2.0
"""The webhook: each message is posted as JSON to one address."""

from oslo_log import log as logging

from kronos.common import masking, plain_files, plain_text
from kronos.common.web import addresses, retry_after
from kronos.monitor import messages
from kronos.monitor.messages import Message
from kronos.monitor.sinks import https
from kronos.monitor.sinks.base import Options, Outcome, Result, Sink
from kronos.monitor.sinks.https import Answer, Files, Https, Unreachable

LOG = logging.getLogger(__name__)

MOST_LOGGED = 200
"""Characters of an answer that a log repeats."""
READ = 4096
"""Bytes of it that are looked at."""
MAX_TOKEN = 16 * 1024
_OF_ONE_MESSAGE = (400, 409, 410, 413, 415, 422)
"""Statuses that speak of the message and not of the sink."""
_WITHOUT_OPTIONS = (*_OF_ONE_MESSAGE, 405, 411, 501)
"""Statuses of an address that takes messages, and no request OPTIONS."""
_FILES = ('cafile', 'certfile', 'keyfile', 'bearer_token_file')


class Webhook(Sink):
    """Posts to a URL, over TLS.

    Whatever it answers but a status of 200 to 299, the message is tried
    again: an operator may mend what refuses it.
    """

    def __init__(self, name: str, options: Options) -> None:
        super().__init__(name, options)
        self._token_file = options['bearer_token_file'] or ''
        self._url_pieces = masking.pieces_of_url(options['url'])
        self._tokens: list[str] = []
        """The token, and the one before."""
        self._https = Https(
            options['url'],
            Files(*(options[key] or '' for key in _FILES[:3])),
            options['timeout'],
        )

    @classmethod
    def faults(cls, options: Options) -> list[str]:
        texts = _faults_of_url(options['url'] or '', options['insecure'])
        return [*texts, *https.faults_of_files(options, _FILES)]

    def deliver(self, message: Message) -> Result:
        try:
            answer = self._answer('POST', messages.text_of(message).encode())
        except Unreachable as error:
            return Result(Outcome.AWAY, str(error))
        return self._result(answer)

    def check(self, host: str) -> str:
        try:
            answer = self._answer('OPTIONS', b'')
        except Unreachable as error:
            return str(error)
        if answer.status < 300 or answer.status in _WITHOUT_OPTIONS:
            return ''
        return (
            f'OPTIONS: {self._result(answer).text}; the receiver would '
            'refuse messages. Correct the path of url, or repair the receiver'
        )

    def close(self) -> None:
        self._https.close()

    def _answer(self, method: str, body: bytes) -> Answer:
        """:raises Unreachable: there is none; the text has no secrets"""
        try:
            headers = self._headers(body)
        except (OSError, ValueError) as error:
            reason = getattr(error, 'strerror', None) or str(error)
            raise Unreachable(f'{self._secret}: {reason}') from None
        try:
            return self._https.ask(method, body, headers)
        except Unreachable as error:
            raise Unreachable(f'{self._https.place}: {error}') from None

    def _headers(self, body: bytes) -> dict[str, str]:
        """Those of a request.

        :raises OSError: the file with the secret cannot be read
        :raises ValueError: it holds none
        """
        headers = {
            'Content-Type': 'application/json',
            'User-Agent': 'kronos-instance-monitor',
        }
        if self._token_file:
            headers['Authorization'] = f'Bearer {self._token()}'
        return headers

    @property
    def _secret(self) -> str:
        """The file that the headers need, for messages."""
        return f'bearer_token_file {self._token_file}'

    def _result(self, answer: Answer) -> Result:
        if 200 <= answer.status < 300:
            return Result(Outcome.DELIVERED)
        secrets = masking.Secrets([*self._url_pieces, *self._tokens])
        said = answer.body[:READ].decode(errors='replace')
        said = ' '.join(secrets.masked(said).split())
        text = f'HTTP {answer.status}: {plain_text.line(said)[:MOST_LOGGED]}'
        location = answer.headers.get('Location')
        if answer.status in addresses.REDIRECTS and location:
            target = addresses.target(self.options['url'], location)
            text = (
                f'HTTP {answer.status}: it redirects to '
                f'{addresses.shown(target, path=False)}, which the agent '
                'does not follow. Set url to that address'
            )
        if answer.status in _OF_ONE_MESSAGE:
            return Result(Outcome.LATER, text)
        return Result(Outcome.AWAY, text, retry_after.seconds_of(answer))

    def _token(self) -> str:
        """As the file has it now.

        :raises OSError: it cannot be read
        :raises ValueError: it holds no token
        """
        data = plain_files.read(self._token_file, MAX_TOKEN)
        token = data.decode().strip()
        if not token or not (token.isascii() and token.isprintable()):
            raise ValueError('it contains no token')
        # An answer may come to a request with the one before.
        if token not in self._tokens:
            self._tokens = [token, *self._tokens[:1]]
        return token


def _faults_of_url(url: str, insecure: bool) -> list[str]:
    address = https.address_of(url)
    if address is None:
        return [
            'url: it must be https://HOST, with a port and a path if needed'
        ]
    texts = []
    if address.scheme == 'http' and not insecure:
        texts.append(f'url: it is http://, {https.CLEAR_TEXT}')
    if address.username is not None:
        texts.append('url: it contains a user; use bearer_token_file instead')
    if any(ord(character) <= 32 or ord(character) > 126 for character in url):
        texts.append(
            'url: it contains a character that is not allowed in a URL'
        )
    return texts
