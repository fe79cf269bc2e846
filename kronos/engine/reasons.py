# SPDX-License-Identifier: Apache-2.0
"""The reasons: a sentence for people, a code for programs.

A reason is a sentence for people with a code for programs, and with what the
sentence is about. Codes are added, never renamed; each says what it means and
what lifts it.
"""

from kronos.common.shell_commands import ShellCommand
from kronos.engine.extension import ReasonCode


class Code(ReasonCode):
    """Why an instance did not go to a host, or a scope ended as it did.

    One class, since it is one list.
    """

    PLANNED = 'planned', 'The plan moves the instance there.'
    ALREADY_THERE = 'already_there', 'The instance is on this host.'

    SCOPE_NO_SERVICES = (
        'scope_no_services',
        'The state of the compute services is unknown.',
        'Let os-services answer.',
    )
    SCOPE_EXCLUSIONS_UNKNOWN = (
        'scope_exclusions_unknown',
        'exclude_hosts_query gave no answer that can be used.',
        'Let Prometheus answer, or correct the query.',
    )
    SCOPE_FAILURES_UNKNOWN = (
        'scope_failures_unknown',
        'host_fault_query or server_fault_query gave no answer that can be '
        'used, so nobody knows what to recover.',
        'Let Prometheus answer, or correct the query that the reason names.',
    )
    SCOPE_TOO_MANY_AT_FAULT = (
        'scope_too_many_at_fault',
        'More hosts of the aggregate are at fault, or were closed by Kronos, '
        'than max_closed_hosts: it is the storage or the network.',
        'See what the hosts share; open those that are repaired, or raise '
        'max_closed_hosts.',
    )
    SCOPE_NO_POLICY = (
        'scope_no_policy',
        'No policy can be used, or not all where all are required.',
        'Correct the queries that the reason names.',
    )
    SCOPE_TOO_FEW_HOSTS = (
        'scope_too_few_hosts',
        'Too few hosts of the scope can take part.',
        'Bring back the hosts that the reason names.',
    )
    SCOPE_COOLDOWN = (
        'scope_cooldown',
        'The scope rests after its last move.',
        'Wait, or lower cooldown.',
    )
    SCOPE_BALANCED = (
        'scope_balanced',
        'Every policy is within its threshold, over the hosts that can be '
        'helped.',
        'Lower a threshold below what the plan leaves.',
    )
    SCOPE_STUCK = (
        'scope_stuck',
        'No legal move, or sequence of moves that is searched for, improves '
        'the scope.',
        'See the nearest miss.',
    )
    SCOPE_PACKED = (
        'scope_packed',
        'No further host can be emptied.',
        'See the nearest miss.',
    )
    SCOPE_DONE = 'scope_done', 'All that was asked for is planned.'

    INSTANCE_UNMOVABLE = (
        'instance_unmovable',
        'The audit excludes the instance, or the recording calls it '
        'unmovable.',
        'Leave it out of what the audit excludes, or set movable to true in '
        'the recording.',
    )
    INSTANCE_ALLOCATIONS = (
        'instance_allocations',
        'Placement holds the instance elsewhere than on its host, and a move '
        'of it has failed because of that.',
        f'Give "{ShellCommand.HEAL_ALLOCATIONS.general}"; the next audit sees '
        'it.',
    )
    INSTANCE_LOCKED = (
        'instance_locked',
        'The instance is locked.',
        'Unlock it.',
    )
    INSTANCE_PINNED = (
        'instance_pinned',
        'Its owner opted out by kronos:pin.',
        'Let its owner remove the metadata key or tag.',
    )
    INSTANCE_NOT_ACTIVE = (
        'instance_not_active',
        'Its status is not ACTIVE.',
        'Start it, or leave it.',
    )
    INSTANCE_BUSY = (
        'instance_busy',
        'Nova is busy with it.',
        'Wait until its task has ended.',
    )
    INSTANCE_NOT_RUNNING = (
        'instance_not_running',
        'Its power state is not running.',
        'Start it, or leave it.',
    )
    INSTANCE_FAILED = (
        'instance_failed',
        'It failed itself, so it cannot be live-migrated.',
        'See what its incident says; start it again elsewhere.',
    )
    INSTANCE_DIRTY_RATE = (
        'instance_dirty_rate',
        'Its guest writes to memory faster than a live migration copies.',
        'Wait until it writes less, or correct dirty_rate_query or '
        'migration_bandwidth.',
    )
    INSTANCE_RECOVERY_OFF = (
        'instance_recovery_off',
        'Its owner opted out of restarts by kronos:recover=false.',
        'Start it, or let its owner remove the metadata key.',
    )
    INSTANCE_STOPPED = (
        'instance_stopped',
        'Somebody stopped it, or it is unknown who did.',
        'Start it, if it is to run.',
    )
    INSTANCE_RUNS = (
        'instance_runs',
        'It failed, and its guest runs again, or still.',
        'Look at the guest.',
    )
    INSTANCE_GUEST_UNKNOWN = (
        'instance_guest_unknown',
        'It is unknown whether its guest runs.',
        'See whether its nova-compute is up, and its driver gives '
        'diagnostics.',
    )
    INSTANCE_FAILURE_OLD = (
        'instance_failure_old',
        'Its failure was last said before its restart, or long ago.',
        'See whether its agent is scraped.',
    )
    INSTANCE_RESTARTED = (
        'instance_restarted',
        'It was restarted twice within recovery_window, and failed again.',
        'See why it fails, and start it by hand.',
    )
    INSTANCE_EXTRA_SPEC = (
        'instance_extra_spec',
        'Its flavor has an extra spec that may tie it to its host.',
        'Add the key to allowed_extra_specs if it does not.',
    )
    INSTANCE_VTPM = (
        'instance_vtpm',
        'It has a vTPM whose secret Nova does not hand to another host.',
        'Resize it to a flavor with hw:tpm_secret_security=host; that needs '
        'Nova 33 or later on all computes of its cell.',
    )
    INSTANCE_ON_ITS_WAY = (
        'instance_on_its_way',
        'It is being migrated, or is in a plan that is under way.',
        'Wait, or cancel the action plan; start it if no applier has begun '
        'it.',
    )
    INSTANCE_QUARANTINE = (
        'instance_quarantine',
        'A move of it failed not long ago.',
        'Wait, lower instance_quarantine_seconds, or move it by hand.',
    )
    INSTANCE_COOLDOWN = (
        'instance_cooldown',
        'It was part of a plan or moved not long ago.',
        'Wait, or lower instance_cooldown.',
    )
    INSTANCE_YOUNG = (
        'instance_young',
        'It was created not long ago; servers that die soon are young.',
        'Wait, or lower min_age.',
    )
    INSTANCE_PLANNED_BEFORE = (
        'instance_planned_before',
        'It is planned in a scope that was planned before.',
        'Wait for that plan.',
    )
    INSTANCE_NO_PROFILE = (
        'instance_no_profile',
        'A policy does not know what it weighs.',
        'Correct vm_profile_query, or set vm_profile_fallback.',
    )

    HOST_NO_SERVICE = (
        'host_no_service',
        'The host has no nova-compute service.',
        'Start nova-compute there.',
    )
    HOST_CELL_DOWN = (
        'host_cell_down',
        'The cell of the host is down.',
        'Bring the cell back.',
    )
    HOST_FORCED_DOWN = (
        'host_forced_down',
        'nova-compute of the host is forced down.',
        'Take the forcing back when the host is well.',
    )
    HOST_DOWN = (
        'host_down',
        'nova-compute of the host is not up.',
        'Bring it up.',
    )
    HOST_DISABLED = (
        'host_disabled',
        'nova-compute of the host is disabled.',
        'Enable it.',
    )
    HOST_NO_HYPERVISOR = (
        'host_no_hypervisor',
        'nova-compute of the host has lost its hypervisor and disabled '
        'itself.',
        'Start libvirtd there; nova-compute then enables itself.',
    )
    HOST_DRAINED = (
        'host_drained',
        'The audit drains the host.',
        'Leave it out of the hosts to drain.',
    )
    HOST_FROZEN = (
        'host_frozen',
        'The host takes no part: no cell is known of it.',
        'Name its cell.',
    )
    HOST_NO_SAMPLE = (
        'host_no_sample',
        'A policy in use has no fresh sample for the host.',
        'Let imbalance_query cover it.',
    )
    HOST_NO_CAPACITY = (
        'host_no_capacity',
        'host_capacity_query of a policy in use has no value for the host.',
        'Let host_capacity_query cover it.',
    )
    HOST_CLOSED = (
        'host_closed',
        'The recording says that the host takes nothing.',
        'Set available to true in the recording.',
    )
    HOST_EXCLUDED = (
        'host_excluded',
        'exclude_hosts_query gives a value other than 0 for the host.',
        'See what the query returns for the host.',
    )
    HOST_AT_FAULT = (
        'host_at_fault',
        'host_fault_query gives a value other than 0 for the host.',
        'See what the query returns for the host.',
    )
    HOST_NO_PLACEMENT = (
        'host_no_placement',
        'Placement shows no inventory of the host.',
        'Repair its resource provider, or set require_headroom to false.',
    )
    HOST_STUCK_OUT = (
        'host_stuck_out',
        'A migration out of the host of the instance is stuck, and no other '
        'gets its turn there.',
        'End that migration by hand.',
    )
    HOST_STUCK_INTO = (
        'host_stuck_into',
        'As many migrations into the host are stuck as it takes at a time.',
        'End them by hand.',
    )

    CELL_STATUS = (
        'cell_status',
        'Nova takes only servers that are ACTIVE or SHUTOFF to another cell.',
        'Bring it into one of these states, as the reason says.',
    )
    CELL_BEGUN = (
        'cell_begun',
        'Kronos has begun to move it to another cell, and that is not over.',
        'Start the plan, if the reason says that it finishes the move; else '
        'let the plan end that is at it.',
    )
    CELL_UNCONFIRMED = (
        'cell_unconfirmed',
        'Kronos has moved it to another cell, and an operator has to confirm '
        'that.',
        f'Confirm the move by "{ShellCommand.RESIZE_CONFIRM.general}", or '
        f'take it back by "{ShellCommand.RESIZE_REVERT.general}".',
    )
    CELL_STOPPED = (
        'cell_stopped',
        'It is stopped, and stopped servers stay in the cell.',
        'Set include_stopped to true, or start it.',
    )
    CELL_AFFINITY = (
        'cell_affinity',
        'It is in a server group of the policy affinity, and Nova takes no '
        'member of one to another cell, not even the only one.',
        'Delete the server group.',
    )
    CELL_FLAVOR_UNMAPPED = (
        'cell_flavor_unmapped',
        'flavor_map has no entry for its flavor.',
        'Add one to flavor_map; the value "same" keeps the flavor.',
    )
    CELL_FLAVOR_GONE = (
        'cell_flavor_gone',
        'The cloud does not have the flavor that flavor_map gives it.',
        'Create that flavor, or give another one.',
    )
    CELL_FLAVOR_TOO_SMALL = (
        'cell_flavor_too_small',
        'The root disk of its new flavor is smaller than its disk.',
        'Give a flavor whose root disk is as large.',
    )
    CELL_RESIZE_INSIDE = (
        'cell_resize_inside',
        'Its flavor changes, and Nova resizes a server inside its cell as '
        'long as a host there takes servers.',
        'Set close_source to true, or disable the hosts that the reason '
        'names.',
    )
    CELL_LOSSY = (
        'cell_lossy',
        'Nova would not take along some of its data.',
        'Save that data; [kronos] cell_move_lossy lets it go.',
    )
    CELL_PORT = (
        'cell_port',
        'A port of it has a resource request, such as a minimum bandwidth, or '
        'an accelerator, and Nova takes no such server to another cell.',
        'Detach the port, or take the QoS policy off it.',
    )
    CELL_POLICY = (
        'cell_policy',
        'The policy compute:servers:resize:cross_cell of Nova is closed, or '
        'is not known while close_source would disable hosts.',
        'Open the policy for administrators in every nova-api, and set '
        'nova_policy_files in [kronos] to its policy.yaml or a copy.',
    )
    CELL_SNAPSHOT_SLOW = (
        'cell_snapshot_slow',
        'The snapshot of its disk would take longer than long_rpc_timeout, '
        'and then Nova gives up.',
        'Raise long_rpc_timeout in nova.conf and in [kronos], or tell the '
        'true speed of snapshots.',
    )
    CELL_SOURCE = (
        'cell_source',
        'The host is in the cell that is emptied, or in none of the target '
        'cells.',
        'Add its cell to target_cells, if it is another one.',
    )
    QUOTA = (
        'quota',
        'The quota of its project has no room for its larger flavor.',
        'Raise the quota of the project, or give a smaller flavor.',
    )

    ZONE_PINNED = (
        'zone_pinned',
        'The instance is pinned to another availability zone.',
        'Choose a host of that zone.',
    )
    CELL_CROSSED = (
        'cell_crossed',
        'The host is in another cell, or its cell is not known.',
        'Choose a host of the same cell.',
    )
    ZONE_CROSSED = (
        'zone_crossed',
        'The host is in another availability zone, and restrict_to_az is set.',
        'Set restrict_to_az to false.',
    )
    VTPM_HOST = (
        'vtpm_host',
        'The host lacks a trait that the vTPM of the instance needs.',
        'Choose a host of Nova 33 or later with swtpm_enabled and host among '
        'supported_tpm_secret_security.',
    )
    NO_ROOM = (
        'no_room',
        'The host has too little of a resource class free.',
        'Make room there.',
    )
    GROUP_APART = (
        'group_apart',
        'As many members of its anti-affinity group as may be are there.',
        'Move one of them away first, or choose a host without them. Of a '
        'soft group: set soft_rules to penalty.',
    )
    GROUP_TOGETHER = (
        'group_together',
        'Other members of its affinity group are elsewhere.',
        'Delete the server group if its rule is not wanted any more. Of a '
        'soft group: set soft_rules to penalty.',
    )
    GROUP_LONE = (
        'group_lone',
        'It is alone in its affinity group; Nova moves no such instance.',
        'Delete the server group if its rule is not wanted any more.',
    )
    GROUP_UNKNOWN = (
        'group_unknown',
        'Its server group has a policy that is not known.',
        'Delete the server group if its rule is not wanted any more, or tell '
        'the developers of the policy.',
    )
    OVER_CEILING = (
        'over_ceiling',
        'The host would be above capacity_threshold of a policy.',
        'Raise capacity_threshold, or make room there.',
    )
    CEILING_UNKNOWN = (
        'ceiling_unknown',
        'capacity_query of a policy has no value for the host.',
        'Let capacity_query cover it.',
    )
    RETURN_GUARD = (
        'return_guard',
        'The instance was moved away from there not long ago.',
        'Wait, or lower return_guard.',
    )
    WORSENS_POLICY = (
        'worsens_policy',
        'A policy would get worse and be over its threshold.',
        'Raise the threshold of that policy.',
    )

    SOFT_PENALTY = (
        'soft_penalty',
        'It gains less than the penalty of a soft server group.',
        'Lower soft_rule_penalty.',
    )
    NO_GAIN = (
        'no_gain',
        'It is legal, and does not lower the combined imbalance, or by less '
        'than the options ask for.',
    )
    NEXT_AUDIT = (
        'next_audit',
        'It lowers the combined imbalance only now that the other hosts are '
        'planned; the next audit looks again.',
    )
    BETTER_DESTINATION = (
        'better_destination',
        'The plan moves the instance to another host, which is better.',
    )
    BETTER_MOVE = (
        'better_move',
        'It would have helped, but another move was better; after the plan '
        'it gains nothing.',
    )
    BUDGET_USED = (
        'budget_used',
        'No migration is left in the budget.',
        'Raise max_migrations of the audit, or max_migrations_per_cycle of '
        'the policies.',
    )
    NOT_ASKED = (
        'not_asked',
        'It is legal, but the strategy does not ask for such moves.',
        'Plan with kronos_spread or kronos_pack.',
    )
    REPAIRS_NOTHING = (
        'repairs_nothing',
        'It is legal, but does not bring its server group closer to its rule.',
    )
    GROUP_WAITS = (
        'group_waits',
        'Its server group is repaired when a member that is on its way has '
        'arrived.',
        'Wait until it has arrived.',
    )
    PACK_NO_TARGET = (
        'pack_no_target',
        'Pack fills no empty host, nor one that is being emptied.',
    )
    PACK_KEEP_HOSTS = (
        'pack_keep_hosts',
        'No more than keep_hosts are in use.',
        'Lower keep_hosts.',
    )
    PACK_AWAITED = (
        'pack_awaited',
        'Its host is kept: an instance is on its way there.',
        'Wait until it has arrived.',
    )
    PACK_RECEIVES = (
        'pack_receives',
        'Its host is kept: this plan moves an instance there.',
    )
    PACK_NOT_WHOLE = (
        'pack_not_whole',
        'Its host is kept: another instance there cannot leave.',
        'Lift what keeps the instances that cannot leave, or set '
        'pack_partial_drains.',
    )
    NOT_RELIEVED = (
        'not_relieved',
        'Its host is above relief_threshold, and no host takes it.',
        'See what the reason says of the other hosts; bring more of them '
        'into use.',
    )
    PACK_HEADROOM_HOSTS = (
        'pack_headroom_hosts',
        'Its host is kept: too little room would be left for the loss of '
        'others.',
        'Lower headroom_hosts.',
    )
    NO_DESTINATION = (
        'no_destination',
        'No host may take the instance.',
        'Ask for the instance, host by host.',
    )
    GROUP_NOT_REPAIRED = (
        'group_not_repaired',
        'The plan leaves the broken server group of the instance as it is.',
        'See the warning about the group; raise max_migrations where the '
        'budget is too small.',
    )


class Reason(str):
    """A sentence with its code: whoever only shows it takes it as text.

    :param text: the sentence
    :param about: what of several it is about: the name of a policy, of a
        resource class or of an extra spec, the uuid of a group
    :param value: the number at which the rule would agree, where it is one
    :param host: the host that it is about, where that is not the instance
    """

    def __new__(
        cls,
        text: str,
        code: ReasonCode,
        about: str = '',
        value: float = 0.0,
        host: str = '',
    ) -> 'Reason':
        reason = super().__new__(cls, text)
        reason.code = code
        reason.about = about
        reason.value = value
        reason.host = host
        return reason

    code: ReasonCode
    about: str
    value: float
    host: str

    def __getnewargs__(  # type: ignore[override]
        self,
    ) -> tuple[str, ReasonCode, str, float, str]:
        """What a copy is made of."""
        return str(self), self.code, self.about, self.value, self.host

    def worded(self, text: str, host: str = '') -> 'Reason':
        """The same in other words."""
        return Reason(
            text, self.code, self.about, self.value, host or self.host
        )
