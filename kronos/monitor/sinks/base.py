# SPDX-License-Identifier: Apache-2.0
"""A sink: where messages go, and what became of one of them."""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from kronos.monitor.messages import Message

Options = Mapping[str, Any]
"""Of the sink's group, by name; each has a value that oslo.config took."""


class Outcome(StrEnum):
    DELIVERED = 'delivered'
    REFUSED = 'refused'
    """It will never be taken; it is not tried again."""
    LATER = 'later'
    """This one was not taken; others may be."""
    AWAY = 'away'
    """The sink takes none just now."""
    UNWANTED = 'unwanted'
    """The sink has no use for this kind; it is not tried again."""
    PENDING = 'pending'
    """Of a trigger alone: all is well, and its end is not known yet."""


@dataclass
class Result:
    """What became of a message, or of the sink itself."""

    outcome: Outcome
    text: str = ''
    """For the log: why, without secrets."""
    wait: float | None = None
    """Seconds that the sink asks to wait."""


class Sink(abc.ABC):
    """One place that takes messages; one thread calls it.

    :param name: as in ``[kronos_monitor] sinks``
    :param options: without faults
    """

    OPTS: ClassVar[Sequence[Any]] = ()
    """Options of oslo.config that a driver of another package has, beside
    those of every sink. Secret ones have ``secret=True``."""
    WANTS_RESOLVED: ClassVar[bool] = True
    """Whether it is told of a server that ran anew meanwhile."""

    def __init__(self, name: str, options: Options) -> None:
        self.name = name
        self.options = options

    @classmethod
    @abc.abstractmethod
    def faults(cls, options: Options) -> list[str]:
        """What is wrong with the options: each as ``OPTION: RULE``."""

    @abc.abstractmethod
    def deliver(self, message: Message) -> Result:
        """Hand a message over, within the time-out; it may raise nothing."""

    @abc.abstractmethod
    def check(self, host: str) -> str:
        """What keeps it from taking messages; '': nothing.

        :param host: that the agent watches
        """

    def close(self) -> None:
        """Let go of what is open."""
        return


class Trigger(Sink):
    """A sink that needs no message: it is told that there are incidents.

    Who is triggered reads what is wrong from the metrics, so these come
    first.
    """

    @property
    @abc.abstractmethod
    def delay(self) -> float:
        """Seconds after which it is triggered though nobody has read them."""

    @abc.abstractmethod
    def begin(self) -> None:
        """There are further incidents: what was done before is too early."""

    @abc.abstractmethod
    def trigger(self) -> Result:
        """Do what is due since :meth:`begin`; it may raise nothing.

        :returns: ``PENDING`` until it is certain that what was triggered
            came after; then ``DELIVERED``
        """

    def deliver(self, message: Message) -> Result:
        """A message by itself is one incident more."""
        self.begin()
        return self.trigger()
