# SPDX-License-Identifier: Apache-2.0
"""The meaning of each code, and what lifts it."""

from dataclasses import dataclass

from kronos.engine.reasons import Code


@dataclass
class Meaning:
    """A code in a sentence, and what an operator may do about it."""

    means: str
    remedy: str = ''
    """Empty where there is nothing to lift."""


MEANINGS: dict[Code, Meaning] = {
    Code.PLANNED: Meaning('The plan moves the instance there.'),
    Code.ALREADY_THERE: Meaning('The instance is on this host.'),
    Code.SCOPE_NO_SERVICES: Meaning(
        'The state of the compute services is unknown.',
        'Let os-services answer.',
    ),
    Code.SCOPE_NO_POLICY: Meaning(
        'No policy can be used, or not all where all are required.',
        'Correct the queries that the reason names.',
    ),
    Code.SCOPE_TOO_FEW_HOSTS: Meaning(
        'Too few hosts of the scope can take part.',
        'Bring back the hosts that the reason names.',
    ),
    Code.SCOPE_COOLDOWN: Meaning(
        'The scope rests after its last move.', 'Wait, or lower cooldown.'
    ),
    Code.SCOPE_BALANCED: Meaning(
        'Every policy is within its threshold.',
        'Lower a threshold below what the plan leaves.',
    ),
    Code.SCOPE_STUCK: Meaning(
        'No legal move, or sequence of moves that is searched for, improves '
        'the scope.',
        'See the nearest miss.',
    ),
    Code.SCOPE_PACKED: Meaning(
        'No further host can be emptied.', 'See the nearest miss.'
    ),
    Code.SCOPE_DONE: Meaning('All that was asked for is planned.'),
    Code.INSTANCE_UNMOVABLE: Meaning(
        'The audit excludes the instance, or the recording calls it '
        'unmovable.',
        'Leave it out of what the audit excludes, or set movable to true in '
        'the recording.',
    ),
    Code.INSTANCE_LOCKED: Meaning('The instance is locked.', 'Unlock it.'),
    Code.INSTANCE_PINNED: Meaning(
        'Its owner opted out by kronos:pin.',
        'Let its owner remove the metadata key or tag.',
    ),
    Code.INSTANCE_NOT_ACTIVE: Meaning(
        'Its status is not ACTIVE.', 'Start it, or leave it.'
    ),
    Code.INSTANCE_BUSY: Meaning(
        'Nova is busy with it.', 'Wait until its task has ended.'
    ),
    Code.INSTANCE_NOT_RUNNING: Meaning(
        'Its power state is not running.', 'Start it, or leave it.'
    ),
    Code.INSTANCE_EXTRA_SPEC: Meaning(
        'Its flavor has an extra spec that may tie it to its host.',
        'Add the key to allowed_extra_specs if it does not.',
    ),
    Code.INSTANCE_ON_ITS_WAY: Meaning(
        'It is being migrated, or is in a plan that is under way.',
        'Wait, or cancel the action plan.',
    ),
    Code.INSTANCE_QUARANTINE: Meaning(
        'A move of it failed not long ago.',
        'Wait, lower instance_quarantine_seconds, or move it by hand.',
    ),
    Code.INSTANCE_COOLDOWN: Meaning(
        'It was part of a plan or moved not long ago.',
        'Wait, or lower instance_cooldown.',
    ),
    Code.INSTANCE_PLANNED_BEFORE: Meaning(
        'It is planned in a scope that was planned before.',
        'Wait for that plan.',
    ),
    Code.INSTANCE_NO_PROFILE: Meaning(
        'A policy does not know what it weighs.',
        'Correct vm_profile_query, or set vm_profile_fallback.',
    ),
    Code.HOST_NO_SERVICE: Meaning(
        'The host has no nova-compute service.', 'Start nova-compute there.'
    ),
    Code.HOST_CELL_DOWN: Meaning(
        'The cell of the host is down.', 'Bring the cell back.'
    ),
    Code.HOST_FORCED_DOWN: Meaning(
        'nova-compute of the host is forced down.',
        'Take the forcing back when the host is well.',
    ),
    Code.HOST_DOWN: Meaning(
        'nova-compute of the host is not up.', 'Bring it up.'
    ),
    Code.HOST_DISABLED: Meaning(
        'nova-compute of the host is disabled.', 'Enable it.'
    ),
    Code.HOST_DRAINED: Meaning(
        'The audit drains the host.', 'Leave it out of the hosts to drain.'
    ),
    Code.HOST_FROZEN: Meaning(
        'The host takes no part: no cell is known of it.', 'Name its cell.'
    ),
    Code.HOST_NO_SAMPLE: Meaning(
        'A policy in use has no fresh sample for the host.',
        'Let imbalance_query cover it.',
    ),
    Code.HOST_NO_CAPACITY: Meaning(
        'host_capacity_query of a policy in use has no value for the host.',
        'Let host_capacity_query cover it.',
    ),
    Code.HOST_CLOSED: Meaning(
        'The recording says that the host takes nothing.',
        'Set available to true in the recording.',
    ),
    Code.HOST_NO_PLACEMENT: Meaning(
        'Placement shows no inventory of the host.',
        'Repair its resource provider, or set require_headroom to false.',
    ),
    Code.HOST_STUCK_OUT: Meaning(
        'A migration out of the host of the instance is stuck, and no other '
        'gets its turn there.',
        'End that migration by hand.',
    ),
    Code.HOST_STUCK_INTO: Meaning(
        'As many migrations into the host are stuck as it takes at a time.',
        'End them by hand.',
    ),
    Code.ZONE_PINNED: Meaning(
        'The instance is pinned to another availability zone.',
        'Choose a host of that zone.',
    ),
    Code.CELL_CROSSED: Meaning(
        'The host is in another cell, or its cell is not known.',
        'Choose a host of the same cell.',
    ),
    Code.ZONE_CROSSED: Meaning(
        'The host is in another availability zone, and restrict_to_az is set.',
        'Set restrict_to_az to false.',
    ),
    Code.NO_ROOM: Meaning(
        'The host has too little of a resource class free.',
        'Make room there.',
    ),
    Code.GROUP_APART: Meaning(
        'As many members of its anti-affinity group as may be are there.',
        'Move one of them away first, or choose a host without them. Of a '
        'soft group: set soft_rules to penalty.',
    ),
    Code.GROUP_TOGETHER: Meaning(
        'Other members of its affinity group are elsewhere.',
        'Delete the server group if its rule is not wanted any more. Of a '
        'soft group: set soft_rules to penalty.',
    ),
    Code.GROUP_LONE: Meaning(
        'It is alone in its affinity group; Nova moves no such instance.',
        'Delete the server group if its rule is not wanted any more.',
    ),
    Code.GROUP_UNKNOWN: Meaning(
        'Its server group has a policy that is not known.',
        'Delete the server group if its rule is not wanted any more, or tell '
        'the developers of the policy.',
    ),
    Code.OVER_CEILING: Meaning(
        'The host would be above capacity_threshold of a policy.',
        'Raise capacity_threshold, or make room there.',
    ),
    Code.CEILING_UNKNOWN: Meaning(
        'capacity_query of a policy has no value for the host.',
        'Let capacity_query cover it.',
    ),
    Code.RETURN_GUARD: Meaning(
        'The instance was moved away from there not long ago.',
        'Wait, or lower return_guard.',
    ),
    Code.WORSENS_POLICY: Meaning(
        'A policy would get worse and be over its threshold.',
        'Raise the threshold of that policy.',
    ),
    Code.SOFT_PENALTY: Meaning(
        'It gains less than the penalty of a soft server group.',
        'Lower soft_rule_penalty.',
    ),
    Code.NO_GAIN: Meaning(
        'It is legal, and does not lower the combined imbalance.'
    ),
    Code.BETTER_DESTINATION: Meaning(
        'The plan moves the instance to another host, which is better.'
    ),
    Code.BETTER_MOVE: Meaning(
        'It would have helped, but another move was better; after the plan '
        'it gains nothing.'
    ),
    Code.BUDGET_USED: Meaning(
        'No migration is left in the budget.',
        'Raise max_migrations of the audit, or max_migrations_per_cycle of '
        'the policies.',
    ),
    Code.NOT_ASKED: Meaning(
        'It is legal, but the strategy does not ask for such moves.',
        'Plan with kronos_spread or kronos_pack.',
    ),
    Code.REPAIRS_NOTHING: Meaning(
        'It is legal, but does not bring its server group closer to its rule.'
    ),
    Code.GROUP_WAITS: Meaning(
        'Its server group is repaired when a member that is on its way has '
        'arrived.',
        'Wait until it has arrived.',
    ),
    Code.PACK_NO_TARGET: Meaning(
        'Pack fills no empty host, nor one that is being emptied.'
    ),
    Code.PACK_KEEP_HOSTS: Meaning(
        'No more than keep_hosts are in use.', 'Lower keep_hosts.'
    ),
    Code.PACK_AWAITED: Meaning(
        'Its host is kept: an instance is on its way there.',
        'Wait until it has arrived.',
    ),
    Code.PACK_RECEIVES: Meaning(
        'Its host is kept: this plan moves an instance there.'
    ),
    Code.PACK_NOT_WHOLE: Meaning(
        'Its host is kept: another instance there cannot leave.',
        'Lift what keeps the instances that cannot leave, or set '
        'pack_partial_drains.',
    ),
    Code.PACK_HEADROOM_HOSTS: Meaning(
        'Its host is kept: too little room would be left for the loss of '
        'others.',
        'Lower headroom_hosts.',
    ),
    Code.NO_DESTINATION: Meaning(
        'No host may take the instance.',
        'Ask for the instance, host by host.',
    ),
    Code.GROUP_NOT_REPAIRED: Meaning(
        'The plan leaves the broken server group of the instance as it is.',
        'See the warning about the group; raise max_migrations where the '
        'budget is too small.',
    ),
}
