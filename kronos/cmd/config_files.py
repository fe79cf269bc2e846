# SPDX-License-Identifier: Apache-2.0
"""The configuration files that a command reads."""

import argparse
import os
import pathlib
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from oslo_config import cfg
from oslo_log import log as logging

from kronos.common import exceptions, plain_files
from kronos.conf import opts

PROJECT = 'kronos'
_OPENED = ('/dev/fd/', '/proc/self/fd/')
"""Where a process has what it, or its shell, has opened."""
TALKERS = ('kronos', 'keystoneauth', 'openstack', 'stevedore', 'urllib3')
"""Whose log would repeat what a command says."""


class Options(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **fields: Any) -> argparse.Action:
        """Add an option."""


@dataclass
class Paths:
    """Files, and directories whose ``*.conf`` are read after them."""

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.files or self.folders)

    @property
    def all_files(self) -> list[str]:
        """In the order of reading."""
        files = list(self.files)
        for folder in self.folders:
            files += sorted(map(str, pathlib.Path(folder).glob('*.conf')))
        return files


def add_arguments(parser: Options) -> None:
    """The options that all commands share which ask a cloud."""
    add_file_arguments(parser)
    parser.add_argument(
        '--os-cloud',
        default='',
        metavar='NAME',
        help='cloud in clouds.yaml to connect to (default: the credentials '
        'in [nova] of the configuration, then OS_* of the environment)',
    )


def add_file_arguments(parser: Options) -> None:
    """The options that name configuration files."""
    parser.add_argument(
        '--config-file',
        action='append',
        default=[],
        type=existing,
        metavar='FILE',
        help='configuration file, such as kronos.conf or watcher.conf, or a '
        'directory of such files; may be repeated (default: kronos.conf '
        'in /etc/kronos and in ~/.kronos)',
    )
    parser.add_argument(
        '--config-dir',
        action='append',
        default=[],
        type=existing,
        metavar='DIR',
        help='directory whose .conf files are read after the files',
    )


def add_paths(
    parser: argparse.ArgumentParser, option: str, help_text: str
) -> None:
    """An option that names files or directories of another service."""
    parser.add_argument(
        option,
        action='append',
        default=[],
        type=existing,
        metavar='PATH',
        help=help_text,
    )


def add_debug(parser: Options) -> None:
    """The option that :func:`log` is given."""
    parser.add_argument(
        '--debug', action='store_true', help='log to standard error'
    )


def existing(text: str) -> str:
    """An argument that is a path which can be read."""
    path = pathlib.Path(text)
    try:
        if path.is_dir():
            next(path.iterdir(), None)
        else:
            # Without waiting for who would write to a pipe.
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        raise argparse.ArgumentTypeError(
            f'{text} cannot be read: {error.strerror}'
        ) from None
    if _is_pipe(text):
        raise argparse.ArgumentTypeError(
            f'{text} cannot be read: {plain_files.NO_PLAIN_FILE}'
        )
    return text


def _is_pipe(path: str) -> bool:
    """Whether reading it may wait for ever.

    One that a shell has opened for the command (``<(...)``) ends.
    """
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False  # who reads it tells
    return stat.S_ISFIFO(mode) and not path.startswith(_OPENED)


def paths(named: Sequence[str], beside: Sequence[str] = ()) -> Paths:
    """Sort what was named into files and directories.

    :param named: files and directories
    :param beside: names of directories that a service reads, too, where
        they stand beside a file; ``FILE.d`` always is one
    """
    result = Paths()
    for name in named:
        path = pathlib.Path(name)
        if path.is_dir():
            result.folders.append(name)
            continue
        result.files.append(name)
        for folder in (f'{path.name}.d', *beside):
            if path.with_name(folder).is_dir():
                result.folders.append(str(path.with_name(folder)))
    result.folders = [
        *{os.path.realpath(name): name for name in result.folders}.values()
    ]
    return result


def default_paths(program: str, project: str = PROJECT) -> Paths:
    """What a command or service reads if no file is named."""
    return Paths(
        cfg.find_config_files(project=project, prog=program),
        cfg.find_config_dirs(project=project, prog=program),
    )


def load(where: Paths, *groups: str) -> Any:
    """Read files into a configuration of their own.

    :param groups: of credentials, beside ``[nova]``
    :returns: an ``oslo_config.cfg.ConfigOpts`` with the options of Kronos
        and those of the credentials
    :raises ConfigurationError: one cannot be parsed; the text names file
        and line and shows none
    """
    # The OpenStack SDK takes as much memory as all else of a command.
    from kronos.cmd import credentials

    conf = cfg.ConfigOpts()
    opts.register_opts(conf)
    for group in (credentials.GROUP, *groups):
        credentials.register_opts(conf, group)
    read(conf, where)
    return conf


def read(conf: Any, where: Paths) -> None:
    """Read files into a configuration.

    :raises ConfigurationError: as :func:`load` does, or a file is a pipe
    """
    if pipe := next(filter(_is_pipe, where.all_files), ''):
        raise exceptions.ConfigurationError(
            reason=f'{pipe}: {plain_files.NO_PLAIN_FILE}'
        )
    try:
        conf(
            [],
            project=PROJECT,
            default_config_files=where.files,
            default_config_dirs=where.folders,
        )
    except cfg.ConfigFileParseError as error:
        place = rf'at {re.escape(error.config_file)}:(\d+)'
        line = re.match(place, error.msg)
        raise exceptions.ConfigurationError(
            reason=f'{error.config_file}'
            + (f', line {line[1]}' if line else '')
            + ' is not in the format of oslo.config'
        ) from None
    except UnicodeDecodeError:
        raise exceptions.ConfigurationError(
            reason=f'{", ".join(where.all_files)}: not UTF-8 text'
        ) from None


def log(debug: bool) -> None:
    """Set up the log of a command, which is for ``--debug`` only.

    :param debug: whether to log to standard error
    """
    conf = cfg.ConfigOpts()
    logging.register_options(conf)
    conf([], project='kronos', default_config_files=[], default_config_dirs=[])
    conf.set_override('debug', debug)
    conf.set_override('use_stderr', True)
    if not debug:
        levels = [f'{name}=CRITICAL' for name in TALKERS]
        # It passes over a clouds.yaml that is none.
        levels.append('openstack.config=WARNING')
        conf.set_override('default_log_levels', levels)
    logging.setup(conf, 'kronos')
