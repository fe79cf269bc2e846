# SPDX-License-Identifier: Apache-2.0
"""The window of a move: whether it would end before its scope closes.

Windows are read anew from the options and the aggregate, for a plan may start
long after its audit, and a freeze may have come since. Its plan says how long
the move is expected to take; one whose plan does not say has no window.
"""

from collections.abc import Sequence

from kronos.actions.core.context import MoveContext
from kronos.actions.core.parameters import MoveSettings
from kronos.clients.nova.rows import HostAggregate
from kronos.common import durations, exceptions
from kronos.engine import faults, types
from kronos.engine.eligibility import consent
from kronos.engine.eligibility.consent import Consent
from kronos.engine.faults import Fault
from kronos.engine.reasons import Reason
from kronos.engine.settings import Settings
from kronos.snapshots import scope_windows
from kronos.windows.calendar import Calendar
from kronos.windows.errors import WindowError


class WindowGuard:
    """The window of the scope of one move."""

    def __init__(self, settings: MoveSettings, context: MoveContext) -> None:
        self._scope = settings.task.aggregate
        self._settings = settings
        self._context = context
        self._aggregates: Sequence[HostAggregate] | None = None
        self.closes_at: float | None = None
        """Unix seconds, as of the last check; None: not known, or never."""

    def check(self, is_fresh: bool = False) -> None:
        """Look whether the move would end in time if it started now.

        :param is_fresh: whether the aggregates are read again
        :raises StaleTask: it would not, or nobody knows
        :raises NovaClientError: Nova cannot be asked
        """
        seconds = self._settings.window_seconds
        if seconds is None:
            return
        calendar = self._calendar(is_fresh)
        now = self._context.wall()
        state = calendar.state(now)
        until = state.until
        if not state.is_open:
            text = 'is closed'
            if until is not None:
                text = f'is closed, and opens at {calendar.shown(until)}'
            raise self._closed(text)
        if until is not None and now + seconds > until:
            raise self._closed(
                f'closes at {calendar.shown(until)}, and the move is '
                f'expected to take {durations.rounded(seconds)}'
            )
        self.closes_at = until

    def why_abort(self) -> exceptions.MigrationError | None:
        """Why a running move has to be aborted now; None if it may go on."""
        end = self.closes_at
        if not self._settings.aborts_at_end or end is None:
            return None
        if self._context.wall() < end:
            return None
        return faults.error(
            Fault.WINDOW_ENDED,
            f'aborted: the window of {self._scope} has closed (window_end is '
            'abort)',
        )

    def refusal(
        self, instance: types.Instance, settings: Settings
    ) -> Reason | None:
        """Why an owner that agrees to moves inside a window refuses now.

        :raises StaleTask: nobody knows whether the window is open
        :raises NovaClientError: Nova cannot be asked
        """
        wish = consent.strictest(instance, settings)
        if wish is None or wish.consent is not Consent.WINDOW:
            return None
        now = self._context.wall()
        return None if self._calendar().is_open(now) else consent.reason(wish)

    def _calendar(self, is_fresh: bool = False) -> Calendar:
        if is_fresh or self._aggregates is None:
            self._aggregates = self._context.nova.list_aggregates()
        try:
            return scope_windows.calendar_of(
                self._scope, self._aggregates, self._settings
            )
        except WindowError as error:
            raise self._closed(f'cannot be used: {error}') from error

    def _closed(self, text: str) -> exceptions.MigrationError:
        return faults.error(
            Fault.WINDOW_CLOSED, f'window of {self._scope} {text}'
        )
