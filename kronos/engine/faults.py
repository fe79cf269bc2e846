# SPDX-License-Identifier: Apache-2.0
"""The faults: each way in which a move can end badly, and what follows.

One table. The action raises its rows and puts their codes into its message,
the history of moves reads them there, the explanation and the operators'
guide print them.
"""

from dataclasses import dataclass
from enum import StrEnum

from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand


class Whose(StrEnum):
    """At whom or what an operator should look."""

    SERVER = 'server'
    SOURCE = 'source'
    DESTINATION = 'destination'
    GROUP = 'group'
    SCOPE = 'scope'
    NOVA = 'Nova'
    PROMETHEUS = 'Prometheus'
    WATCHER = 'Watcher'
    KRONOS = 'Kronos'
    OPERATOR = 'operator'


class CooldownScope(StrEnum):
    """What has a cooldown after a fault."""

    NOBODY = 'nobody'
    """The action was SKIPPED or CANCELLED: nothing was tried."""
    SCOPE = 'scope'
    """A plan was tried, and Nova was not asked to move the server."""
    BOTH = 'scope, server'


class Fault(StrEnum):
    """The code of an ending, as it is in the message of an action."""

    INSTANCE_GONE = 'instance_gone'
    INSTANCE_ELSEWHERE = 'instance_elsewhere'
    OTHER_HALF = 'other_half'
    NO_TURN = 'no_turn'
    HOST_NOT_AT_FAULT = 'host_not_at_fault'
    HOST_NOT_CLOSED = 'host_not_closed'
    INSTANCE_RUNS = 'instance_runs'
    INSTANCE_WELL = 'instance_well'
    PLAN_REFUSED = 'plan_refused'

    INSTANCE_LOCKED = 'instance_locked'
    INSTANCE_PINNED = 'instance_pinned'
    INSTANCE_NOT_ACTIVE = 'instance_not_active'
    INSTANCE_BUSY = 'instance_busy'
    INSTANCE_ALLOCATIONS = 'instance_allocations'
    SOURCE_NOT_UP = 'source_not_up'
    DESTINATION_NOT_UP = 'destination_not_up'
    DESTINATION_DISABLED = 'destination_disabled'
    DESTINATION_EXCLUDED = 'destination_excluded'
    DESTINATION_FULL = 'destination_full'
    DESTINATION_CELL = 'destination_cell'
    DESTINATION_REFUSED = 'destination_refused'
    HOST_LEFT_SCOPE = 'host_left_scope'
    TOO_MANY_AT_FAULT = 'too_many_at_fault'
    INSTANCE_STOPPED = 'instance_stopped'
    INSTANCE_RECOVERY_OFF = 'instance_recovery_off'
    GUEST_UNKNOWN = 'guest_unknown'
    GROUP_RULE = 'group_rule'
    INSTANCE_TIED = 'instance_tied'
    ZONE_PINNED = 'zone_pinned'
    INSTANCE_REFUSED = 'instance_refused'
    NOVA_REJECTED = 'nova_rejected'
    BAD_PARAMETERS = 'bad_parameters'
    CONFLICT = 'conflict'
    CELL_CLOSED = 'cell_closed'
    CELL_REFUSED = 'cell_refused'
    FLAVOR_GONE = 'flavor_gone'
    QUOTA_EXCEEDED = 'quota_exceeded'

    MIGRATION_FAILED = 'migration_failed'
    MIGRATION_STALLED = 'migration_stalled'
    INCONSISTENT = 'inconsistent'
    SOURCE_FAILED = 'source_failed'
    DESTINATION_FAILED = 'destination_failed'
    INSTANCE_VANISHED = 'instance_vanished'
    RESTART_FAILED = 'restart_failed'
    RESTART_TOO_SLOW = 'restart_too_slow'
    TOO_SLOW = 'too_slow'
    QUEUED_TOO_LONG = 'queued_too_long'
    CELL_CHECK_FAILED = 'cell_check_failed'
    CELL_COPY_LEFT = 'cell_copy_left'
    CELL_STUCK = 'cell_stuck'
    CELL_NOT_CONFIRMED = 'cell_not_confirmed'
    CELL_NOT_REVERTED = 'cell_not_reverted'

    PLAN_CANCELLED = 'plan_cancelled'
    DESTINATION_CLOSED = 'destination_closed'
    ABORTED = 'aborted'
    TAKEN_OVER = 'taken_over'
    DROPPED = 'dropped'
    GIVEN_UP = 'given_up'

    NOVA_ERROR = 'nova_error'
    PLACEMENT_ERROR = 'placement_error'
    GLANCE_ERROR = 'glance_error'
    PROMETHEUS_ERROR = 'prometheus_error'
    WATCHER_ERROR = 'watcher_error'
    CONFIGURATION = 'configuration'
    UNKNOWN = 'unknown'


@dataclass(frozen=True)
class Consequence:
    """A row of the table."""

    error: str
    """Name of the exception's class; '' where none is known."""
    whose: Whose
    means: str
    remedy: str
    """What the operator does."""
    waits: bool = False
    """Before Nova is asked it is waited for, up to ``preflight_wait``."""
    retried: bool = False
    """The action tries again, up to ``max_retries`` times."""
    lasts: bool = False
    """Until an operator repairs it: each audit looks whether it is still so,
    and leaves the server alone for as long."""
    quarantines: bool = False
    """The server stays where it is for ``instance_quarantine_seconds``."""
    rests: CooldownScope = CooldownScope.BOTH


_STALE = exceptions.StaleTask.__name__
_PREFLIGHT = exceptions.PreFlightError.__name__
_FAILED = exceptions.MigrationFailed.__name__
_TIMEOUT = exceptions.MigrationTimeout.__name__
_CANCELLED = exceptions.MigrationCancelled.__name__

TABLE: dict[Fault, Consequence] = {
    Fault.INSTANCE_GONE: Consequence(
        _STALE,
        Whose.SERVER,
        'The server was deleted.',
        'Nothing.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_ELSEWHERE: Consequence(
        _STALE,
        Whose.OPERATOR,
        'The server has left its source, or is on its way to another host.',
        'Nothing: the next audit sees where it is.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.OTHER_HALF: Consequence(
        _STALE,
        Whose.KRONOS,
        'The other half of an exchange was not made, so this one would do '
        'harm.',
        'See how the other half ended.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.NO_TURN: Consequence(
        _STALE,
        Whose.SCOPE,
        'Others were moving all the time (queue_timeout).',
        'See what the message says it waited for.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.HOST_NOT_AT_FAULT: Consequence(
        _STALE,
        Whose.SOURCE,
        'host_fault_query does not name the host any more, so it was not '
        'closed.',
        'Nothing.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.HOST_NOT_CLOSED: Consequence(
        _STALE,
        Whose.SOURCE,
        'The source was to be closed before the server left it, and is open.',
        'See how the action of the plan ended that was to close it; the next '
        'audit looks again.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_RUNS: Consequence(
        _STALE,
        Whose.SERVER,
        'The guest of the server runs again, so it was not restarted.',
        'Nothing.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_WELL: Consequence(
        _STALE,
        Whose.SERVER,
        'server_fault_query does not name the server any more, so it was not '
        'restarted.',
        'Nothing.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.PLAN_REFUSED: Consequence(
        _STALE,
        Whose.NOVA,
        'Nova refused two servers of the plan for what holds for all of '
        'them, and had taken none.',
        f'{ShellCommand.TEST_CELLS} says what has to be set.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_LOCKED: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The server was locked after it was planned.',
        'Unlock it, if it is to move.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_PINNED: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The server got kronos:pin after it was planned.',
        'Nothing: its owner wants it to stay.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_NOT_ACTIVE: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'The server is not ACTIVE any more.',
        'Nothing: it moves when it is ACTIVE again.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_BUSY: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'The server has a task, such as a snapshot or a resize.',
        f'If the task never ends: {ShellCommand.SERVER_SET_ACTIVE.general}.',
        waits=True,
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_ALLOCATIONS: Consequence(
        _PREFLIGHT,
        Whose.NOVA,
        'Placement holds the server elsewhere than on its source.',
        f'{ShellCommand.HEAL_ALLOCATIONS.general}; the server rests until '
        'then.',
        lasts=True,
    ),
    Fault.SOURCE_NOT_UP: Consequence(
        _PREFLIGHT,
        Whose.SOURCE,
        'The nova-compute of the source is down, or not known.',
        'Start it.',
        waits=True,
        retried=True,
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_NOT_UP: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The nova-compute of the destination is down, or not known.',
        'Start it.',
        waits=True,
        retried=True,
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_DISABLED: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The destination was disabled, or forced down, after the server was '
        'planned.',
        'Nothing: the next audit chooses another.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_EXCLUDED: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'exclude_hosts_query gives a value other than 0 for the destination.',
        'See what the query returns for it; the next audit chooses another.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_FULL: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The room on the destination was taken meanwhile, or Placement does '
        'not show it.',
        'Nothing: the next audit chooses another.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_CELL: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The destination is in another cell of Nova, or mapped to none.',
        'Set kronos:cell on the aggregates, so that the cells of hosts are '
        'known.',
    ),
    Fault.DESTINATION_REFUSED: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        "Nova's scheduler or a host refused, before anything moved.",
        "Read Nova's words in the message; pin the server if it always is so.",
    ),
    Fault.HOST_LEFT_SCOPE: Consequence(
        _PREFLIGHT,
        Whose.SCOPE,
        'The source or the destination was taken out of the aggregate.',
        'Nothing.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.TOO_MANY_AT_FAULT: Consequence(
        _PREFLIGHT,
        Whose.SCOPE,
        'More hosts of the aggregate are at fault, or were closed by Kronos, '
        'than max_closed_hosts, so the host was not closed.',
        'See what the hosts share: the storage, the network.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_STOPPED: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'Somebody stopped the server, or it is unknown who did.',
        'Start it, if it is to run.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_RECOVERY_OFF: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The server got kronos:recover=false after its restart was planned.',
        'Nothing: its owner wants no restart.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.GUEST_UNKNOWN: Consequence(
        _PREFLIGHT,
        Whose.SOURCE,
        'It is unknown whether the guest of the server runs, so it was not '
        'restarted.',
        'See whether its nova-compute is up.',
        waits=True,
        rests=CooldownScope.NOBODY,
    ),
    Fault.GROUP_RULE: Consequence(
        _PREFLIGHT,
        Whose.GROUP,
        'A member of its server group came to, or left, the destination.',
        'Nothing: the next audit chooses another.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_TIED: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'The server is tied to its cell by a disk, a device or an extra spec, '
        'or by a snapshot that would take too long.',
        f'Read the reason in the message; {ShellCommand.EXPLAIN} tells what '
        'would let the server go.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.ZONE_PINNED: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'The server is pinned to another availability zone than that of the '
        'destination.',
        'Unpin it, or let the audit do so (unpin_az).',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_REFUSED: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'Nova moves no such server, whatever its destination: it has a vTPM, '
        'encrypted memory, an accelerator, or a port that an old nova-compute '
        'cannot move.',
        "Read Nova's words in the message; upgrade the computes if they say "
        'so, or pin the server.',
        quarantines=True,
    ),
    Fault.NOVA_REJECTED: Consequence(
        _PREFLIGHT,
        Whose.NOVA,
        'Nova rejected the request at once.',
        "Read Nova's words in the message.",
    ),
    Fault.BAD_PARAMETERS: Consequence(
        _PREFLIGHT,
        Whose.KRONOS,
        'The parameters of the action make no sense.',
        'Somebody has edited them: make a new plan.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.CONFLICT: Consequence(
        exceptions.MigrationConflict.__name__,
        Whose.DESTINATION,
        'Nova calls the migration "conflict": its scheduler refused the '
        'destination.',
        "Read Nova's words in the message.",
    ),
    Fault.CELL_CLOSED: Consequence(
        _PREFLIGHT,
        Whose.NOVA,
        'Nova lets no server leave its cell, or the cells of hosts are set '
        'wrong.',
        'Open the policy compute:servers:resize:cross_cell; '
        f'{ShellCommand.TEST_CELLS} says what has to be set.',
    ),
    Fault.CELL_REFUSED: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'Nova refused this server as if the destination did not exist: a port '
        'of it has a resource request, or Nova lets no server leave its cell.',
        'Detach the port, or take the QoS policy off it; if other servers are '
        f'refused as well, run {ShellCommand.TEST_CELLS}.',
    ),
    Fault.FLAVOR_GONE: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The new flavor was deleted or changed after the server was planned, '
        'or the server has another flavor by now.',
        'Correct flavor_map; the next audit looks again.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.QUOTA_EXCEEDED: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The quota of the project does not suffice for the new flavor.',
        'Raise it, or map the flavor to a smaller one.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.MIGRATION_FAILED: Consequence(
        _FAILED,
        Whose.SERVER,
        'Nova gave the migration up on the way.',
        'Read the logs of nova-compute at both ends.',
        quarantines=True,
    ),
    Fault.MIGRATION_STALLED: Consequence(
        _FAILED,
        Whose.SERVER,
        'The migration made no progress (stall_timeout), or its passes were '
        'in vain (stall_passes), and was aborted.',
        'See what the server does to its memory; set at_stall, or pin it.',
        quarantines=True,
    ),
    Fault.INCONSISTENT: Consequence(
        _FAILED,
        Whose.SERVER,
        'Nova says one thing of the migration and another of the server.',
        'Look at both hypervisors before you do anything to that server.',
        quarantines=True,
    ),
    Fault.SOURCE_FAILED: Consequence(
        _FAILED,
        Whose.SOURCE,
        'The migration failed while the nova-compute of the source was away '
        'or started again.',
        'Repair that host.',
    ),
    Fault.DESTINATION_FAILED: Consequence(
        _FAILED,
        Whose.DESTINATION,
        'The migration failed while the nova-compute of the destination was '
        'away.',
        'Repair that host.',
    ),
    Fault.INSTANCE_VANISHED: Consequence(
        _FAILED,
        Whose.SERVER,
        'The server was deleted while it moved.',
        'Nothing.',
    ),
    Fault.RESTART_FAILED: Consequence(
        _FAILED,
        Whose.SERVER,
        'Nova refused to stop, migrate, confirm or start it, or gave it up.',
        "Read Nova's words in the message, and look where the server is.",
        rests=CooldownScope.NOBODY,
    ),
    Fault.RESTART_TOO_SLOW: Consequence(
        _TIMEOUT,
        Whose.SERVER,
        'A step of a restart took longer than restart_timeout.',
        'Look at the server; the next audit goes on with what is left half '
        'done.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.TOO_SLOW: Consequence(
        _TIMEOUT,
        Whose.SERVER,
        'The migration was under way for migration_timeout and was aborted.',
        'Raise migration_timeout or migration_timeout_per_gib, or pin it.',
        quarantines=True,
    ),
    Fault.QUEUED_TOO_LONG: Consequence(
        _TIMEOUT,
        Whose.SOURCE,
        'Nova had the request for queue_timeout, and sent nothing yet.',
        'Check nova-conductor, and nova-compute of that host and its queue.',
    ),
    Fault.CELL_CHECK_FAILED: Consequence(
        _FAILED,
        Whose.SERVER,
        'The server was not in its new cell what it had been, so it was '
        'taken back, unless somebody had confirmed the move.',
        'See which checks failed: in the message, and in report_dir.',
        quarantines=True,
    ),
    Fault.CELL_COPY_LEFT: Consequence(
        _FAILED,
        Whose.SERVER,
        'A hidden copy of the server is left in the database of a cell, so '
        'Nova takes it there no more.',
        'Delete the copy: the commands are in report_dir.',
        quarantines=True,
    ),
    Fault.CELL_STUCK: Consequence(
        _TIMEOUT,
        Whose.SERVER,
        'The move was not over after cell_move_timeout, and Nova cannot '
        'abort it; perhaps a nova-conductor died.',
        'Wait, or repair it with the commands in report_dir.',
        quarantines=True,
    ),
    Fault.CELL_NOT_CONFIRMED: Consequence(
        _TIMEOUT,
        Whose.SOURCE,
        'All checks passed, but Nova could not confirm the move within '
        'confirm_timeout: the source, or its cell, is down.',
        f'Bring it back, then {ShellCommand.RESIZE_CONFIRM.general}.',
    ),
    Fault.CELL_NOT_REVERTED: Consequence(
        _TIMEOUT,
        Whose.SERVER,
        'The server could not be taken back within revert_timeout, or was '
        'confirmed by somebody else.',
        f'Bring its hosts back, then {ShellCommand.RESIZE_REVERT.general}.',
        quarantines=True,
    ),
    Fault.PLAN_CANCELLED: Consequence(
        _CANCELLED,
        Whose.OPERATOR,
        'The plan was cancelled.',
        'Nothing.',
    ),
    Fault.DESTINATION_CLOSED: Consequence(
        _CANCELLED,
        Whose.DESTINATION,
        'The destination went down or was disabled on the way, so Kronos '
        'aborted the migration.',
        'Nothing: the server runs on its source.',
    ),
    Fault.ABORTED: Consequence(
        _CANCELLED,
        Whose.OPERATOR,
        'Somebody else aborted the migration in Nova.',
        'Nothing.',
    ),
    Fault.TAKEN_OVER: Consequence(
        _CANCELLED,
        Whose.OPERATOR,
        'Somebody else moves the server to another host.',
        'Nothing.',
    ),
    Fault.DROPPED: Consequence(
        _CANCELLED,
        Whose.SOURCE,
        'A nova-compute was stopped or restarted before the migration ran.',
        'Nothing, or start it.',
        retried=True,
    ),
    Fault.GIVEN_UP: Consequence(
        _CANCELLED,
        Whose.WATCHER,
        'Watcher took the applier for dead and gave the plan up.',
        'See why the applier did not answer.',
    ),
    Fault.NOVA_ERROR: Consequence(
        exceptions.NovaClientError.__name__,
        Whose.NOVA,
        'Nova could not be asked, or answered nonsense.',
        f'Repair its API; {ShellCommand.TEST_CONFIG} says what is wrong.',
        retried=True,
    ),
    Fault.PLACEMENT_ERROR: Consequence(
        exceptions.PlacementClientError.__name__,
        Whose.NOVA,
        'Placement could not be asked, or answered nonsense.',
        f'Repair its API; {ShellCommand.TEST_CONFIG} says what is wrong.',
        retried=True,
    ),
    Fault.GLANCE_ERROR: Consequence(
        exceptions.GlanceClientError.__name__,
        Whose.NOVA,
        'Glance could not be asked, or answered nonsense.',
        'Repair its API, or its endpoint in the Keystone catalog.',
        retried=True,
    ),
    Fault.PROMETHEUS_ERROR: Consequence(
        exceptions.PrometheusError.__name__,
        Whose.PROMETHEUS,
        'exclude_hosts_query, or a query of a recovery, gave no answer that '
        'can be used, so nobody knows what is at fault.',
        'Repair Prometheus, or the query; '
        f'{ShellCommand.TEST_CONFIG} says what is wrong.',
        retried=True,
        rests=CooldownScope.SCOPE,
    ),
    Fault.WATCHER_ERROR: Consequence(
        exceptions.TurnUnknown.__name__,
        Whose.WATCHER,
        "Watcher's database could not be asked.",
        f'Repair the database; {ShellCommand.STATUS_OF_WATCHER} says whether '
        'it answers.',
        retried=True,
    ),
    Fault.CONFIGURATION: Consequence(
        exceptions.ConfigurationError.__name__,
        Whose.OPERATOR,
        'An option of [kronos] is not valid.',
        'Correct the option that the message names.',
    ),
    Fault.UNKNOWN: Consequence(
        '',
        Whose.KRONOS,
        'Something that Kronos did not foresee.',
        "Report it, with the applier's log; the server rests as a precaution.",
        quarantines=True,
    ),
}
"""By code; the codes are those of messages in databases, so they stay."""

_OF_OLD = {
    _PREFLIGHT: Fault.DESTINATION_REFUSED,
    _FAILED: Fault.MIGRATION_FAILED,
    _TIMEOUT: Fault.TOO_SLOW,
    _CANCELLED: Fault.PLAN_CANCELLED,
}


def of(code: str, error_type: str) -> Fault:
    """The fault in the message of an action.

    :param code: '' in the message of an older version
    :param error_type: name of the exception's class
    """
    if code in TABLE:
        return Fault(code)
    if error_type in _OF_OLD:
        return _OF_OLD[error_type]
    same = (fault for fault in TABLE if TABLE[fault].error == error_type != '')
    return next(same, Fault.UNKNOWN)


def of_error(error: Exception) -> Fault:
    """The fault of an exception, as it was raised."""
    fields = (
        error.kwargs if isinstance(error, exceptions.KronosException) else {}
    )
    return of(str(fields.get('fault', '')), type(error).__name__)


def error(
    fault: Fault, reason: str, **more: object
) -> exceptions.MigrationError:
    """The exception of a fault, to be raised.

    :param reason: the text
    :param more: further fields of the exception
    """
    row = TABLE[fault]
    kind = getattr(exceptions, row.error)
    exception: exceptions.MigrationError = kind(
        reason, **{'fault': fault, 'transient': row.retried, **more}
    )
    return exception
