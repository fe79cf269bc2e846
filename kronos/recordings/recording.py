# SPDX-License-Identifier: Apache-2.0
"""A recording: what a cloud was like once, as planning sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kronos.common.names.name_marks import Text
from kronos.engine.eligibility import overrides
from kronos.engine.settings import Settings
from kronos.engine.types import UNASSIGNED, Health, Reading, Seeds, Snapshot
from kronos.policies.models import Policy
from kronos.snapshots import cloud, queries, scope_windows
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import ScopeRequest

ANY_LABEL = ''
"""Stands for the label of an answer that is recorded by label value only."""


@dataclass
class Recording:
    """A cloud at one moment, with all that an audit had to plan by."""

    gathered: CloudInventory
    policies: list[Policy]
    """The whole file, enabled or not."""
    request: ScopeRequest
    settings: Settings
    """In force: those of the audit, or what ``[kronos]`` says."""
    answers: dict[tuple[Text, Text], Reading] = field(default_factory=dict)
    """By query and label; the label may be :data:`ANY_LABEL`."""
    policies_text: Text = ''
    """The policies file as it was."""
    configured: Settings | None = None
    """What ``[kronos]`` said, before the audit or its strategy changed it;
    None: the same as ``settings``."""
    strategy: Text = ''
    """``kronos_spread``, ...; '' if no audit made it."""
    max_concurrent: int = 2
    recorded_at: float = 0.0
    """Unix seconds; 0 if unknown."""
    source: Text = ''
    """The path it was read from."""
    made_by: Text = ''
    anonymized: bool = False
    unknown: list[Text] = field(default_factory=list)
    """What the format cannot tell, as sentences."""
    seeds: Seeds = field(default_factory=Seeds)

    def snapshots(
        self,
        policies: Sequence[Policy] | None = None,
        settings: Settings | None = None,
        request: ScopeRequest | None = None,
        strategy: str = '',
    ) -> list[Snapshot]:
        """The snapshots that an audit would have taken then.

        :param policies: others than the recorded ones, as the next two
        :raises ScopeError: the request is for no, an unknown or an empty
            scope
        """
        settings = settings or self.settings
        policy_queries = queries.PolicyQueries(Answers(self.answers), settings)
        readings = policy_queries.of(
            self.policies if policies is None else policies
        )
        snapshots = cloud.cut(
            self.gathered,
            request or self.request,
            readings,
            settings.extension,
        )
        planned = {snapshot.scope for snapshot in snapshots}
        warnings = [
            *self.unknown,
            *self._strangers(),
            *overrides.idle(self.seeds, self._scopes() - planned, settings),
        ]
        for snapshot in snapshots:
            snapshot.seeds = self.seeds
            snapshot.warnings += warnings
        context = scope_windows.PlanContext(
            self.gathered.cloud.aggregates,
            strategy or self.strategy,
            self.max_concurrent,
        )
        scope_windows.note(snapshots, settings, context)
        return snapshots

    def _scopes(self) -> set[str]:
        named = {
            aggregate.name for aggregate in self.gathered.cloud.aggregates
        }
        return named | {UNASSIGNED}

    def _strangers(self) -> list[str]:
        """What the seeds name and the recording does not have."""
        uuids = {instance.uuid for instance in self.gathered.instances}
        sections = (
            ('aggregate_cooldowns', 'aggregate', self._scopes()),
            ('instance_cooldowns', 'instance', uuids),
            ('instance_quarantines', 'instance', uuids),
        )
        return [
            f'cooldowns.json: {section}: there is no {kind} {name}'
            for section, kind, existing in sections
            for name in getattr(self.seeds, section)
            if name not in existing
        ]


class Answers:
    """Answers queries from a recording, in place of Prometheus."""

    def __init__(self, answers: Mapping[tuple[str, str], Reading]) -> None:
        self._answers = answers

    def instant_query(self, query: str, label_key: str) -> Reading:
        """What was recorded; UNREACHABLE where that is nothing."""
        for label in (label_key, ANY_LABEL):
            if (query, label) in self._answers:
                return self._answers[query, label]
        return Reading(
            query,
            Health.UNREACHABLE,
            error='the recording has no answer to this query '
            f'(label {label_key})',
        )
