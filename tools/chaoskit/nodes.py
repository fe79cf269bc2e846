# SPDX-License-Identifier: Apache-2.0
"""The nodes of a lab with three databases and brokers, and their faults.

No more than one of each cluster is away at a time: two of three have to
agree.
"""

import time
from collections.abc import Callable

from labkit.ha import choice
from labkit.lab import Lab

from chaoskit.events import Event
from chaoskit.facts import NotDone, Outages

CLUSTERS = dict.fromkeys(choice.DATABASES, 'mariadb') | dict.fromkeys(
    choice.BROKERS, 'rabbitmq'
)
"""Node to what its outage is an outage of."""
Work = Callable[[Event], None]


class Nodes:
    """The nodes, and which of them is away."""

    def __init__(self, lab: Lab, outages: Outages) -> None:
        self._lab = lab
        self._outages = outages
        self._skewed: set[str] = set()

    def works(self) -> dict[str, tuple[Work, Work]]:
        """By kind of event what begins and what ends it."""
        return {
            'node-kill': (self._kill, self._end),
            'node-stop': (self._stop, self._end),
            'node-pause': (self._pause, self._end),
            'node-isolate': (self._isolate, self._end),
            'node-desync': (self._desync, self._end),
            'node-fill': (self._fill, self._end),
            'clock': (self._skew, self._right),
        }

    def heal(self) -> None:
        """End the faults of all nodes, and set the clocks right.

        :raises LabError: a node is not like the others again
        """
        for name in CLUSTERS:
            if self._outages.open(name):
                self._mend(name)
        for name in sorted(self._skewed):
            self._restart(name)

    def _kill(self, event: Event) -> None:
        self._begin(event.subject)
        self._lab.stop(event.subject, kill=True)

    def _stop(self, event: Event) -> None:
        self._begin(event.subject)
        self._lab.stop(event.subject)

    def _pause(self, event: Event) -> None:
        self._begin(event.subject)
        self._lab.pause(event.subject)

    def _isolate(self, event: Event) -> None:
        self._begin(event.subject)
        self._lab.isolate(event.subject)

    def _desync(self, event: Event) -> None:
        self._begin(event.subject)
        self._lab.desync(event.subject)

    def _fill(self, event: Event) -> None:
        self._begin(event.subject)
        self._lab.fill(event.subject)

    def _skew(self, event: Event) -> None:
        if self._outages.open(event.subject):
            raise NotDone('it is away already')
        self._outages.begin(event.subject, time.time())
        self._skewed.add(event.subject)
        self._lab.skew(event.subject, event.told['ahead'])
        self._outages.end(event.subject, time.time())

    def _right(self, event: Event) -> None:
        if event.subject not in self._skewed:
            raise NotDone('its clock is right')
        self._restart(event.subject)

    def _restart(self, name: str) -> None:
        self._outages.begin(name, time.time())
        self._lab.restart(name)
        self._skewed.discard(name)
        self._outages.end(name, time.time())

    def _end(self, event: Event) -> None:
        if not self._outages.open(event.subject):
            raise NotDone('its fault has not begun')
        self._mend(event.subject)

    def _begin(self, name: str) -> None:
        cluster, now = CLUSTERS[name], time.time()
        if self._outages.open(cluster):
            raise NotDone(f'another node of {cluster} is away')
        for each in (name, cluster):
            self._outages.begin(each, now)

    def _mend(self, name: str) -> None:
        self._lab.start(name)
        self._lab.resume(name)
        for each in (name, CLUSTERS[name]):
            self._outages.end(each, time.time())
