# SPDX-License-Identifier: Apache-2.0
"""The anonymizer: it makes a recording that may leave the house.

Every name and uuid is another one, the same wherever it occurs; numbers and
times stay, and of all other texts what closed lists allow. Both plan to the
same steps. Names are numbered anew in each recording, so two of them cannot be
laid side by side.
"""

import dataclasses
from collections.abc import Collection, Iterable

from kronos.clients.nova.rows import HostAggregate
from kronos.engine import types
from kronos.engine.eligibility import consent
from kronos.engine.eligibility.instances import PIN
from kronos.engine.scoring import labels
from kronos.engine.settings import Settings
from kronos.engine.types import (
    ComputeService,
    Event,
    Host,
    Instance,
    Reading,
    Sample,
    ServerGroup,
)
from kronos.options import budget
from kronos.policies import loader, models
from kronos.policies.models import LabelType, Policy
from kronos.recordings import parts, redaction
from kronos.recordings.anonymize import extra_specs, marked, vocabulary
from kronos.recordings.anonymize.names import Names, kinds
from kronos.recordings.anonymize.queries import Queries
from kronos.recordings.anonymize.vocabulary import allowed
from kronos.recordings.recording import Recording
from kronos.snapshots import scope_windows
from kronos.snapshots.cells import METADATA_KEY
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest

_REASON = 'a reason that is not told'
"""Instead of what a person wrote."""
_NO_WINDOW = 'an unusable window'
"""Instead of one that cannot be used, which closes its scope, too."""


def anonymized(recording: Recording) -> Recording:
    """A copy in which nothing is called as it was."""
    return _Rewriter(redaction.redacted(recording)).recording()


class _Rewriter:
    """A recording written anew, kind after kind.

    One class, since a name has to get the same pseudonym wherever it stands.
    """

    def __init__(self, recording: Recording) -> None:
        self._was = recording
        self._names = Names(recording)
        gathered = recording.gathered
        self._specs = extra_specs.Specs(
            self._names,
            [
                *(instance.extra_specs for instance in gathered.instances),
                *(
                    specs
                    for part in parts.every()
                    for specs in part.extra_specs(gathered)
                ),
            ],
        )
        self._metadata = {
            key: values
            for part in parts.every()
            for key, values in part.metadata.items()
        }
        self._queries = Queries(self._names.known)
        self._series: dict[str, str] = {}

    def recording(self) -> Recording:
        was = self._names.renamed(self._was)
        policies = [self._policy(policy) for policy in was.policies]
        configured = was.configured
        return dataclasses.replace(
            was,
            gathered=self._gathered(was.gathered),
            policies=policies,
            policies_text=loader.dump(policies),
            request=self._request(was.request),
            settings=self._settings(was.settings),
            configured=configured and self._settings(configured),
            answers=self._answers(),
            source='',
            anonymized=True,
            strategy=allowed(was.strategy, vocabulary.STRATEGIES, ''),
            made_by=_made_by(was.made_by),
            unknown=[_own_words(text) for text in was.unknown],
        )

    def _gathered(self, was: CloudInventory) -> CloudInventory:
        gathered = dataclasses.replace(
            was,
            cloud=Cloud(
                self._hosts(was.cloud.hosts.values()),
                self._hosts(was.cloud.other_hosts.values()),
                [*map(self._aggregate, was.cloud.aggregates)],
            ),
            services=was.services
            and {
                name: self._service(service)
                for name, service in was.services.items()
            },
            instances=[*map(self._instance, was.instances)],
            groups=[*map(self._group, was.groups)],
            events=[*map(self._event, was.events)],
            warnings=[_own_words(text) for text in was.warnings],
            exclusions_unknown=_own_words(was.exclusions_unknown),
            effects={
                scope: [
                    dataclasses.replace(
                        each, policy=self._names.policy(each.policy)
                    )
                    for each in ratios
                ]
                for scope, ratios in was.effects.items()
            },
            beside={
                name: value
                if parts.keeps_texts(name)
                else marked.without_texts(value)
                for name, value in was.beside.items()
            },
        )
        for part in parts.every():
            part.anonymous(gathered, self._specs)
        return gathered

    def _hosts(self, hosts: Iterable[Host]) -> dict[str, Host]:
        names = self._names
        anonymous = [
            dataclasses.replace(
                host,
                hypervisor_type=allowed(
                    host.hypervisor_type, vocabulary.HYPERVISORS
                ),
                closed=_own_words(host.closed),
                frozen=_own_words(host.frozen),
                traits=sorted(names.trait(trait) for trait in host.traits),
                headroom=host.headroom
                and {
                    names.resource_class(name): room
                    for name, room in host.headroom.items()
                },
            )
            for host in hosts
        ]
        return {host.name: host for host in anonymous}

    def _aggregate(self, was: HostAggregate) -> HostAggregate:
        names = self._names
        metadata = {}
        for key, value in was.metadata.items():
            if key == 'availability_zone':
                metadata[key] = names.zone(value)
            elif key == METADATA_KEY and value.strip() in names.cell.table:
                metadata[key] = names.cell(value.strip())
            elif key in scope_windows.KEYS:
                metadata[key] = _window(value)
            else:
                new = key if key == METADATA_KEY else names.key(key)
                metadata[new] = names.value(value.lower())
        return dataclasses.replace(was, metadata=metadata)

    def _service(self, was: ComputeService) -> ComputeService:
        return dataclasses.replace(
            was,
            binary=allowed(was.binary, vocabulary.BINARIES),
            state=allowed(was.state, vocabulary.SERVICE_STATES),
            status=allowed(was.status, vocabulary.SERVICE_STATUSES),
            disabled_reason=self._disabled(was),
        )

    def _disabled(self, was: ComputeService) -> str:
        """Why it is; what Kronos closed, and how far, matters to a plan."""
        if was.is_closed_by_kronos:
            return f'{types.BY_KRONOS}{_REASON}'
        for part in parts.every():
            text = part.disabled_reason(was.disabled_reason, self._group_of)
            if text is not None:
                return text
        return was.disabled_reason and _REASON

    def _group_of(self, name: str) -> str:
        return self._names.group.table.get(name, vocabulary.OTHER)

    def _instance(self, was: Instance) -> Instance:
        names = self._names
        return dataclasses.replace(
            was,
            status=allowed(was.status, vocabulary.SERVER_STATUSES),
            task_state=allowed(was.task_state, vocabulary.TASK_STATES),
            metadata={
                self._key(key): value
                if value in self._values(key)
                else names.value(value.lower())
                for key, value in was.metadata.items()
            },
            tags=[consent.renamed(tag, self._names.value) for tag in was.tags],
            extra_specs=self._specs.extra_specs(was.extra_specs),
            unmovable=_own_words(was.unmovable),
            **{
                key: value
                for part in parts.every()
                for key, value in part.anonymous_fields(was).items()
            },
        )

    def _values(self, key: str) -> Collection[str]:
        """What the metadata of an instance may have as a value."""
        if key == consent.KEY:
            return consent.VALUES
        return self._metadata.get(key, ())

    def _key(self, key: str) -> str:
        if key in (PIN, consent.KEY) or key in self._metadata:
            return key
        return self._names.key(key)

    @staticmethod
    def _group(was: ServerGroup) -> ServerGroup:
        policy = allowed(was.policy, vocabulary.GROUP_POLICIES)
        return dataclasses.replace(was, policy=policy)

    @staticmethod
    def _event(was: Event) -> Event:
        return dataclasses.replace(
            was,
            error_type=allowed(
                was.error_type, vocabulary.ERROR_TYPES, 'unknown'
            ),
            fault=allowed(was.fault, vocabulary.FAULTS, ''),
            status=allowed(was.status, vocabulary.MOVE_STATUSES),
            phase=allowed(
                was.phase,
                vocabulary.PHASES.union(
                    *(part.phases for part in parts.every())
                ),
            ),
        )

    def _request(self, was: ScopeRequest) -> ScopeRequest:
        value = self._names.value
        return dataclasses.replace(
            was,
            excluded_metadata=[
                {
                    self._key(key): value(text.lower())
                    for key, text in row.items()
                }
                for row in was.excluded_metadata
            ],
        )

    def _settings(self, was: Settings) -> Settings:
        extension = was.extension
        if extension.asked is not None:
            # Of plain values nobody knows what names there may be in them.
            request = extension.asked
            has_marks = dataclasses.is_dataclass(request)
            request = marked.without_texts(request) if has_marks else None
            extension = dataclasses.replace(extension, asked=request)
        return dataclasses.replace(
            was,
            extension=extension,
            beside=[marked.without_texts(options) for options in was.beside],
            allowed_extra_specs=self._specs.rules(was.allowed_extra_specs),
            windows=[*map(_window, was.windows)],
            freezes=[*map(_window, was.freezes)],
            window_exempt=[
                allowed(name, vocabulary.STRATEGIES)
                for name in was.window_exempt
            ],
            project_budget=_budget(was.project_budget),
            project_budgets={
                project: _budget(text)
                for project, text in was.project_budgets.items()
            },
            group_budget=_budget(was.group_budget),
            instance_budget=_budget(was.instance_budget),
            budget_exempt=[
                allowed(name, {*types.MigrationPhase, *extension.phases})
                for name in was.budget_exempt
            ],
        )

    def _policy(self, was: Policy) -> Policy:
        new = {'name': self._names.policy(was.name)}
        for row in models.QUERIES:
            new[row.label] = self._queries.word(getattr(was, row.label))
            if getattr(was, row.field) is not None:
                new[row.field] = self._queries.query(getattr(was, row.field))
        return was.model_copy(update=new)

    def _answers(self) -> dict[tuple[str, str], Reading]:
        senses = kinds(self._was.policies)
        return {
            (
                self._queries.query(query),
                self._queries.word(label),
            ): self._reading(reading, senses[query, label])
            for (query, label), reading in self._was.answers.items()
            if (query, label) in senses
        }

    def _reading(self, was: Reading, sense: LabelType | None) -> Reading:
        return dataclasses.replace(
            was,
            query=self._queries.query(was.query),
            samples=[self._sample(sample, sense) for sample in was.samples],
            error=_own_words(was.error),
            incomplete=_own_words(was.incomplete),
            unlabelled_series='',
            remedy='',
        )

    def _sample(self, was: Sample, sense: LabelType | None) -> Sample:
        series = ''
        if was.series:
            series = self._series.setdefault(
                was.series, self._labels(was.series, len(self._series) + 1)
            )
        label = self._names.label(sense, was.label)
        return dataclasses.replace(was, label=label, series=series)

    def _labels(self, series: str, number: int) -> str:
        """Of a label set what planning looks at: where the series is."""
        of_hosts = {policy.host_label for policy in self._was.policies}
        items = [
            f'{self._queries.word(name)}="{self._names.host(value)}"'
            for name, value in labels.of_series(series).items()
            if name in of_hosts and value
        ]
        items.append(f'series="{number}"')
        return f'{{{", ".join(items)}}}'


def _made_by(was: str) -> str:
    return was if vocabulary.MADE_BY.fullmatch(was) else ''


def _window(was: str) -> str:
    """A window or freeze; an unusable one may contain anything."""
    return was if scope_windows.is_usable(was) else _NO_WINDOW


def _budget(was: str) -> str:
    """A budget; an unusable one may contain anything."""
    try:
        return budget.checked(was)
    except ValueError:
        return ''


def _own_words(text: str) -> str:
    phrases = [phrase for part in parts.every() for phrase in part.phrases]
    return vocabulary.own_words(text, phrases)
