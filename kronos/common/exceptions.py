# SPDX-License-Identifier: Apache-2.0
"""The errors of Kronos: what can go wrong in the world outside.

KronosException
  ConfigurationError
    PolicyFileError       the policies file is unreadable or invalid
    ScopeError            no, an unknown or an empty scope
  ArchiveError            a recording is unreadable or of an unknown format
  ClientError
    PrometheusError       Prometheus refused or cannot be reached
    NovaClientError       Nova refused or cannot be reached
    PlacementClientError  Placement refused or cannot be reached
    GlanceClientError     Glance refused or cannot be reached
  MigrationError
    StaleTask             there is nothing left to move
    PreFlightError        the move was not right any more; nothing was moved
      MigrationConflict   so says Nova, with a status of that name
    MigrationFailed       Nova gave the move up
    MigrationTimeout      the move took too long and was aborted
    MigrationCancelled    the move was aborted, or cancelled by Nova, for
                          no fault of the instance: its plan was cancelled,
                          its destination was closed, a service was stopped
    TurnUnknown           Watcher's database cannot be read

A MigrationError holds its code of :mod:`kronos.engine.faults` as ``fault``,
and ``transient`` if the same may go well the next time.

Wrong arguments from our own code are ValueError and KeyError instead.
"""

from typing import Any


class KronosException(Exception):
    """The root: a message with named fields, which stay readable.

    :param message: the whole text, instead of ``msg_fmt`` filled in
    :param kwargs: the fields of ``msg_fmt``, kept in ``kwargs``
    """

    msg_fmt = 'An unknown error occurred.'

    def __init__(self, message: str | None = None, **kwargs: Any) -> None:
        self.kwargs = kwargs
        super().__init__(message or self.msg_fmt % kwargs)


class ConfigurationError(KronosException):
    msg_fmt = 'Bad configuration: %(reason)s'


class PolicyFileError(ConfigurationError):
    msg_fmt = 'Policies file %(path)s: %(reason)s'


class ScopeError(ConfigurationError):
    msg_fmt = '%(reason)s'


class ArchiveError(KronosException):
    msg_fmt = '%(path)s: %(reason)s'


class ClientError(KronosException):
    msg_fmt = '%(reason)s'


class PrometheusError(ClientError):
    msg_fmt = 'Prometheus at %(url)s: %(reason)s'


class PrometheusSizeError(PrometheusError):
    """What was asked for is too much for one answer."""


class NovaClientError(ClientError):
    msg_fmt = 'Nova: %(reason)s'


class PlacementClientError(ClientError):
    msg_fmt = 'Placement: %(reason)s'


class GlanceClientError(ClientError):
    msg_fmt = 'Glance: %(reason)s'


class MigrationError(KronosException):
    msg_fmt = '%(reason)s'


class StaleTask(MigrationError):
    pass


class PreFlightError(MigrationError):
    pass


class MigrationConflict(PreFlightError):
    pass


class MigrationFailed(MigrationError):
    pass


class MigrationTimeout(MigrationError):
    pass


class MigrationCancelled(MigrationError):
    pass


class TurnUnknown(MigrationError):
    pass
