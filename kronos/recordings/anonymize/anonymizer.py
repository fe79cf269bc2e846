# SPDX-License-Identifier: Apache-2.0
"""The anonymizer: it makes a recording that may leave the house.

Every name and uuid is another one, the same wherever it occurs; numbers and
times stay, and of all other texts what closed lists allow. Both plan to the
same steps. Names are numbered anew in each recording, so two of them cannot be
laid side by side.
"""

import dataclasses
from collections.abc import Collection, Iterable
from typing import Any

from kronos.clients.nova.rows import HostAggregate
from kronos.engine import types
from kronos.engine.eligibility.instances import PIN
from kronos.engine.scoring import labels
from kronos.engine.settings import Settings
from kronos.engine.types import (
    ComputeService,
    Event,
    Host,
    Instance,
    PastRestart,
    Reading,
    Sample,
    ServerGroup,
)
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.recordings import anonymous as cells
from kronos.extensions.recovery.restarts import OPT_OUT
from kronos.policies import loader, models
from kronos.policies.models import LabelType, Policy
from kronos.recordings import redaction
from kronos.recordings.anonymize import extra_specs, vocabulary
from kronos.recordings.anonymize.names import Names, kinds
from kronos.recordings.anonymize.queries import Queries
from kronos.recordings.recording import Recording
from kronos.snapshots import failures
from kronos.snapshots.cells import METADATA_KEY
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest

_REASON = 'a reason that is not told'
"""Instead of what a person wrote."""
_OTHER = 'other'
"""Instead of a word that no closed list has."""


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
        found = recording.gathered
        self._specs = extra_specs.Specs(
            self._names,
            [
                *(one.extra_specs for one in found.instances),
                *(
                    one.extra_specs
                    for one in found.cell_needs.flavors.values()
                ),
            ],
        )
        self._queries = Queries(self._names.known)
        self._series: dict[str, str] = {}

    def recording(self) -> Recording:
        was = self._names.renamed(self._was)
        policies = [self._policy(one) for one in was.policies]
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
            strategy=_only(was.strategy, vocabulary.STRATEGIES, ''),
            made_by=_made_by(was.made_by),
            unknown=[_told(text) for text in was.unknown],
        )

    def _gathered(self, was: CloudInventory) -> CloudInventory:
        return dataclasses.replace(
            was,
            cloud=Cloud(
                self._hosts(was.cloud.hosts.values()),
                self._hosts(was.cloud.other_hosts.values()),
                [self._aggregate(one) for one in was.cloud.aggregates],
            ),
            services=was.services
            and {
                name: self._service(one) for name, one in was.services.items()
            },
            instances=[self._instance(one) for one in was.instances],
            groups=[self._group(one) for one in was.groups],
            events=[self._event(one) for one in was.events],
            warnings=[_told(text) for text in was.warnings],
            exclusions_unknown=_told(was.exclusions_unknown),
            failures_unknown=_told(was.failures_unknown),
            cell_needs=cells.needs(was.cell_needs, self._specs),
        )

    def _hosts(self, hosts: Iterable[Host]) -> dict[str, Host]:
        names = self._names
        found = [
            dataclasses.replace(
                host,
                hypervisor_type=_only(
                    host.hypervisor_type, vocabulary.HYPERVISORS
                ),
                closed=_told(host.closed),
                frozen=_told(host.frozen),
                traits=sorted(names.trait(one) for one in host.traits),
                headroom=host.headroom
                and {
                    names.resource_class(name): room
                    for name, room in host.headroom.items()
                },
            )
            for host in hosts
        ]
        return {host.name: host for host in found}

    def _aggregate(self, was: HostAggregate) -> HostAggregate:
        names = self._names
        metadata = {}
        for key, value in was.metadata.items():
            if key == 'availability_zone':
                metadata[key] = names.zone(value)
            elif key == METADATA_KEY and value.strip() in names.cell.table:
                metadata[key] = names.cell(value.strip())
            else:
                new = key if key == METADATA_KEY else names.key(key)
                metadata[new] = names.value(value.lower())
        return dataclasses.replace(
            was,
            metadata=metadata,
        )

    def _service(self, was: ComputeService) -> ComputeService:
        return dataclasses.replace(
            was,
            binary=_only(was.binary, vocabulary.BINARIES),
            state=_only(was.state, vocabulary.SERVICE_STATES),
            status=_only(was.status, vocabulary.SERVICE_STATUSES),
            disabled_reason=_disabled(was),
        )

    def _instance(self, was: Instance) -> Instance:
        names = self._names
        return dataclasses.replace(
            was,
            status=_only(was.status, vocabulary.SERVER_STATUSES),
            task_state=_only(was.task_state, vocabulary.TASK_STATES),
            metadata={
                self._key(key): value
                if key == OPT_OUT and value in ('true', 'false')
                else names.value(value.lower())
                for key, value in was.metadata.items()
            },
            extra_specs=self._specs.extra_specs(was.extra_specs),
            unmovable=_told(was.unmovable),
            failure=_only(was.failure, failures.KINDS, failures.UNKNOWN),
            tied_port=_only(was.tied_port, vocabulary.PORTS),
            guest=_only(was.guest, vocabulary.GUESTS),
            stopped_by=_only(was.stopped_by, vocabulary.STOPPERS),
            restarts=[self._past_restart(one) for one in was.restarts],
        )

    @staticmethod
    def _past_restart(was: PastRestart) -> PastRestart:
        """Whether a request is known matters, and not which it is."""
        return dataclasses.replace(
            was,
            state=_only(was.state, vocabulary.ACTION_STATES),
            stop=was.stop and 'req',
            migrate=was.migrate and 'req',
        )

    def _key(self, key: str) -> str:
        return key if key in (PIN, OPT_OUT) else self._names.key(key)

    @staticmethod
    def _group(was: ServerGroup) -> ServerGroup:
        policy = _only(was.policy, vocabulary.GROUP_POLICIES)
        return dataclasses.replace(was, policy=policy)

    @staticmethod
    def _event(was: Event) -> Event:
        return dataclasses.replace(
            was,
            error_type=_only(
                was.error_type, vocabulary.ERROR_TYPES, 'unknown'
            ),
            fault=_only(was.fault, vocabulary.FAULTS, ''),
            status=_only(was.status, vocabulary.MOVE_STATUSES),
            phase=_only(was.phase, vocabulary.PHASES),
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
        if cell_drain.of(was) is None and extension.asked is not None:
            # What names there may be in it is not known.
            extension = dataclasses.replace(extension, asked=None)
        return dataclasses.replace(
            was,
            extension=extension,
            allowed_extra_specs=self._specs.rules(was.allowed_extra_specs),
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
            samples=[self._sample(one, sense) for one in was.samples],
            error=_told(was.error),
            incomplete=_told(was.incomplete),
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
        of_hosts = {one.host_label for one in self._was.policies}
        found = [
            f'{self._queries.word(name)}="{self._names.host(value)}"'
            for name, value in labels.of_series(series).items()
            if name in of_hosts and value
        ]
        found.append(f'series="{number}"')
        return f'{{{", ".join(found)}}}'


def _only(was: Any, known: Collection[str], other: str = _OTHER) -> Any:
    """A word of a closed list, or nothing at all; else another one."""
    return was if not was or was in known else other


def _made_by(was: str) -> str:
    return was if vocabulary.MADE_BY.fullmatch(was) else ''


def _disabled(was: ComputeService) -> str:
    """Why it is; that Kronos closed it matters to a plan."""
    if was.is_closed_by_kronos:
        return f'{types.BY_KRONOS}{_REASON}'
    return was.disabled_reason and _REASON


def _told(text: str) -> str:
    """What of a warning, an error or a reason is Kronos' own words."""
    if not text:
        return ''
    found = [one for one in vocabulary.PHRASES if one in text]
    found += vocabulary.HTTP_STATUS.findall(text)
    if text in found:
        return text
    return '; '.join([*dict.fromkeys(found), 'the rest is not told'])
