# SPDX-License-Identifier: Apache-2.0
"""The command kronos-exporter: it serves the files of metrics over HTTP.

Exit status: 0 when it was ended by SIGTERM, or ``--once`` printed the
metrics; 1 when the directory or the address cannot be used; 2 when the
arguments are wrong. It holds no credential and asks no cloud.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kronos.cmd import program, terminal
from kronos.common import exceptions
from kronos.common.web import page_server

PROGRAM = 'kronos-exporter'
DIRECTORY = '/var/lib/kronos/metrics'
LISTEN = '127.0.0.1:9878'
REFRESH_SECONDS = 60.0
"""After which a rotated certificate is served."""
_TYPE = 'text/plain; version=0.0.4; charset=utf-8'


@program.command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parser = argument_parser()
    parsed = parser.parse_args(arguments)
    if (parsed.key or parsed.client_ca) and not parsed.cert:
        parser.error('--key and --client-ca need --cert')
    try:
        # It needs a package of the extras.
        from kronos.metrics import collection

        files = collection.Collection(parsed.directory)
        text = files.text()
        if parsed.once:
            terminal.show(text.decode('utf-8').rstrip('\n'))
            return 0
        return _serve(parsed, files.text)
    except ModuleNotFoundError as error:
        reason = f'the package {error.name} is not installed'
        raise exceptions.ConfigurationError(reason=reason) from None
    except OSError as error:
        reason = f'{error.filename or parsed.listen}: {error.strerror}'
        raise exceptions.ConfigurationError(reason=reason) from error


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Serve the metrics of the services of this host under '
        '/metrics, for hosts without a textfile collector.',
        epilog='Exit status: 0 ended by SIGTERM or metrics printed, 1 '
        'directory or address unusable, 2 wrong usage.',
    )
    parser.add_argument(
        '--directory',
        metavar='DIR',
        default=DIRECTORY,
        help='the directory of [kronos_metrics] directory '
        f'(default: {DIRECTORY})',
    )
    parser.add_argument(
        '--listen',
        metavar='ADDRESS:PORT',
        type=_endpoint,
        default=LISTEN,
        help='address and port of the server; brackets enclose an IPv6 '
        f'address (default: {LISTEN})',
    )
    _add_tls(parser)
    parser.add_argument(
        '--once', action='store_true', help='print the metrics and exit'
    )
    return parser


def _add_tls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--cert', metavar='FILE', default='', help='serve HTTPS with it'
    )
    parser.add_argument(
        '--key',
        metavar='FILE',
        default='',
        help='private key of the certificate, if it is in another file',
    )
    parser.add_argument(
        '--client-ca',
        metavar='FILE',
        default='',
        help='CA certificates; clients must have a certificate of one',
    )


def _endpoint(text: str) -> tuple[str, int]:
    match = re.fullmatch(r'(?:\[([^\]]+)\]|([^:\[\]]+)):(\d{1,5})', text)
    if match is None or int(match[3]) > 65535:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not ADDRESS:PORT, such as {LISTEN}'
        )
    return match[1] or match[2], int(match[3])


def _serve(parsed: argparse.Namespace, text: Callable[[], bytes]) -> int:
    host, port = parsed.listen
    address = page_server.Address(
        host, port, parsed.cert, parsed.key, parsed.client_ca
    )
    with program.Termination() as termination:
        server = page_server.PageServer(address, _application(text))
        terminal.show(
            f'{PROGRAM} serves /metrics on {host} port {server.port}'
        )
        try:
            while not termination.wait(REFRESH_SECONDS):
                server.refresh()
        finally:
            server.close()
    return 0


def _application(text: Callable[[], bytes]) -> Any:
    """The page as WSGI; nothing else is served."""

    def application(environ: Any, start: Any) -> Iterable[bytes]:
        status, body = '200 OK', b''
        if environ.get('PATH_INFO') != '/metrics':
            status, body = '404 Not Found', b'see /metrics\n'
        elif environ.get('REQUEST_METHOD') not in ('GET', 'HEAD'):
            status = '405 Method Not Allowed'
        else:
            try:
                body = text()
            except OSError:
                status = '503 Service Unavailable'
                body = b'the directory cannot be read\n'
        headers = [
            ('Content-Type', _TYPE),
            ('Content-Length', str(len(body))),
        ]
        start(status, headers)
        return [body]

    return application


if __name__ == '__main__':
    sys.exit(main())
