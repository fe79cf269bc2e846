# SPDX-License-Identifier: Apache-2.0
"""The closing reason: the ``disabled_reason`` of a host of a run.

It is all that is stored of the run, so it holds run, step and time. A host is
opened only while its reason is the one that Kronos wrote, letter for letter.
"""

import datetime
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from kronos.engine.types import ComputeService

PREFIX = 'KRONOS-MAINTENANCE '
"""Not that of hosts at fault: those count against ``max_closed_hosts``."""
RUN = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}')
"""A name of a run: Nova takes 255 characters of a reason."""
_FORMAT = '%Y-%m-%dT%H:%M:%SZ'
_TEXT = re.compile(
    re.escape(PREFIX) + rf'(?P<run>{RUN.pattern}) (?P<step>[a-z-]+) since '
    r'(?P<since>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) '
    r'\(audit (?P<audit>[0-9a-f-]{36})\)'
    r'(?P<rest>: opened by Kronos when done|: not opened by Kronos)'
)


class Step(StrEnum):
    """How far a closed host has come."""

    EMPTYING = 'emptying'
    HANDED_OVER = 'handed-over'
    RETURNING = 'returning'


@dataclass(frozen=True)
class ClosingReason:
    """The reason of a host that a run has closed.

    :raises ValueError: the time or the name of the run cannot be written
    """

    run: str
    step: Step
    since: float
    """Unix seconds, whole: when the step began."""
    audit: str
    """Uuid of the audit that closed it."""
    reopens: bool = True
    """Whether Kronos opens it when it is done."""

    def __str__(self) -> str:
        if not RUN.fullmatch(self.run):
            raise ValueError(f'{self.run!r} is no name of a run')
        moment = datetime.datetime.fromtimestamp(self.since, datetime.UTC)
        end = 'opened by Kronos when done'
        if not self.reopens:
            end = 'not opened by Kronos'
        return (
            f'{PREFIX}{self.run} {self.step} since {moment:{_FORMAT}} '
            f'(audit {self.audit}): {end}'
        )

    def advanced(self, step: Step, now: float) -> Self:
        """The reason of a later step, which begins now."""
        return replace(self, step=step, since=float(int(now)))


def parsed(text: str) -> ClosingReason | None:
    """The reason that a text is, letter for letter; None: another one."""
    match = _TEXT.fullmatch(text)
    if match is None or match['step'] not in list(Step):
        return None
    try:
        moment = datetime.datetime.strptime(match['since'], _FORMAT)
    except ValueError:
        return None
    reason = ClosingReason(
        match['run'],
        Step(match['step']),
        moment.replace(tzinfo=datetime.UTC).timestamp(),
        match['audit'],
        match['rest'] == ': opened by Kronos when done',
    )
    return reason if str(reason) == text else None


def is_handed_over(service: ComputeService) -> bool:
    """Whether a run has emptied a host, and left it to its operator."""
    reason = parsed(service.disabled_reason)
    return (
        service.status == 'disabled'
        and reason is not None
        and reason.step is not Step.EMPTYING
    )
