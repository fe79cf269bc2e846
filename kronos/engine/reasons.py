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
        'Check that the os-services API of Nova answers.',
    )
    SCOPE_EXCLUSIONS_UNKNOWN = (
        'scope_exclusions_unknown',
        'exclude_hosts_query returned no usable answer.',
        'Check that Prometheus answers, or correct the query.',
    )
    SCOPE_FAILURES_UNKNOWN = (
        'scope_failures_unknown',
        'host_fault_query or server_fault_query returned no usable answer, so '
        'the failed hosts and servers are unknown.',
        'Check that Prometheus answers, or correct the query in the reason.',
    )
    SCOPE_TOO_MANY_AT_FAULT = (
        'scope_too_many_at_fault',
        'More hosts of the aggregate are at fault, or were closed by Kronos, '
        'than max_closed_hosts: the likely cause is storage or network.',
        'Check what the hosts share; enable repaired hosts, or raise '
        'max_closed_hosts.',
    )
    SCOPE_WINDOW = (
        'scope_window',
        'The window of the scope is closed.',
        'Wait until it opens, or change windows, freezes or the metadata of '
        'its aggregate.',
    )
    SCOPE_WINDOW_UNUSABLE = (
        'scope_window_unusable',
        'A window or freeze of the scope cannot be used, so it is closed.',
        'Correct the option or the metadata that the reason names.',
    )
    WINDOW_TOO_SHORT = (
        'window_too_short',
        'The move would not end before the window of the scope closes.',
        'Wait until the window opens again, or make it longer.',
    )
    SCOPE_NO_POLICY = (
        'scope_no_policy',
        'No policy is usable, or all are required and one is not.',
        'Correct the queries that the reason names.',
    )
    SCOPE_TOO_FEW_HOSTS = (
        'scope_too_few_hosts',
        'Too few hosts of the scope can take part.',
        'Bring back the hosts that the reason names.',
    )
    SCOPE_COOLDOWN = (
        'scope_cooldown',
        'The scope is in its cooldown after its last move.',
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
        'The allocations of the instance in Placement are not on its host, '
        'and a move of it has failed because of that.',
        f'Run "{ShellCommand.HEAL_ALLOCATIONS.general}"; the next audit reads '
        'the new allocations.',
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
    INSTANCE_CONSENT = (
        'instance_consent',
        'Its owner refuses such moves by kronos:consent.',
        'Let its owner change the metadata key or tag, or set consent or '
        'consent_projects.',
    )
    DISRUPTION_BUDGET = (
        'disruption_budget',
        'Its project, its server group or itself has had as many moves as a '
        'budget allows.',
        'Wait until the time in the reason, or raise project_budget, '
        'project_budgets, group_budget or instance_budget.',
    )
    INSTANCE_NOT_ACTIVE = (
        'instance_not_active',
        'Its status is not ACTIVE.',
        'Start it, or leave it.',
    )
    INSTANCE_BUSY = (
        'instance_busy',
        'It has a running task in Nova.',
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
        'Read its incident; start it again on another host.',
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
        'A user stopped it, or it is unknown who did.',
        'Start it if it should run.',
    )
    INSTANCE_RUNS = (
        'instance_runs',
        'It failed, but its guest is running.',
        'Check the guest.',
    )
    INSTANCE_GUEST_UNKNOWN = (
        'instance_guest_unknown',
        'It is unknown whether its guest runs.',
        'Check that its nova-compute is up, and that its driver returns '
        'diagnostics.',
    )
    INSTANCE_FAILURE_OLD = (
        'instance_failure_old',
        'Its failure was last reported before its restart, or long ago.',
        'Check that Prometheus scrapes its agent.',
    )
    INSTANCE_RESTARTED = (
        'instance_restarted',
        'It was restarted twice within recovery_window, and failed again.',
        'Find out why it fails, and start it by hand.',
    )
    INSTANCE_EXTRA_SPEC = (
        'instance_extra_spec',
        'Its flavor has an extra spec that may tie it to its host.',
        'Add the key to allowed_extra_specs if it does not.',
    )
    INSTANCE_VTPM = (
        'instance_vtpm',
        'It has a vTPM whose secret Nova does not send to another host.',
        'Resize it to a flavor with hw:tpm_secret_security=host; that needs '
        'Nova 33 or later on all computes of its cell.',
    )
    INSTANCE_ON_ITS_WAY = (
        'instance_on_its_way',
        'It is being migrated, or is in a plan that is under way.',
        'Wait, or cancel the action plan; start the plan if no applier has '
        'started it.',
    )
    INSTANCE_QUARANTINE = (
        'instance_quarantine',
        'A move of it failed recently.',
        'Wait, lower instance_quarantine_seconds, or move it by hand.',
    )
    INSTANCE_COOLDOWN = (
        'instance_cooldown',
        'It was part of a plan or moved recently.',
        'Wait, or lower instance_cooldown.',
    )
    INSTANCE_YOUNG = (
        'instance_young',
        'It was created recently; most short-lived servers are young.',
        'Wait, or lower min_age.',
    )
    INSTANCE_PLANNED_BEFORE = (
        'instance_planned_before',
        'It is planned in a scope that was planned before.',
        'Wait for that plan.',
    )
    INSTANCE_NO_PROFILE = (
        'instance_no_profile',
        'A policy has no usage for it.',
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
        'Bring the cell up again.',
    )
    HOST_FORCED_DOWN = (
        'host_forced_down',
        'nova-compute of the host is forced down.',
        'Unset forced_down when the host is healthy.',
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
        'Remove it from the hosts to drain.',
    )
    HOST_FROZEN = (
        'host_frozen',
        'The host is left out of planning: its cell is unknown.',
        'Name its cell.',
    )
    HOST_NO_SAMPLE = (
        'host_no_sample',
        'A policy in use has no fresh sample for the host.',
        'Correct imbalance_query so that it returns the host.',
    )
    HOST_NO_CAPACITY = (
        'host_no_capacity',
        'host_capacity_query of a policy in use has no value for the host.',
        'Correct host_capacity_query so that it returns the host.',
    )
    HOST_CLOSED = (
        'host_closed',
        'The recording marks the host as unavailable.',
        'Set available to true in the recording.',
    )
    HOST_EXCLUDED = (
        'host_excluded',
        'exclude_hosts_query returns a value other than 0 for the host.',
        'Check what the query returns for the host.',
    )
    HOST_AT_FAULT = (
        'host_at_fault',
        'host_fault_query returns a value other than 0 for the host.',
        'Check what the query returns for the host.',
    )
    HOST_NO_PLACEMENT = (
        'host_no_placement',
        'Placement shows no inventory of the host.',
        'Repair its resource provider, or set require_headroom to false.',
    )
    HOST_STUCK_OUT = (
        'host_stuck_out',
        'A migration out of the host of the instance is stuck and blocks all '
        'others there.',
        'End that migration by hand.',
    )
    HOST_STUCK_INTO = (
        'host_stuck_into',
        'Stuck migrations use all slots for migrations into the host.',
        'End them by hand.',
    )

    CELL_STATUS = (
        'cell_status',
        'Nova moves only servers that are ACTIVE or SHUTOFF to another cell.',
        'Bring it into one of these states, as the reason explains.',
    )
    CELL_BEGUN = (
        'cell_begun',
        'Kronos has started to move it to another cell and has not finished.',
        'Start the plan if the reason names one that finishes the move; '
        'otherwise wait for the running plan.',
    )
    CELL_UNCONFIRMED = (
        'cell_unconfirmed',
        'Kronos has moved it to another cell, and an operator must confirm '
        'the move.',
        f'Confirm it with "{ShellCommand.RESIZE_CONFIRM.general}", or '
        f'revert it with "{ShellCommand.RESIZE_REVERT.general}".',
    )
    CELL_STOPPED = (
        'cell_stopped',
        'It is stopped, and stopped servers stay in the cell.',
        'Set include_stopped to true, or start it.',
    )
    CELL_AFFINITY = (
        'cell_affinity',
        'It is in a server group with the policy affinity, and Nova moves no '
        'member of such a group to another cell, not even the only one.',
        'Delete the server group.',
    )
    CELL_FLAVOR_UNMAPPED = (
        'cell_flavor_unmapped',
        'flavor_map has no entry for its flavor.',
        'Add one to flavor_map; the value "same" keeps the flavor.',
    )
    CELL_FLAVOR_GONE = (
        'cell_flavor_gone',
        'The flavor for it in flavor_map does not exist in the cloud.',
        'Create that flavor, or map to another one.',
    )
    CELL_FLAVOR_TOO_SMALL = (
        'cell_flavor_too_small',
        'The root disk of its new flavor is smaller than its disk.',
        'Map to a flavor with a root disk at least as large.',
    )
    CELL_RESIZE_INSIDE = (
        'cell_resize_inside',
        'Its flavor changes, and Nova resizes a server inside its cell as '
        'long as a host there is enabled.',
        'Set close_source to true, or disable the hosts that the reason '
        'names.',
    )
    CELL_LOSSY = (
        'cell_lossy',
        'The move would lose some of its data.',
        'Save that data, then allow the loss by [kronos] cell_move_lossy.',
    )
    CELL_PORT = (
        'cell_port',
        'A port of it has a resource request, such as a minimum bandwidth, or '
        'an accelerator, and Nova moves no such server to another cell.',
        'Detach the port, or remove its QoS policy.',
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
        'after which Nova gives up.',
        'Raise long_rpc_timeout in nova.conf and in [kronos], or correct the '
        'speed of snapshots.',
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
        'Raise the quota of the project, or map to a smaller flavor.',
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
    HYPERVISOR_OLDER = (
        'hypervisor_older',
        'The hypervisor of the host is older than that of the host where the '
        'instance is, and Nova refuses such live migrations.',
        'Upgrade the hypervisor of the host. If nova.conf has '
        'skip_hypervisor_version_check_on_lm, set check_hypervisor_version '
        'to false.',
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
        'The host has the most members of its anti-affinity group allowed.',
        'Move one of them away first, or choose a host without them. For a '
        'soft group, set soft_rules to penalty.',
    )
    GROUP_TOGETHER = (
        'group_together',
        'Other members of its affinity group are elsewhere.',
        'Delete the server group if you no longer need its rule. For a '
        'soft group, set soft_rules to penalty.',
    )
    GROUP_LONE = (
        'group_lone',
        'It is alone in its affinity group; Nova moves no such instance.',
        'Delete the server group if you no longer need its rule.',
    )
    GROUP_UNKNOWN = (
        'group_unknown',
        'Its server group has an unknown policy.',
        'Delete the server group if you no longer need its rule, or report '
        'the policy to the developers.',
    )
    OVER_CEILING = (
        'over_ceiling',
        'The host would be above capacity_threshold of a policy.',
        'Raise capacity_threshold, or make room there.',
    )
    CEILING_UNKNOWN = (
        'ceiling_unknown',
        'capacity_query of a policy has no value for the host.',
        'Correct capacity_query so that it returns the host.',
    )
    RETURN_GUARD = (
        'return_guard',
        'The instance was moved away from the host recently.',
        'Wait, or lower return_guard.',
    )
    WORSENS_POLICY = (
        'worsens_policy',
        'A policy would get worse and be over its threshold.',
        'Raise the threshold of that policy.',
    )

    SOFT_PENALTY = (
        'soft_penalty',
        'The move gains less than the penalty for a soft server group.',
        'Lower soft_rule_penalty.',
    )
    NO_GAIN = (
        'no_gain',
        'The move is legal, but lowers the combined imbalance by less than '
        'the options require, or not at all.',
    )
    NEXT_AUDIT = (
        'next_audit',
        'The move lowers the combined imbalance only after the other moves '
        'of the plan; the next audit checks again.',
    )
    BETTER_DESTINATION = (
        'better_destination',
        'The plan moves the instance to another host, which is better.',
    )
    BETTER_MOVE = (
        'better_move',
        'The move would have helped, but another was better; after the plan '
        'it has no gain.',
    )
    BUDGET_USED = (
        'budget_used',
        'No migration is left in the budget.',
        'Raise max_migrations of the audit, or max_migrations_per_cycle of '
        'the policies; or canary_moves, if use_effect limits the plan.',
    )
    NOT_ASKED = (
        'not_asked',
        'The move is legal, but the strategy plans no such moves.',
        'Plan with kronos_spread or kronos_pack.',
    )
    REPAIRS_NOTHING = (
        'repairs_nothing',
        'The move is legal, but does not help its server group.',
    )
    GROUP_WAITS = (
        'group_waits',
        'Its server group is repaired after the migration of one of its '
        'members has finished.',
        'Wait until it has arrived.',
    )
    PACK_NO_TARGET = (
        'pack_no_target',
        'Pack places no instance on a host that is empty or being emptied.',
    )
    PACK_KEEP_HOSTS = (
        'pack_keep_hosts',
        'Only keep_hosts hosts are in use.',
        'Lower keep_hosts.',
    )
    PACK_AWAITED = (
        'pack_awaited',
        'Its host stays in use: an instance is migrating to it.',
        'Wait until it has arrived.',
    )
    PACK_RECEIVES = (
        'pack_receives',
        'Its host stays in use: this plan moves an instance to it.',
    )
    PACK_NOT_WHOLE = (
        'pack_not_whole',
        'Its host stays in use: another instance there cannot leave.',
        'Remove what keeps the instances that cannot leave, or set '
        'pack_partial_drains.',
    )
    NOT_RELIEVED = (
        'not_relieved',
        'Its host is above relief_threshold, and no other host can take it.',
        'Read the reasons for the other hosts, and bring more of them into '
        'use.',
    )
    PACK_HEADROOM_HOSTS = (
        'pack_headroom_hosts',
        'Its host stays in use: too little room would be left if others fail.',
        'Lower headroom_hosts.',
    )
    NO_DESTINATION = (
        'no_destination',
        'No host can take the instance.',
        'Explain the instance for each host.',
    )
    GROUP_NOT_REPAIRED = (
        'group_not_repaired',
        'The plan leaves the broken server group of the instance as it is.',
        'Read the warning about the group; raise max_migrations if the '
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
