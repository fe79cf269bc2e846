# SPDX-License-Identifier: Apache-2.0
"""The causes in answers: why a policy cannot use what Prometheus says.

Each query of a policy is looked at for the one fault that explains the rest.
What several policies have in common is one cause.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from kronos.cmd.checks import findings
from kronos.cmd.checks.cached_clients import OncePrometheus
from kronos.cmd.checks.causes import metric_names
from kronos.cmd.checks.findings import Cause, Findings
from kronos.engine import instance_keys, wording
from kronos.engine.eligibility import hosts as eligible
from kronos.engine.scoring import labels, name_forms
from kronos.engine.scoring.name_forms import NameForm
from kronos.engine.settings import Settings
from kronos.engine.types import Health, Instance, Reading, Sample, Snapshot
from kronos.policies.models import LabelType, Policy, PolicyQuery

ACTIVE = 'ACTIVE'
MOST_PERCENT = 100.0
SCRAPE = (
    'check on the page Status > Targets of Prometheus that the exporter of '
    'each is up'
)
STALE = (
    'have Prometheus scrape the exporters again, as its page Status > Targets '
    'shows; if it scrapes them rarely, raise [kronos_prometheus] '
    'staleness_threshold'
)
TRY = 'try the query in Prometheus and correct it in the policies file'
TRY_EMPTY = (
    'try the query in Prometheus: is the exporter scraped, and is the name of '
    'the metric right?'
)


@dataclass
class CheckedAnswer:
    """What Prometheus says to one query of a policy."""

    policy: Policy
    row: PolicyQuery
    reading: Reading
    is_used: bool
    """Whether an audit asks it."""

    @property
    def what(self) -> str:
        return f'policy {self.policy.name}: {self.row.field}'

    @property
    def label(self) -> str:
        label: str = getattr(self.policy, self.row.label)
        return label

    @property
    def is_of_servers(self) -> bool:
        return bool(self.row.label_type)


@dataclass
class Causes:
    """The causes that the answers to some policies have.

    :param remedy: what to do where servers have no series; '' if nothing
        more is known than of other queries
    """

    prometheus: OncePrometheus
    snapshots: Sequence[Snapshot]
    settings: Settings
    remedy: str
    to: Findings
    keys: dict[str, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Of each policy, what it may not be used for; the nearest first."""
    of_servers: dict[str, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """The same of what it may not know servers for."""
    remedies: dict[str, str] = field(default_factory=dict)
    """By policy, where its values are of no use."""

    @property
    def hosts(self) -> set[str]:
        return {host for item in self.snapshots for host in item.hosts}

    def look(self, answer: CheckedAnswer) -> None:
        """Tell the cause that an answer shows, if it shows any."""
        reading = answer.reading
        if reading.is_away:
            self._know(answer, Cause.PROMETHEUS)
        elif reading.clock and reading.health is Health.STALE:
            self._know(answer, Cause.CLOCK)  # all queries alike: told once
        elif reading.health is Health.STALE:
            self._failed(answer, STALE, Cause.STALE)
        elif reading.error:
            self._refused(answer)
        elif not reading.samples:
            self._empty(answer)
        elif not answer.is_of_servers and self.hosts:
            self._of_hosts(answer)

    def _know(self, answer: CheckedAnswer, key: str) -> None:
        name = answer.policy.name
        self.keys[name].append(key)
        if answer.is_of_servers:
            self.of_servers[name].append(key)

    def _failed(self, answer: CheckedAnswer, remedy: str, key: str) -> None:
        # One that no audit asks stops none.
        report = self.to.error if answer.is_used else self.to.warning
        text = f'{answer.what}: {answer.reading.error}'
        report('query-failed', text, remedy, key=key)
        self._know(answer, key)

    def _refused(self, answer: CheckedAnswer) -> None:
        """By Prometheus, or since its series lack the label."""
        query, label = answer.reading.query, answer.label
        without = self.prometheus.instant_query(query, '')
        if without.error:
            self._failed(answer, TRY, findings.query(query))
            return
        remedy = self._other_label(answer, without.samples)
        if remedy:
            self._failed(answer, remedy, remedy)
            return
        self._failed(
            answer,
            f'keep the label {label} in the query with "by ({label})", or set '
            f'{answer.row.label} to a label that it has',
            findings.query(query),
        )

    def _other_label(
        self, answer: CheckedAnswer, samples: Sequence[Sample]
    ) -> str:
        """What to do where another label names the hosts or servers."""
        if answer.is_of_servers:
            instances = [
                instance
                for item in self.snapshots
                for instance in item.instances.values()
            ]
            return _label_of_servers(answer, samples, instances)
        form = self._form(answer, samples, '')
        if form is None:
            return ''
        return self._remedy(answer, form)

    def _empty(self, answer: CheckedAnswer) -> None:
        query = answer.reading.query
        if answer.is_of_servers and self.snapshots and not self._runs():
            return  # nothing needs a value
        remedy = self.remedy if answer.is_of_servers else ''
        remedy = remedy or metric_names.remedy(query, self.prometheus)
        self.to.warning(
            'query-empty',
            f'{answer.what} gives no series',
            remedy or TRY_EMPTY,
            key=findings.query(query),
            because=[Cause.NO_SERIES],
        )
        self._know(answer, findings.query(query))

    def _runs(self) -> bool:
        return any(
            instance.status == ACTIVE
            for item in self.snapshots
            for instance in item.instances.values()
        )

    def _of_hosts(self, answer: CheckedAnswer) -> None:
        values = _values(answer.reading.samples)
        matched = labels.match_hosts(
            (sample.label for sample in values),
            self.hosts,
            self.settings.host_match,
        ).hosts
        measured = [sample for sample in values if sample.label in matched]
        if remedy := _unusable(answer, measured, matched):
            self.remedies.setdefault(answer.policy.name, remedy)
        form = self._form(answer, values, answer.label)
        if form is not None:
            self._named_otherwise(answer, form)
        else:
            self._unmeasured(answer, set(matched.values()))

    def _form(
        self, answer: CheckedAnswer, samples: Sequence[Sample], label: str
    ) -> NameForm | None:
        if answer.is_of_servers:
            return None
        return name_forms.better(
            name_forms.series_of(samples, label),
            answer.label,
            self.hosts,
            self.settings.host_match,
        )

    def _remedy(self, answer: CheckedAnswer, form: NameForm) -> str:
        how = self.settings.host_match
        return form.remedy(how, answer.label, answer.row.label)

    def _named_otherwise(self, answer: CheckedAnswer, form: NameForm) -> None:
        remedy = self._remedy(answer, form)
        is_without = form.missing == form.hosts
        report = self.to.error if is_without else self.to.warning
        key = findings.names(remedy)
        report(
            'host-names',
            form.cause,
            remedy,
            key=key,
            because=[findings.option('host_match')],
        )
        self._know(answer, key)

    def _unmeasured(
        self, answer: CheckedAnswer, measured: Collection[str]
    ) -> None:
        """Tell which hosts lack a value that should have one."""
        missing = sorted(
            host
            for item in self.snapshots
            for host in item.hosts
            if host not in measured
            and eligible.why_out(item, host, self.settings) is None
        )
        missing = list(dict.fromkeys(missing))
        if not missing or not answer.is_used:
            return
        key = f'unmeasured {" ".join(missing)}'
        number = wording.counted(len(missing), 'host')
        self.to.warning(
            'hosts-unmeasured',
            f'{answer.what} has no value for {number} of {len(self.hosts)} '
            f'({wording.some(missing)})',
            SCRAPE,
            key=key,
        )
        self._know(answer, key)


def _values(samples: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in samples if math.isfinite(sample.value)]


def _label_of_servers(
    answer: CheckedAnswer,
    samples: Sequence[Sample],
    instances: Sequence[Instance],
) -> str:
    """The label, and its type, by which most servers are known."""
    series = [labels.of_series(sample.series) for sample in samples]
    matches = {
        (name, kind): number
        for name in sorted({name for row in series for name in row})
        for kind in LabelType
        if (
            number := len(
                {row.get(name, '') for row in series}
                & {
                    getattr(instance, instance_keys.key_of(kind))
                    for instance in instances
                }
            )
        )
    }
    if not matches:
        return ''
    label, kind = max(matches, key=lambda pair: matches[pair])
    return (
        f'set {answer.row.label}: {label} and {answer.row.label_type}: {kind} '
        'in each of these policies'
    )


def _unusable(
    answer: CheckedAnswer,
    measured: Sequence[Sample],
    matched: Mapping[str, str],
) -> str:
    """What to do about values that no policy can use; '' if it can."""
    if len(measured) > len({matched[sample.label] for sample in measured}):
        return (
            f'aggregate the series of a host in {answer.row.field}, with '
            f'"avg by ({answer.label})" or "max by ({answer.label})"'
        )
    if answer.row.field == 'host_capacity_query' or not measured:
        return ''
    highest = max(sample.value for sample in measured)
    if min(sample.value for sample in measured) < 0.0:
        return f'correct {answer.row.field}: a share is never below 0'
    if highest <= 1.0:
        return ''
    if highest <= MOST_PERCENT:
        return f'divide {answer.row.field} by 100: it returns percent'
    return (
        f'divide {answer.row.field} by the capacity of the host: it returns a '
        'quantity, not a share'
    )
