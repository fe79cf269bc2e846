# SPDX-License-Identifier: Apache-2.0
"""The file of the event rules, read again whenever it changes."""

from collections.abc import Sequence

from oslo_log import log as logging

from kronos.common import exceptions, plain_files, yaml_files
from kronos.monitor.rules import parser
from kronos.monitor.rules.models import Rule

LOG = logging.getLogger(__name__)

DEFAULT_PATH = '/etc/kronos/event_rules.yaml'


class WatchedRules:
    """The rules that hold: the last good ones.

    :param path: of the file; where none is at the default path, the rules
        that come with Kronos hold
    :param sinks: all that there are
    :raises ConfigurationError: names every rule, field and remedy at fault
    """

    def __init__(self, path: str, sinks: Sequence[str]) -> None:
        self.path = path
        self._sinks = tuple(sinks)
        [self._version] = plain_files.versions(path)
        self.is_valid = True
        """Whether the file as it is now holds."""
        self.rules = self._read()

    @property
    def place(self) -> str:
        """Where the rules that hold are from."""
        if self._version is None and self.path == DEFAULT_PATH:
            return 'the default rules'
        return self.path

    def refresh(self) -> None:
        """Read the file if it was changed; it may break meanwhile."""
        [version] = plain_files.versions(self.path)
        if version == self._version:
            return
        was_there = self._version is not None
        self._version = version
        # Whatever happens: it is not valid until it has been read.
        self.is_valid = False
        try:
            if version is None and was_there:
                raise parser.refused(self.path, 'it is gone')
            self.rules = self._read()
        except exceptions.ConfigurationError as error:
            LOG.error('%s. The previous rules stay in force', error)
            return
        self.is_valid = True
        LOG.info('Event rules %s: read again', self.path)

    def _read(self) -> list[Rule]:
        if self._version is None and self.path == DEFAULT_PATH:
            return parser.parse(parser.DEFAULT, self.path, self._sinks)
        try:
            text = yaml_files.text_of(self.path)
        except yaml_files.Unreadable as error:
            raise parser.refused(self.path, str(error)) from None
        return parser.parse(text, self.path, self._sinks)
