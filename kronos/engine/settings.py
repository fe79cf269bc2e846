# SPDX-License-Identifier: Apache-2.0
"""The settings: what an operator sets beside the policies.

Here, too, is what each mode of planning decides itself, so that an audit
and an offline replay in the same mode plan the same.
"""

from dataclasses import dataclass, field
from enum import Enum, StrEnum

from kronos.common.names.name_marks import HostName, Text
from kronos.engine.extension import PLAIN, Extension
from kronos.policies.models import Mode

OUT_OF_HOST = 1
INTO_HOST = 2
"""So many live migrations a host sends and takes at a time."""


class HostMatch(StrEnum):
    """How a label value finds its Nova host."""

    EXACT = 'exact'
    SHORT = 'short'
    """Without ``:port`` and domain, where that is unambiguous."""


class PartialAnswers(StrEnum):
    """What becomes of a policy with a query of which series may be missing."""

    WARN = 'warn'
    SKIP = 'skip'


class TieBreak(StrEnum):
    """Which of several equally good moves is taken."""

    FIRST = 'first'
    """By instance uuid, then destination name: the literal rule."""
    VARIANCE = 'variance'
    """The one that lowers the variance most."""
    VARIANCE_PER_GIB = 'variance_per_gib'


class SwapMoves(StrEnum):
    """Which exchanges of two instances may end a stall.

    Its first half may be all that comes about of one, if the second fails.
    """

    NONE = 'none'
    SAFE = 'safe'
    """Those between whose halves no policy leaves its threshold, or more
    than doubles where it is over it."""
    ANY = 'any'

    @classmethod
    def _missing_(cls, value: object) -> 'SwapMoves | None':
        """What it was in recordings when it was true or false."""
        if isinstance(value, bool):
            return cls.SAFE if value else cls.NONE
        return None


class UnexplainedLoad(StrEnum):
    """What becomes of the load of a host that its servers do not explain."""

    FOLLOWS = 'follows'
    """It moves with them."""
    STAYS = 'stays'
    """It is the host's own."""
    IGNORED = 'ignored'
    """Nothing is held against the hosts: the literal rule."""


class SearchName(StrEnum):
    """By which search spread plans; each is a file in planning/search."""

    GREEDY = 'greedy'
    """The best move, again and again."""
    BEST = 'best'
    """The lowest of several, made lower by a local search."""
    OPTIMAL = 'optimal'
    """An exact solver, where the scope is small enough; else ``best``."""


class VetoReference(StrEnum):
    """What a policy's imbalance is compared with before it objects."""

    STEP = 'step'
    """What it was before the move."""
    INITIAL = 'initial'
    """What it was before the plan."""


class SoftRules(StrEnum):
    """What soft server-group policies mean to a plan."""

    VETO = 'veto'
    """As strict as hard ones."""
    PENALTY = 'penalty'
    """May be broken where the gain is larger than a penalty."""


class PlanMode(StrEnum):
    """What is planned: each has a row in :data:`PHASES_OF_MODE`."""

    SPREAD = 'spread'
    PACK = 'pack'
    EVACUATE = 'evacuate'
    AFFINITY = 'affinity'
    RECOVER = 'recover'
    CELL_DRAIN = 'cell_drain'

    @property
    def strategy(self) -> str:
        """The strategy that plans so, where it is one of Kronos' own."""
        return f'kronos_{self.value}'


class When(Enum):
    """In which case a mode does something."""

    ALWAYS = 'always'
    IF_ASKED = 'if asked'
    NEVER = 'never'

    def applies(self, asked: bool) -> bool:
        return self is When.ALWAYS or (self is When.IF_ASKED and asked)


@dataclass(frozen=True)
class ModePhases:
    """What a mode plans, and what of it an audit may choose."""

    policies: Mode | None
    """The mode of the policies that it takes; None: either."""
    evacuate: When
    enforce_hard_affinity: When
    enforce_soft_affinity: When
    rebalance: bool
    """Whether spread or pack follows."""
    drains_named_hosts: bool = False
    """Whether an audit may say which hosts are drained."""
    unlimited: bool = False
    """Whether there is no budget unless the audit gives one."""
    waits_for_cooldown: bool = True
    """Whether it leaves alone a scope that has just moved."""
    is_extended: bool = False
    """Whether it is that of an extension, which the audit brings along."""


PHASES_OF_MODE = {
    PlanMode.SPREAD: ModePhases(
        policies=Mode.SPREAD,
        evacuate=When.IF_ASKED,
        enforce_hard_affinity=When.IF_ASKED,
        enforce_soft_affinity=When.IF_ASKED,
        rebalance=True,
    ),
    PlanMode.PACK: ModePhases(
        policies=Mode.PACK,
        evacuate=When.IF_ASKED,
        enforce_hard_affinity=When.IF_ASKED,
        enforce_soft_affinity=When.IF_ASKED,
        rebalance=True,
    ),
    PlanMode.EVACUATE: ModePhases(
        policies=None,
        evacuate=When.ALWAYS,
        enforce_hard_affinity=When.NEVER,
        enforce_soft_affinity=When.NEVER,
        rebalance=False,
        drains_named_hosts=True,
        unlimited=True,
        waits_for_cooldown=False,
    ),
    PlanMode.AFFINITY: ModePhases(
        policies=None,
        evacuate=When.NEVER,
        enforce_hard_affinity=When.ALWAYS,
        enforce_soft_affinity=When.IF_ASKED,
        rebalance=False,
    ),
    PlanMode.RECOVER: ModePhases(
        policies=None,
        evacuate=When.ALWAYS,
        enforce_hard_affinity=When.NEVER,
        enforce_soft_affinity=When.NEVER,
        rebalance=False,
        unlimited=True,
        waits_for_cooldown=False,
        is_extended=True,
    ),
    PlanMode.CELL_DRAIN: ModePhases(
        policies=None,
        evacuate=When.ALWAYS,
        enforce_hard_affinity=When.NEVER,
        enforce_soft_affinity=When.NEVER,
        rebalance=False,
        waits_for_cooldown=False,
        is_extended=True,
    ),
}
"""What a strategy, a replay and kronos-test-config plan in each mode."""


@dataclass
class PhaseSelection:
    """What was asked for, by the audit or else by ``[kronos]``."""

    evacuate: bool = False
    enforce_hard_affinity: bool = False
    enforce_soft_affinity: bool = False
    drain_hosts: list[str] | None = None
    """Only a mode that drains named hosts looks at it."""
    cooldown_seconds: float = 0.0
    extension: Extension = PLAIN
    """Only a mode of an extension looks at it."""


@dataclass
class Settings:
    """What the operator set beside the policies (``[kronos]``)."""

    max_migrations: int | None = None
    """None: the largest ``max_migrations_per_cycle`` in force."""
    restrict_to_az: bool = False
    require_all_policies: bool = False
    min_host_coverage: float = 0.9
    host_match: HostMatch = HostMatch.EXACT
    partial_answers: PartialAnswers = PartialAnswers.WARN
    check_disk: bool = False
    require_headroom: bool = False
    """Whether a host without a Placement view is no destination."""
    allowed_extra_specs: list[Text] = field(default_factory=list)
    """Keys, or prefixes that end in ``*``, that do not pin an instance."""
    cooldown_seconds: float = 0.0
    """Of the scope, since its last move; 0: none."""
    instance_cooldown_seconds: float = 0.0
    """Of an instance, since it was part of a started plan or was moved by
    hand; 0: none."""
    quarantine_seconds: float = 0.0
    """Of an instance, since its move failed for good; -1: for ever."""
    return_guard_seconds: float = 0.0
    """For so long spread and pack do not move an instance back."""
    stuck_seconds: float = 86400.0
    """For so long nothing new may be heard of a migration under way before
    it holds back nothing but its instance and its hosts."""
    evacuate: bool = False
    """Whether disabled hosts are drained."""
    drain_hosts: list[HostName] | None = None
    """The hosts that are drained, where they are in the scope; None: every
    disabled one. Only with ``evacuate``."""
    extension: Extension = PLAIN
    """What else is planned, instead or beside."""
    max_closed_hosts: int = 1
    """So many hosts of an aggregate may be closed or at fault at a time;
    beyond it none is closed."""
    restart_servers: bool = False
    """Whether servers that failed are started again. Only in a recovery."""
    recovery_window_seconds: float = 600.0
    """For so long restarts of a server count: the second is elsewhere, and
    after it the server is left alone."""
    cell_move_lossy: bool = False
    """Whether servers may leave their cell whose local data Nova does not
    take along. Only in a cell drain, as the next two."""
    long_rpc_timeout_seconds: float = 1800.0
    """So long the snapshot of a server's disk may take."""
    snapshot_mb_per_second: float = 100.0
    drain_may_exceed_threshold: bool = False
    enforce_hard_affinity: bool = False
    enforce_soft_affinity: bool = False
    rebalance: bool = True
    """Whether spread or pack follows the evacuation and the repair."""
    unlimited: bool = False
    """Whether there is no budget where ``max_migrations`` is None."""
    soft_rules: SoftRules = SoftRules.VETO
    soft_rule_penalty: float = 0.05
    """In combined imbalance, for each soft rule that a move breaks."""
    pack_partial_drains: bool = False
    """Whether pack may leave a host half-drained (the plain rule)."""
    keep_hosts: int = 1
    """So many hosts in use are left by pack."""
    headroom_hosts: int = 0
    """So many of the fullest hosts that pack leaves in use may be lost."""
    search: SearchName = SearchName.GREEDY
    """By which search spread plans; what ``[kronos]`` says by default is
    another one. Recordings without it were planned by this one."""
    veto_reference: VetoReference = VetoReference.STEP
    min_gain: float = 0.0
    """In combined imbalance: what a migration must buy in a plan of another
    search than the greedy one."""
    min_plan_gain: float = 0.0
    """By how much a plan of such a search must lower one policy."""
    optimal_limit: int = 1000
    """Instances times hosts of a scope that a solver looks at."""
    optimal_seconds: float = 25.0
    """For so long a solver may seek."""
    cost_weight: float = 0.0
    """In combined imbalance: what 100 GiB of memory must buy that a plan
    copies. 0: they cost nothing, as in recordings without it."""
    migration_bandwidth: float = 800.0
    """MiB per second that a live migration copies, where none of the scope
    tells."""
    migration_timeout_seconds: float = 600.0
    """For so long a migration may be under way."""
    migration_timeout_per_gib: float = 16.0
    """Seconds for each GiB that is copied, where that is more."""
    unexplained_load: UnexplainedLoad = UnexplainedLoad.IGNORED
    """What ``[kronos]`` says by default is ``follows``, which holds for
    recordings without it, too."""
    plateau_moves: bool = True
    swap_moves: SwapMoves = SwapMoves.SAFE
    tie_break: TieBreak = TieBreak.VARIANCE
    repeat_moves: bool = False
    """Whether spread may move an instance that it moved already in this
    scope; the literal rule does. Never across scopes."""
    exhaust: bool = False
    """Go on when every policy is within its threshold, until the budget is
    used."""

    def selection(self) -> PhaseSelection:
        """What ``[kronos]`` asks for, as long as no mode was set."""
        return PhaseSelection(
            evacuate=self.evacuate,
            enforce_hard_affinity=self.enforce_hard_affinity,
            enforce_soft_affinity=self.enforce_soft_affinity,
            cooldown_seconds=self.cooldown_seconds,
        )

    def set_mode(self, mode: PlanMode, asked: PhaseSelection) -> None:
        """Set all that a mode decides, whatever it was before.

        :raises ValueError: it is a mode of an extension, and none is given
        """
        row = PHASES_OF_MODE[mode]
        if row.is_extended and asked.extension == PLAIN:
            raise ValueError(f'an extension plans {mode}, and none is given')
        self.rebalance = row.rebalance
        self.evacuate = row.evacuate.applies(asked.evacuate)
        self.drain_hosts = (
            asked.drain_hosts if row.drains_named_hosts else None
        )
        self.extension = asked.extension if row.is_extended else PLAIN
        self.extension.prepare(self)
        self.unlimited = row.unlimited
        self.cooldown_seconds = (
            asked.cooldown_seconds if row.waits_for_cooldown else 0
        )
        self.enforce_hard_affinity = row.enforce_hard_affinity.applies(
            asked.enforce_hard_affinity
        )
        self.enforce_soft_affinity = row.enforce_soft_affinity.applies(
            asked.enforce_soft_affinity
        )

    @property
    def enforces(self) -> bool:
        """Whether server groups are repaired."""
        return self.enforce_hard_affinity or self.enforce_soft_affinity

    @property
    def uses_ceilings(self) -> bool:
        """Whether spread, too, needs the hosts' capacity readings."""
        return self.evacuate or self.enforces
