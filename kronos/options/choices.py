# SPDX-License-Identifier: Apache-2.0
"""The choices that options of planning offer."""

from kronos.options.row import Choice

HYPERVISOR_TYPES = ('QEMU', 'KVM')
"""Those that are planned unless ``[kronos] hypervisor_types`` has others."""


class HostMatch(Choice):
    """How a label value finds its Nova host."""

    EXACT = 'exact', 'the label value is the Nova host name'
    SHORT = (
        'short',
        'a ":port" and the domain are removed on both sides if the match '
        'stays unambiguous',
    )


class PartialAnswers(Choice):
    """What becomes of a policy with a query of which series may be missing."""

    WARN = 'warn', 'Kronos uses the partial answer, and the plan warns'
    SKIP = 'skip', 'Kronos does not judge the policy'


class TieBreak(Choice):
    """Which of several equally good moves is taken."""

    FIRST = 'first', 'the first by instance uuid, then by destination name'
    VARIANCE = 'variance', 'the one that lowers the variance most'
    VARIANCE_PER_GIB = (
        'variance_per_gib',
        'the one that lowers the variance most for each GiB of memory',
    )


class SwapMoves(Choice):
    """Which exchanges of two instances may end a stall.

    Its first half may be all that comes about of one, if the second fails.
    """

    NONE = 'none', 'no exchange'
    SAFE = (
        'safe',
        'between the two migrations, no policy within its threshold exceeds '
        'it, and no policy above its threshold more than doubles its '
        'imbalance or exceeds 1',
    )
    ANY = (
        'any',
        'any exchange, even if a policy exceeds its threshold between the '
        'two migrations or after the second one fails',
    )

    @classmethod
    def _missing_(cls, value: object) -> 'SwapMoves | None':
        """What it was in recordings when it was true or false."""
        if isinstance(value, bool):
            return cls.SAFE if value else cls.NONE
        return None


class UnexplainedLoad(Choice):
    """What becomes of the load of a host that its servers do not explain."""

    FOLLOWS = (
        'follows',
        'the load moves with the instances, in proportion to their usage',
    )
    STAYS = 'stays', 'the load belongs to the host and does not move'
    IGNORED = 'ignored'
    """Nothing is held against the hosts: the literal rule."""


class SearchName(Choice):
    """By which search spread plans; each is a file in planning/search."""

    GREEDY = 'greedy', 'the best migration, again and again'
    BEST = (
        'best',
        'greedy and a search for target windows, then a local search; the '
        'result with the lowest imbalance is used',
    )
    OPTIMAL = (
        'optimal',
        'an exact solver if the scope is small enough; else best',
    )


class VetoReference(Choice):
    """What a policy's imbalance is compared with before it objects."""

    STEP = 'step', 'the imbalance before the migration'
    INITIAL = 'initial', 'the imbalance before the plan'


class ConsentRule(Choice):
    """How much the consent of owners counts."""

    HONOUR = 'honour', 'every move needs the consent of the owner'
    DRAIN_OVERRIDES = (
        'drain-overrides',
        'draining a host needs no consent, every other move does',
    )
    IGNORE = 'ignore', 'no move needs consent'


class EffectUse(Choice):
    """What the measured effect of earlier plans changes in a plan."""

    OFF = 'off', 'nothing'
    LIMIT = (
        'limit',
        'a plan has at most canary_moves migrations for balance if the trust '
        'in the scope is below 0.5, or fewer than three plans are measured',
    )
    DAMP = (
        'damp',
        'Kronos multiplies the predicted effect of moves on a policy by its '
        'ratio if that is below 1, by at least 0.25',
    )
    CALIBRATE = (
        'calibrate',
        'the same, and also by ratios above 1, by at most 2',
    )


class SoftRules(Choice):
    """What soft server-group policies mean to a plan."""

    VETO = 'veto', 'no migration breaks a soft rule'
    PENALTY = 'penalty', 'a migration that spreads may, for soft_rule_penalty'
