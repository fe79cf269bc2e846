# SPDX-License-Identifier: Apache-2.0
"""Watcher: an EVENT audit is triggered, until one began that is not too old.

That Watcher takes a trigger says nothing: while any action plan runs it is
passed over, and nobody is told. Who may read the audit sees when it begins.
Who may not triggers it again and again for a time, with pauses that grow.
"""

import time
import uuid
from collections.abc import Callable

from oslo_log import log as logging

from kronos.clients import rest, watcher
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.monitor.sinks import keystone
from kronos.monitor.sinks.base import Options, Outcome, Result, Trigger

LOG = logging.getLogger(__name__)

LOOK_SECONDS = 3.0
"""Between two looks whether the audit began, or is over."""
LEAST_PAUSE = 10.0
"""Seconds between two triggers, whatever is new meanwhile."""
EVENT = 'EVENT'
RUNNING = 'ONGOING'
READY = ('PENDING', 'SUCCEEDED')
"""States in which Watcher takes a trigger."""


BLIND = 'give its role the policy audit:get, or set confirm = false'


class Watcher(Trigger):
    """Triggers an audit.

    :param clock: seconds that only grow
    """

    def __init__(
        self,
        name: str,
        options: Options,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(name, options)
        self._audit = str(options['audit'])
        self._clock = clock
        self._service = keystone.Service(options, watcher.find, 'Watcher')
        self._may_read = bool(options['confirm'])
        self._is_warned = False
        self._last = float('-inf')
        """When it was last triggered, by the clock."""
        self._first: float | None = None
        """The same of the first time since there were further incidents."""
        self._pause = 0.0
        self._before: str | None = None
        """When the audit had last changed, as it was triggered."""

    @classmethod
    def faults(cls, options: Options) -> list[str]:
        texts = keystone.faults(options)
        if not options['audit']:
            texts.append('audit: is not set; name an audit of type EVENT')
        return texts

    @property
    def delay(self) -> float:
        return float(self.options['trigger_delay'])

    def begin(self) -> None:
        self._first = None
        self._pause = self.options['repeat_seconds']

    def trigger(self) -> Result:
        try:
            client = self._service.client()
            if self._may_read:
                return self._confirmed(client)
            return self._repeated(client)
        except exceptions.ClientError as error:
            return self._judged(error)

    def check(self, host: str) -> str:
        try:
            client = self._service.client()
            if self._may_read:
                audit = client.audit(self._audit)
                if reason := self._unfit(audit):
                    return reason
        except exceptions.ClientError as error:
            return self._text_of(error)
        try:
            # There is none of that UUID, so that nothing is triggered.
            client.trigger(str(uuid.uuid4()))
        except exceptions.ClientError as error:
            return '' if _is_unknown(error) else self._text_of(error)
        return ''

    def close(self) -> None:
        self._service.close()

    def _confirmed(self, client: watcher.WatcherClient) -> Result:
        """Look whether the audit began, and trigger it if it did not."""
        try:
            audit = client.audit(self._audit)
        except exceptions.ClientError as error:
            if error.kwargs.get('status') != 403:
                raise
            return self._blind(client, error)
        state, changed = audit.get('state'), audit.get('updated_at')
        if self._first is not None and (
            state == RUNNING or changed != self._before
        ):
            self._first = None
            return Result(Outcome.DELIVERED)
        if state == RUNNING:
            text = f'audit {self._audit} runs, since before'
            return Result(Outcome.PENDING, text, LOOK_SECONDS)
        if reason := self._unfit(audit):
            return Result(Outcome.AWAY, reason)
        if self._remaining() <= 0:
            client.trigger(self._audit)
            self._before = changed
            self._note()
        text = f'audit {self._audit} was triggered and has not begun'
        return Result(Outcome.PENDING, text, LOOK_SECONDS)

    def _blind(
        self, client: watcher.WatcherClient, error: exceptions.ClientError
    ) -> Result:
        if not self._is_warned:
            LOG.warning(
                'Sink %s: the user may not read audit %s, so the agent '
                'triggers it repeatedly: %s',
                self.name,
                self._audit,
                self._service.result_of(error, BLIND).text,
            )
        self._is_warned = True
        return self._repeated(client)

    def _repeated(self, client: watcher.WatcherClient) -> Result:
        """Trigger it again and again, until one surely came after."""
        if self._remaining() <= 0:
            is_again = self._first is not None
            client.trigger(self._audit)
            self._note()
            self._pause *= 2 if is_again else 1
        if self._first is not None:
            last = self._first + self.options['repeat_for']
            if self._last + self._pause > last:
                self._first = None
                return Result(Outcome.DELIVERED)
        text = (
            f'audit {self._audit} was triggered; it is not known whether it '
            'began'
        )
        return Result(Outcome.PENDING, text, max(self._remaining(), 0.0))

    def _remaining(self) -> float:
        """Seconds until it may be triggered."""
        pause = LEAST_PAUSE if self._first is None else self._pause
        return self._last + pause - self._clock()

    def _note(self) -> None:
        self._last = self._clock()
        if self._first is None:
            self._first = self._last

    def _judged(self, error: exceptions.ClientError) -> Result:
        status, text = error.kwargs.get('status'), str(error)
        if status == 400 and f'state {RUNNING}' in text:
            if self._first is not None:
                # It was none when the trigger was taken, so it began after.
                self._first = None
                return Result(Outcome.DELIVERED)
            reason = f'audit {self._audit} runs, since before'
            return Result(Outcome.PENDING, reason, LOOK_SECONDS)
        return self._service.result_of(error, self._remedy(error))

    def _unfit(self, audit: rest.Json) -> str:
        """Why Watcher would refuse a trigger; '': it would not."""
        state = audit.get('state')
        if audit.get('audit_type') != EVENT:
            return (
                f'audit {self._audit} is of type {audit.get("audit_type")}; '
                'it must be of type EVENT'
            )
        if state in (*READY, RUNNING):
            return ''
        return (
            f'audit {self._audit} is {state} and accepts no trigger; delete '
            'it and create another one with that name'
        )

    def _text_of(self, error: exceptions.ClientError) -> str:
        """The error, and what is to be done about it."""
        return self._service.result_of(error, self._remedy(error)).text

    def _remedy(self, error: exceptions.ClientError) -> str:
        """What is to be done about an audit; '' as for any service."""
        status, text = error.kwargs.get('status'), str(error)
        if _is_unknown(error):
            return (
                f'there is no audit {self._audit}: '
                + ShellCommand.AUDIT_CREATE.of(audit=self._audit)
            )
        if status == 403:
            right = 'audit:get' if '/audits/' in text else 'webhook:trigger'
            return f'the role of its user needs the policy {right}'
        if status == 400 and 'Audit state' in text:
            return (
                f'delete audit {self._audit} and create another one with '
                'that name'
            )
        if status == 400 and 'Audit type' in text:
            return f'audit {self._audit} must be of type EVENT'
        if status == 406:
            return (
                f'upgrade Watcher: its API needs {watcher.WITH_WEBHOOKS} or '
                'later'
            )
        return ''


def _is_unknown(error: exceptions.ClientError) -> bool:
    """Whether Watcher itself says that it has no such audit."""
    status = error.kwargs.get('status')
    return status == 404 and 'could not be found' in str(error)
