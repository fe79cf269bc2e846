# SPDX-License-Identifier: Apache-2.0
"""The reasons: a sentence for people, a code for programs.

A reason is a sentence for people with a code for programs, and with what the
sentence is about. Codes are added, never renamed; what each means and what
lifts it stands in :mod:`.meanings`.
"""

from enum import StrEnum


class Code(StrEnum):
    """Why an instance did not go to a host, or a scope ended as it did."""

    PLANNED = 'planned'
    ALREADY_THERE = 'already_there'

    SCOPE_NO_SERVICES = 'scope_no_services'
    SCOPE_NO_POLICY = 'scope_no_policy'
    SCOPE_TOO_FEW_HOSTS = 'scope_too_few_hosts'
    SCOPE_COOLDOWN = 'scope_cooldown'
    SCOPE_BALANCED = 'scope_balanced'
    SCOPE_STUCK = 'scope_stuck'
    SCOPE_PACKED = 'scope_packed'
    SCOPE_DONE = 'scope_done'

    INSTANCE_UNMOVABLE = 'instance_unmovable'
    INSTANCE_LOCKED = 'instance_locked'
    INSTANCE_PINNED = 'instance_pinned'
    INSTANCE_NOT_ACTIVE = 'instance_not_active'
    INSTANCE_BUSY = 'instance_busy'
    INSTANCE_NOT_RUNNING = 'instance_not_running'
    INSTANCE_EXTRA_SPEC = 'instance_extra_spec'
    INSTANCE_ON_ITS_WAY = 'instance_on_its_way'
    INSTANCE_QUARANTINE = 'instance_quarantine'
    INSTANCE_COOLDOWN = 'instance_cooldown'
    INSTANCE_PLANNED_BEFORE = 'instance_planned_before'
    INSTANCE_NO_PROFILE = 'instance_no_profile'

    HOST_NO_SERVICE = 'host_no_service'
    HOST_CELL_DOWN = 'host_cell_down'
    HOST_FORCED_DOWN = 'host_forced_down'
    HOST_DOWN = 'host_down'
    HOST_DISABLED = 'host_disabled'
    HOST_DRAINED = 'host_drained'
    HOST_FROZEN = 'host_frozen'
    HOST_NO_SAMPLE = 'host_no_sample'
    HOST_NO_CAPACITY = 'host_no_capacity'
    HOST_CLOSED = 'host_closed'
    HOST_NO_PLACEMENT = 'host_no_placement'
    HOST_STUCK_OUT = 'host_stuck_out'
    HOST_STUCK_INTO = 'host_stuck_into'

    ZONE_PINNED = 'zone_pinned'
    CELL_CROSSED = 'cell_crossed'
    ZONE_CROSSED = 'zone_crossed'
    NO_ROOM = 'no_room'
    GROUP_APART = 'group_apart'
    GROUP_TOGETHER = 'group_together'
    GROUP_LONE = 'group_lone'
    GROUP_UNKNOWN = 'group_unknown'
    OVER_CEILING = 'over_ceiling'
    CEILING_UNKNOWN = 'ceiling_unknown'
    RETURN_GUARD = 'return_guard'
    WORSENS_POLICY = 'worsens_policy'

    SOFT_PENALTY = 'soft_penalty'
    NO_GAIN = 'no_gain'
    BETTER_DESTINATION = 'better_destination'
    BETTER_MOVE = 'better_move'
    BUDGET_USED = 'budget_used'
    NOT_ASKED = 'not_asked'
    REPAIRS_NOTHING = 'repairs_nothing'
    GROUP_WAITS = 'group_waits'
    PACK_NO_TARGET = 'pack_no_target'
    PACK_KEEP_HOSTS = 'pack_keep_hosts'
    PACK_AWAITED = 'pack_awaited'
    PACK_RECEIVES = 'pack_receives'
    PACK_NOT_WHOLE = 'pack_not_whole'
    PACK_HEADROOM_HOSTS = 'pack_headroom_hosts'
    NO_DESTINATION = 'no_destination'
    GROUP_NOT_REPAIRED = 'group_not_repaired'


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
        code: Code,
        about: str = '',
        value: float = 0.0,
        host: str = '',
    ) -> 'Reason':
        made = super().__new__(cls, text)
        made.code = code
        made.about = about
        made.value = value
        made.host = host
        return made

    code: Code
    about: str
    value: float
    host: str

    def __getnewargs__(  # type: ignore[override]
        self,
    ) -> tuple[str, Code, str, float, str]:
        """What a copy is made of."""
        return str(self), self.code, self.about, self.value, self.host

    def worded(self, text: str, host: str = '') -> 'Reason':
        """The same in other words."""
        return Reason(
            text, self.code, self.about, self.value, host or self.host
        )
