# SPDX-License-Identifier: Apache-2.0
"""The frame of all commands: arguments, endings, output."""

import argparse
import errno
import functools
import importlib.metadata
import itertools
import os
import queue
import re
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kronos.cmd import scripts, tables, terminal
from kronos.common import atomic_files, exceptions, masking, shell_commands
from kronos.common.names import near_names

PACKAGE = 'kronos-watcher'
Main = Callable[..., int]


def installed(package: str) -> str:
    """The version of a package; '' if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ''


def version() -> str:
    """That of Kronos."""
    return installed(PACKAGE) or 'unknown'


class Termination:
    """SIGTERM, within a block, as something to wait for.

    A signal's handler must not set an event: it may interrupt the wait for
    it while that has the event's lock, and waits for ever. Of a queue, only
    this one may be used there.
    """

    def __init__(self) -> None:
        self._signals: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._before: Any = None

    def __enter__(self) -> 'Termination':
        self._before = signal.signal(
            signal.SIGTERM, lambda number, _: self._signals.put(number)
        )
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)

    def is_set(self) -> bool:
        return not self._signals.empty()

    def wait(self, timeout: float) -> bool:
        """Whether it came before so many seconds were over."""
        try:
            self._signals.put(self._signals.get(timeout=timeout))
        except queue.Empty:
            return False
        return True


class Parser(argparse.ArgumentParser):
    """A parser that says so when its help cannot be printed.

    An option that it does not know is told before an argument that is
    missing: who writes ``--polices FILE`` has given what they think is.
    """

    def parse_known_args(
        self, args: Any = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        words = sys.argv[1:] if args is None else list(args)
        if not {'-h', '--help', '--version'}.intersection(words):
            self._require_known(words)
        return super().parse_known_args(words, namespace)

    def _require_known(self, words: list[str]) -> None:
        options = self._option_string_actions
        unknown = [
            word for word in _options(words) if _option(word) not in options
        ]
        if not unknown:
            return
        close = [
            name
            for word in unknown
            for name in near_names.near(_option(word), options)
        ]
        hint = f'; {near_names.question(close)}' if close else ''
        self.error(f'unrecognized arguments: {" ".join(unknown)}{hint}')

    def _print_message(self, message: str, file: Any = None) -> None:
        if message and file is not None and file is sys.stdout:
            terminal.show(message.rstrip('\n'))
        else:
            super()._print_message(message, file)


def _options(words: Iterable[str]) -> list[str]:
    """The words that are options to argparse."""
    before = itertools.takewhile(lambda word: word != '--', words)
    return [
        word
        for word in before
        if re.match('-[^0-9.]', word) and ' ' not in _option(word)
    ]


def _option(word: str) -> str:
    """The option alone: ``--set`` of ``--set=a=b``, ``-f`` of ``-fjson``."""
    return word.partition('=')[0] if word.startswith('--') else word[:2]


def parser(name: str, description: str, epilog: str | None = None) -> Parser:
    """A parser with what every command has.

    What is abbreviated today may be ambiguous with the next release.
    """
    result = Parser(
        prog=name, description=description, epilog=epilog, allow_abbrev=False
    )
    result.add_argument(
        '--version', action='version', version=f'{name} {version()}'
    )
    return result


def parsed(
    command_parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> argparse.Namespace:
    """The arguments, with the whole ``command`` as a shell takes it."""
    result = command_parser.parse_args(arguments)
    words = [command_parser.prog, *arguments]
    result.command = shell_commands.joined(words)
    return result


def add_format(command_parser: argparse.ArgumentParser) -> None:
    """Add the options for how the answer is printed."""
    command_parser.add_argument(
        '-f',
        '--format',
        choices=tables.FORMATS,
        default='table',
        help='output format: a table for people, the complete result as JSON '
        'or YAML, or the rows as CSV or as plain values (default: table)',
    )
    command_parser.add_argument(
        '--wide',
        action='store_true',
        help='do not limit tables to the width of the terminal',
    )


def width(parsed: argparse.Namespace) -> int | None:
    """So many columns a table may have; None: as many as it has."""
    return None if parsed.wide else terminal.width()


def write(path: str, text: str) -> None:
    """Write what an option asked for into a file.

    :raises ArchiveError: it cannot be written
    """
    try:
        atomic_files.write(path, text)
    except OSError as error:
        raise exceptions.ArchiveError(
            path=path, reason=f'it cannot be written: {error.strerror}'
        ) from error


def require_writable(path: str) -> None:
    """Say before long work that :func:`write` could not write it.

    :raises ArchiveError: as there
    """
    folder = os.path.dirname(path) or os.curdir
    if os.path.isdir(path):
        code = errno.EISDIR
    elif not os.path.isdir(folder):
        code = errno.ENOENT
    elif not os.path.exists(path) and not os.access(folder, os.W_OK):
        code = errno.EACCES
    else:
        return
    raise exceptions.ArchiveError(
        path=path, reason=f'it cannot be written: {os.strerror(code)}'
    )


def command(name: str, failed: int = 1) -> Callable[[Main], Main]:
    """A ``main`` that ends in no traceback for what is no fault of it.

    :param name: of the program, for messages
    :param failed: the exit status if it could not be done
    """

    def decorate(main: Main) -> Main:
        @functools.wraps(main)
        def run(*arguments: Any) -> int:
            try:
                return main(*arguments)
            except KeyboardInterrupt:
                terminal.complain(name, 'interrupted')
                return scripts.INTERRUPTED
            except exceptions.KronosException as error:
                terminal.complain(name, masking.masked(str(error)))
            except terminal.OutputError as error:
                terminal.complain(name, f'standard output: {error}')
            return failed

        return run

    return decorate
