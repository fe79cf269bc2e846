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
    HOST_TAKEN_OVER = 'host_taken_over'
    HOST_OCCUPIED = 'host_occupied'
    HOST_NOT_DONE = 'host_not_done'
    TOO_MANY_UNAVAILABLE = 'too_many_unavailable'
    INSTANCE_RUNS = 'instance_runs'
    INSTANCE_WELL = 'instance_well'
    PLAN_REFUSED = 'plan_refused'
    WINDOW_CLOSED = 'window_closed'
    DISRUPTION_BUDGET = 'disruption_budget'

    INSTANCE_LOCKED = 'instance_locked'
    INSTANCE_PINNED = 'instance_pinned'
    INSTANCE_CONSENT = 'instance_consent'
    INSTANCE_NOT_ACTIVE = 'instance_not_active'
    INSTANCE_BUSY = 'instance_busy'
    INSTANCE_ALLOCATIONS = 'instance_allocations'
    SOURCE_NOT_UP = 'source_not_up'
    DESTINATION_NOT_UP = 'destination_not_up'
    DESTINATION_DISABLED = 'destination_disabled'
    DESTINATION_EXCLUDED = 'destination_excluded'
    DESTINATION_FULL = 'destination_full'
    DESTINATION_CELL = 'destination_cell'
    HYPERVISOR_OLDER = 'hypervisor_older'
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
    WINDOW_ENDED = 'window_ended'
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
        'The server has left its source, or is moving to another host.',
        'Nothing: the next audit reads its new host.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.OTHER_HALF: Consequence(
        _STALE,
        Whose.KRONOS,
        'The move belongs to an exchange, and the other move of the exchange '
        'was not made, so this one would do harm.',
        'See how the other move ended.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.NO_TURN: Consequence(
        _STALE,
        Whose.SCOPE,
        'Other migrations occupied its hosts or its scope for queue_timeout, '
        'so the move was skipped.',
        'See in the message which migrations it waited for.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.HOST_NOT_AT_FAULT: Consequence(
        _STALE,
        Whose.SOURCE,
        'host_fault_query no longer returns the host, so it was not closed.',
        'Nothing.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.HOST_NOT_CLOSED: Consequence(
        _STALE,
        Whose.SOURCE,
        'The plan closes the source before the server leaves it, but the '
        'source is open.',
        'See how its closing action ended; the next audit tries again.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.HOST_TAKEN_OVER: Consequence(
        _STALE,
        Whose.OPERATOR,
        'Somebody else has enabled the host, or has changed the reason with '
        'which a maintenance run disabled it, so the run leaves it alone.',
        'Nothing, if that was intended. To have the run close the host, '
        'enable it first.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.HOST_OCCUPIED: Consequence(
        _STALE,
        Whose.SOURCE,
        'The host still has allocations in Placement, so it was not handed '
        'over.',
        'Look at the consumers in the message; the next audit tries again.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.HOST_NOT_DONE: Consequence(
        _STALE,
        Whose.SOURCE,
        'The queries of a maintenance run do not return the host any more, '
        'or its nova-compute is down, so it was not opened.',
        'See whether the host is done; the next audit tries again.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.TOO_MANY_UNAVAILABLE: Consequence(
        _STALE,
        Whose.SCOPE,
        'As many hosts of the scope as at_once allows are already '
        'unavailable, so a maintenance run did not close another one.',
        'Look at the hosts in the message; the next audit tries again.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_RUNS: Consequence(
        _STALE,
        Whose.SERVER,
        'The guest of the server runs again, so Kronos did not restart it.',
        'Nothing.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_WELL: Consequence(
        _STALE,
        Whose.SERVER,
        'server_fault_query no longer returns it, so it was not restarted.',
        'Nothing.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.PLAN_REFUSED: Consequence(
        _STALE,
        Whose.NOVA,
        'Nova refused two servers of the plan for a reason that applies to '
        'all of them, and accepted none.',
        f'Run {ShellCommand.TEST_CELLS} to see what to set.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.WINDOW_CLOSED: Consequence(
        _STALE,
        Whose.SCOPE,
        'The window of the scope was closed, or would have closed before the '
        'end of the move, so the move was skipped.',
        'Nothing: an audit inside the window plans it again. If the message '
        'has an error, correct the option or metadata that it names.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.DISRUPTION_BUDGET: Consequence(
        _STALE,
        Whose.OPERATOR,
        'The moves that started since the audit have used up a budget that '
        'counts this move, so the move was skipped.',
        'Nothing: a later audit plans it again when the budget is free.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_LOCKED: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The server was locked after it was planned.',
        'Unlock it if you want it to move.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_PINNED: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'kronos:pin was set on the server after it was planned.',
        'Nothing: its owner wants it to stay.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_CONSENT: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The owner of the server withdrew consent after it was planned.',
        'Nothing: the next plan leaves the server out.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_NOT_ACTIVE: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'The server is no longer ACTIVE.',
        'Nothing: it moves when it is ACTIVE again.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_BUSY: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'The server has a task, such as a snapshot or a resize.',
        'If the task never ends, make sure that its guest runs only on the '
        'host that Nova shows, then: '
        f'{ShellCommand.SERVER_SET_ACTIVE.general}.',
        waits=True,
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_ALLOCATIONS: Consequence(
        _PREFLIGHT,
        Whose.NOVA,
        'Placement has an allocation for it on a host other than its source.',
        f'{ShellCommand.HEAL_ALLOCATIONS.general}; it stays until then.',
        lasts=True,
    ),
    Fault.SOURCE_NOT_UP: Consequence(
        _PREFLIGHT,
        Whose.SOURCE,
        'The nova-compute of the source is down, or Nova does not list it.',
        'Start it.',
        waits=True,
        retried=True,
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_NOT_UP: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The nova-compute of the destination is down, or not listed by Nova.',
        'Start it.',
        waits=True,
        retried=True,
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_DISABLED: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The destination was disabled, or forced down, after planning.',
        'Nothing: the next audit chooses another.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_EXCLUDED: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'exclude_hosts_query is not 0 for the destination.',
        'See what the query returns; the next audit chooses another host.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_FULL: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The destination is full by now, or Placement lacks its inventory.',
        'Nothing: the next audit chooses another.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_CELL: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The destination is in another cell of Nova, or mapped to no cell.',
        'Set kronos:cell on the aggregates, so that cells are known.',
    ),
    Fault.HYPERVISOR_OLDER: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        'The hypervisor of the source was upgraded after the server was '
        'planned, and that of the destination is older, so Nova would refuse '
        'the live migration.',
        'Nothing: the next audit chooses another host, or upgrade the '
        'destination.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.DESTINATION_REFUSED: Consequence(
        _PREFLIGHT,
        Whose.DESTINATION,
        "Nova's scheduler or a host refused, before anything moved.",
        "Read Nova's error in the message; pin the server if it recurs.",
    ),
    Fault.HOST_LEFT_SCOPE: Consequence(
        _PREFLIGHT,
        Whose.SCOPE,
        'The source or the destination was removed from the aggregate.',
        'Nothing.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.TOO_MANY_AT_FAULT: Consequence(
        _PREFLIGHT,
        Whose.SCOPE,
        'More hosts of the aggregate than max_closed_hosts are at fault or '
        'closed by Kronos, so Kronos did not close this one.',
        'Check what the hosts share, such as storage or network.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_STOPPED: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'A user stopped the server, or Kronos cannot see who did.',
        'Start it if it should run.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.INSTANCE_RECOVERY_OFF: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The metadata kronos:recover=false was set on the server after its '
        'restart was planned.',
        'Nothing: its owner wants no restart.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.GUEST_UNKNOWN: Consequence(
        _PREFLIGHT,
        Whose.SOURCE,
        'Kronos cannot see whether the guest of the server runs, so it did '
        'not restart it.',
        'Check that the nova-compute service of its host is up.',
        waits=True,
        rests=CooldownScope.NOBODY,
    ),
    Fault.GROUP_RULE: Consequence(
        _PREFLIGHT,
        Whose.GROUP,
        'A member of its server group moved to, or left, the destination.',
        'Nothing: the next audit chooses another.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_TIED: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'The server is tied to its cell by a disk, a device or an extra spec, '
        'or by a snapshot that would take too long.',
        f'Read the reason in the message; {ShellCommand.EXPLAIN} shows what '
        'would let the server move.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.ZONE_PINNED: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        "The server is pinned to a zone other than the destination's.",
        'Unpin it, or let the audit do so (unpin_az).',
        rests=CooldownScope.SCOPE,
    ),
    Fault.INSTANCE_REFUSED: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'Nova cannot live-migrate this server to any destination: it has a '
        'vTPM, encrypted memory, an accelerator, or a port that an old '
        'nova-compute cannot move.',
        "Read Nova's error in the message; upgrade the compute nodes if it "
        'mentions an old one, or pin the server.',
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
        'The parameters of the action are not valid.',
        'They were edited in Watcher: create a new plan.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.CONFLICT: Consequence(
        exceptions.MigrationConflict.__name__,
        Whose.DESTINATION,
        'Nova reports the migration status "conflict": its scheduler refused '
        'the destination.',
        "Read Nova's words in the message.",
    ),
    Fault.CELL_CLOSED: Consequence(
        _PREFLIGHT,
        Whose.NOVA,
        'Nova does not allow servers to leave their cell, or the cells of '
        'hosts are set incorrectly.',
        'Allow the policy compute:servers:resize:cross_cell; run '
        f'{ShellCommand.TEST_CELLS} to see what to set.',
    ),
    Fault.CELL_REFUSED: Consequence(
        _PREFLIGHT,
        Whose.SERVER,
        'Nova refused this server as if the destination did not exist: one of '
        'its ports has a resource request, or Nova does not allow servers to '
        'leave their cell.',
        'Detach the port, or remove its QoS policy; if other servers are '
        f'refused as well, run {ShellCommand.TEST_CELLS}.',
    ),
    Fault.FLAVOR_GONE: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The new flavor was deleted or changed after the server was planned, '
        'or the server now has another flavor.',
        'Correct flavor_map; the next audit reads it again.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.QUOTA_EXCEEDED: Consequence(
        _PREFLIGHT,
        Whose.OPERATOR,
        'The quota of the project is too small for the new flavor.',
        'Raise it, or map the flavor to a smaller one.',
        rests=CooldownScope.SCOPE,
    ),
    Fault.MIGRATION_FAILED: Consequence(
        _FAILED,
        Whose.SERVER,
        'The migration failed in Nova while it was running.',
        'Read the logs of nova-compute on both hosts.',
        quarantines=True,
    ),
    Fault.MIGRATION_STALLED: Consequence(
        _FAILED,
        Whose.SERVER,
        'Kronos aborted the migration: it made no progress (stall_timeout), '
        'or its passes over the memory left no less to send (stall_passes).',
        'Check its rate of memory writes; set at_stall, or pin the server.',
        quarantines=True,
    ),
    Fault.INCONSISTENT: Consequence(
        _FAILED,
        Whose.SERVER,
        "Nova's records of migration and server contradict each other.",
        'Check both hypervisors before you do anything to that server.',
        quarantines=True,
    ),
    Fault.SOURCE_FAILED: Consequence(
        _FAILED,
        Whose.SOURCE,
        'The migration failed while the nova-compute of the source was down '
        'or restarting.',
        'Repair that host.',
    ),
    Fault.DESTINATION_FAILED: Consequence(
        _FAILED,
        Whose.DESTINATION,
        'The migration failed while nova-compute on the destination was down.',
        'Repair that host.',
    ),
    Fault.INSTANCE_VANISHED: Consequence(
        _FAILED,
        Whose.SERVER,
        'The server was deleted during its migration.',
        'Nothing.',
    ),
    Fault.RESTART_FAILED: Consequence(
        _FAILED,
        Whose.SERVER,
        'Nova refused to stop, migrate, confirm or start the server, or '
        'failed to do so.',
        "Read Nova's error in the message, and check where the server is.",
        rests=CooldownScope.NOBODY,
    ),
    Fault.RESTART_TOO_SLOW: Consequence(
        _TIMEOUT,
        Whose.SERVER,
        'A step of a restart took longer than restart_timeout.',
        'Check the server; the next audit continues an unfinished restart.',
        rests=CooldownScope.NOBODY,
    ),
    Fault.TOO_SLOW: Consequence(
        _TIMEOUT,
        Whose.SERVER,
        'The migration ran for migration_timeout, and Kronos aborted it.',
        'Raise migration_timeout or migration_timeout_per_gib, or pin it.',
        quarantines=True,
    ),
    Fault.QUEUED_TOO_LONG: Consequence(
        _TIMEOUT,
        Whose.SOURCE,
        'Nova did not start the migration within queue_timeout.',
        'Check nova-conductor, and nova-compute on that host and its queue.',
    ),
    Fault.CELL_CHECK_FAILED: Consequence(
        _FAILED,
        Whose.SERVER,
        'The server failed a check in its new cell, so Kronos moved it back, '
        'unless the move was already confirmed.',
        'Read in the message, or in report_dir, which checks failed.',
        quarantines=True,
    ),
    Fault.CELL_COPY_LEFT: Consequence(
        _FAILED,
        Whose.SERVER,
        'A hidden copy of the server is left in the database of a cell, so '
        'Nova no longer accepts the server in that cell.',
        'Delete the copy: the commands are in report_dir.',
        quarantines=True,
    ),
    Fault.CELL_STUCK: Consequence(
        _TIMEOUT,
        Whose.SERVER,
        'The move did not end within cell_move_timeout, and Nova cannot abort '
        'it; a nova-conductor may have died.',
        'Wait, or repair the server with the commands in report_dir.',
        quarantines=True,
    ),
    Fault.CELL_NOT_CONFIRMED: Consequence(
        _TIMEOUT,
        Whose.SOURCE,
        'All checks passed, but Nova could not confirm the move within '
        'confirm_timeout: the source, or its cell, is down.',
        f'Start it again, then {ShellCommand.RESIZE_CONFIRM.general}.',
    ),
    Fault.CELL_NOT_REVERTED: Consequence(
        _TIMEOUT,
        Whose.SERVER,
        'The server could not be moved back within revert_timeout, or another '
        'user confirmed the move.',
        f'Start its hosts again, then {ShellCommand.RESIZE_REVERT.general}.',
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
        'The destination went down or was disabled during the migration, so '
        'Kronos aborted it.',
        'Nothing: the server runs on its source.',
    ),
    Fault.WINDOW_ENDED: Consequence(
        _CANCELLED,
        Whose.SCOPE,
        'The window of the scope closed during the migration, so Kronos '
        'aborted it (window_end).',
        'Nothing: the server runs on its source.',
    ),
    Fault.ABORTED: Consequence(
        _CANCELLED,
        Whose.OPERATOR,
        'Another user or service aborted the migration in Nova.',
        'Nothing.',
    ),
    Fault.TAKEN_OVER: Consequence(
        _CANCELLED,
        Whose.OPERATOR,
        'Another user or service is moving the server to another host.',
        'Nothing.',
    ),
    Fault.DROPPED: Consequence(
        _CANCELLED,
        Whose.SOURCE,
        'A nova-compute was stopped or restarted before the migration ran.',
        'Start the service if it is still down.',
        retried=True,
    ),
    Fault.GIVEN_UP: Consequence(
        _CANCELLED,
        Whose.WATCHER,
        'Watcher considered the applier dead and cancelled the plan.',
        'Check why the applier did not answer.',
    ),
    Fault.NOVA_ERROR: Consequence(
        exceptions.NovaClientError.__name__,
        Whose.NOVA,
        'Nova could not be reached, or its answer could not be used.',
        f'Repair its API; {ShellCommand.TEST_CONFIG} shows what is wrong.',
        retried=True,
    ),
    Fault.PLACEMENT_ERROR: Consequence(
        exceptions.PlacementClientError.__name__,
        Whose.NOVA,
        'Placement could not be reached, or its answer could not be used.',
        f'Repair its API; {ShellCommand.TEST_CONFIG} shows what is wrong.',
        retried=True,
    ),
    Fault.GLANCE_ERROR: Consequence(
        exceptions.GlanceClientError.__name__,
        Whose.NOVA,
        'Glance could not be reached, or its answer could not be used.',
        'Repair its API, or its endpoint in the Keystone catalog.',
        retried=True,
    ),
    Fault.PROMETHEUS_ERROR: Consequence(
        exceptions.PrometheusError.__name__,
        Whose.PROMETHEUS,
        'exclude_hosts_query, or a query of a recovery, returned no usable '
        'answer, so Kronos cannot see which hosts or servers are at fault.',
        f'Repair Prometheus, or the query; {ShellCommand.TEST_CONFIG} shows '
        'what is wrong.',
        retried=True,
        rests=CooldownScope.SCOPE,
    ),
    Fault.WATCHER_ERROR: Consequence(
        exceptions.TurnUnknown.__name__,
        Whose.WATCHER,
        "Watcher's database could not be read.",
        'Repair the database; check it with '
        f'{ShellCommand.STATUS_OF_WATCHER}.',
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
        'An error that Kronos does not recognise.',
        "Report it, with the applier's log; Kronos leaves the server alone as "
        'a precaution.',
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
