# SPDX-License-Identifier: Apache-2.0
"""The restart of a server that failed: where, or why it is left alone.

First on its own host; after a second failure, or at once after an I/O error,
on another, and never again where it failed. After a third it is left alone.
Whatever is not known for certain leaves it alone, too.
"""

from dataclasses import dataclass

from kronos.common import durations
from kronos.common.shell_commands import ShellCommand
from kronos.engine.eligibility.instances import POWER_STATES
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, PastRestart
from kronos.extensions.recovery.options import RecoveryOptions

OPT_OUT = 'kronos:recover'
"""Metadata key: with the value ``false`` an owner wants no restart."""
IO_ERROR = 'io_error'
FRESH_SECONDS = 300.0
"""A failure that was last said before is none to act on."""
ALIVE_SECONDS = 300.0
"""A restart under way whose row did not change for so long is over: its
applier died."""
MOST = 2
"""So many restarts are tried within the window."""
BY_NOVA, BY_KRONOS, BY_USER = 'nova', 'kronos', 'user'
RUNNING, OFF = 'running', 'off'
VERIFY = 'VERIFY_RESIZE'
UNDER_WAY = ('PENDING', 'ONGOING')


@dataclass(frozen=True)
class RestartDecision:
    """How a server is started again."""

    attempt: int
    is_elsewhere: bool
    stopped: str = ''
    """As of :class:`.Restart`."""


def concerned(instance: Instance) -> bool:
    """Whether a server failed, or a restart of it was left half done.

    Or whether it may seem so, since somebody else resizes it.
    """
    seems_so = instance.status == VERIFY and bool(_acted(instance))
    return bool(instance.failure or seems_so or half_done(instance))


def half_done(instance: Instance) -> PastRestart | None:
    """The newest restart, if it stopped a server and did not start it."""
    acted = _acted(instance)
    if not acted or acted[-1].state == 'SUCCEEDED':
        return None
    is_ours = instance.stopped_by == BY_KRONOS
    return (
        acted[-1]
        if instance.status in ('SHUTOFF', VERIFY) and is_ours
        else None
    )


def are_wanted(settings: Settings) -> bool:
    """Whether servers that failed are started again."""
    return settings.options(RecoveryOptions).restart_servers


def _window(settings: Settings) -> float:
    return settings.options(RecoveryOptions).recovery_window_seconds


def avoided(
    instance: Instance, settings: Settings, now: float
) -> dict[str, str]:
    """The hosts where a server is not started again, with the reason.

    :param now: Unix seconds
    """
    since = now - _window(settings)
    reasons: dict[str, str] = {}
    for restart in _acted(instance):
        if restart.at >= since and restart.source:
            reasons[restart.source] = 'the server has failed there'
        if (
            restart.at >= since
            and restart.destination
            and restart.state == 'FAILED'
        ):
            reasons[restart.destination] = 'its restart has failed there'
    return reasons


def decide(
    instance: Instance, settings: Settings, now: float
) -> RestartDecision | Reason:
    """How a server that is concerned is started again, or why it is not.

    :param now: Unix seconds
    """
    return (
        _forbidden(instance)
        or _under_way(instance, now)
        or _not_stopped_by_failure(instance)
        or _old(instance, now)
        or _decided(instance, settings, now)
    )


def _forbidden(instance: Instance) -> Reason | None:
    if instance.unmovable:
        return Reason(instance.unmovable, Code.INSTANCE_UNMOVABLE)
    if instance.locked:
        return Reason('it is locked', Code.INSTANCE_LOCKED)
    if instance.metadata.get(OPT_OUT, '').strip().lower() == 'false':
        text = f'its metadata has {OPT_OUT}=false'
        return Reason(text, Code.INSTANCE_RECOVERY_OFF)
    if instance.task_state:
        text = f'Nova is busy with it (task state {instance.task_state})'
        return Reason(text, Code.INSTANCE_BUSY)
    return None


def _under_way(instance: Instance, now: float) -> Reason | None:
    for restart in instance.restarts:
        if restart.state in UNDER_WAY and now - restart.at < ALIVE_SECONDS:
            text = 'a restart of it is in a plan that is under way'
            return Reason(text, Code.INSTANCE_ON_ITS_WAY)
    return None


def _not_stopped_by_failure(instance: Instance) -> Reason | None:
    """Why a server is not off because it failed, as far as is known."""
    if half_done(instance):
        return None
    if instance.status == VERIFY:
        confirm = ShellCommand.RESIZE_CONFIRM.of(server=instance.uuid)
        text = (
            f'it is in VERIFY_RESIZE by somebody else: "{confirm}", or revert'
        )
        return Reason(text, Code.INSTANCE_NOT_ACTIVE)
    if instance.status == 'SHUTOFF':
        if instance.stopped_by == BY_NOVA:
            return None
        text = 'it is unknown who stopped it'
        if instance.stopped_by == BY_USER:
            text = 'a user stopped it'
        return Reason(text, Code.INSTANCE_STOPPED)
    if instance.status != 'ACTIVE':
        text = f'its status is {instance.status}, neither ACTIVE nor SHUTOFF'
        return Reason(text, Code.INSTANCE_NOT_ACTIVE)
    if instance.guest == RUNNING:
        text = f'it failed ({instance.failure}), and its guest runs'
        return Reason(text, Code.INSTANCE_RUNS)
    if instance.guest != OFF:
        state = POWER_STATES.get(instance.power_state, '?')
        text = f'it is unknown whether its guest runs (Nova says {state})'
        return Reason(text, Code.INSTANCE_GUEST_UNKNOWN)
    return None


def _old(instance: Instance, now: float) -> Reason | None:
    if half_done(instance):
        return None
    ended = max((restart.at for restart in _acted(instance)), default=0.0)
    if instance.failed_at <= ended:
        text = 'its failure was last reported before its restart ended'
        return Reason(text, Code.INSTANCE_FAILURE_OLD)
    if now - instance.failed_at > FRESH_SECONDS:
        age = durations.rounded(now - instance.failed_at)
        text = f'its failure was last reported {age} ago'
        return Reason(text, Code.INSTANCE_FAILURE_OLD)
    return None


def _decided(
    instance: Instance, settings: Settings, now: float
) -> RestartDecision | Reason:
    since = now - _window(settings)
    tried = sum(restart.at >= since for restart in _acted(instance))
    unfinished = half_done(instance)
    if unfinished is not None:
        # It goes on with what was begun, which counts as one.
        tried = max(tried - 1, 0)
        if sum(restart.at >= since for restart in _acted(instance)) <= MOST:
            return RestartDecision(
                tried + 1,
                _leaves(instance, unfinished),
                _left_by(instance),
            )
    elif tried < MOST:
        elsewhere = tried > 0 or instance.failure == IO_ERROR
        return RestartDecision(tried + 1, elsewhere)
    text = (
        f'it was restarted {MOST} times within '
        f'{durations.exact(_window(settings))} and failed '
        'again; it is left alone'
    )
    return Reason(text, Code.INSTANCE_RESTARTED)


def _leaves(instance: Instance, unfinished: PastRestart) -> bool:
    """Whether a server that a restart has left off goes to another host.

    It was to, or did not come up where it is.
    """
    if instance.status == VERIFY:
        return False
    was_to = unfinished.destination not in ('', instance.host)
    return was_to or unfinished.state == 'FAILED'


def _left_by(instance: Instance) -> str:
    """Id of the newest request of a restart that has left it as it is."""
    acted = reversed(_acted(instance))
    ids = (
        restart.migrate if instance.status == VERIFY else restart.stop
        for restart in acted
    )
    return next((restart for restart in ids if restart), '')


def _acted(instance: Instance) -> list[PastRestart]:
    return [restart for restart in instance.restarts if restart.acted]
