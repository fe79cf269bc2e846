# SPDX-License-Identifier: Apache-2.0
"""Does any text of a recording leave the house with an anonymised one?

Every text field there is gets a mark, of whatever form; none may be found.
``KRONOS_FUZZ`` is the number of examples.
"""

import dataclasses
import enum
import itertools
import json
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import fixtures
import hypothesis
import pydantic
from hypothesis import strategies as st
from oslotest import base

from kronos.engine.eligibility import quarantine
from kronos.policies.models import Policy
from kronos.recordings import load, writer
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.snapshots.scopes import ScopeRequest
from tests.builders import recordings
from tests.unit.recordings.anonymize.test_anonymizer import FUZZED

FORMS = {
    'a word': 'qzmark{}',
    'an address': '10.99.{}.7',
    'a number': '4711{}',
    'a pattern of addresses': '10.98.{}.*',
    'another script': '東京{}',
    'a sentence': 'the qzhost{} was closed by qzperson{}',
    'a url': 'https://qzuser:qzword@qz{}.example.org:9090/qzpath',
    'what is known, and more': 'up {}qzmark enabled: HTTP 503',
    'uppercase': 'QZ_{}',
    'a spec': 'hw:qz{}',
    'a trait': 'HW_QZ_{}',
}
QUERY = (
    "sum by (qzlabel, {}) (rate(node_cpu_seconds_total{{a='{}'}}[2m] "
    '# {}\n offset 5m)) * on (qzon{}) {} {{b=~"{}|10.97.*", c!=`{}`}} @ {}'
)
NAMES = itertools.count(100)


class Marks:
    """Marks for texts, and what must not be found of them.

    :param is_same: whether equal texts get the same mark
    """

    def __init__(self, form: str, is_same: bool) -> None:
        self._form = FORMS[form]
        self._is_same = is_same
        self._known: dict[str, str] = {}
        self.planted: list[str] = ['10.97.', 'qz', 'Qz', 'QZ', '東京']

    def mark(self, was: str) -> str:
        if self._is_same and was in self._known:
            return self._known[was]
        number = next(NAMES)
        mark = self._form.replace('{}', str(number))
        self._known[was] = mark
        self.planted.append(mark)
        return mark

    def policy(self, was: Policy) -> Policy:
        new: dict[str, Any] = {'name': f'qz{next(NAMES)}'}
        for field in ('host_label', 'vm_profile_label'):
            new[field] = self.mark(getattr(was, field))
        for field in type(was).model_fields:
            if field.endswith('_query') and getattr(was, field):
                new[field] = self.query(getattr(was, field))
        return was.model_copy(update=new)

    def query(self, was: str) -> str:
        if f'query {was}' not in self._known:
            mark = self.mark(f'in {was}')
            number = f'qz{next(NAMES)}'
            self._known[f'query {was}'] = QUERY.format(
                number, mark, mark, number, number, mark, mark, number
            ).strip()
        return self._known[f'query {was}']

    def planted_in(self, one: Any) -> Any:
        """A copy with a mark for each text."""
        if isinstance(one, enum.Enum) or one is None:
            return one
        if isinstance(one, str):
            return self.mark(one)
        if isinstance(one, Policy):
            return self.policy(one)
        if isinstance(one, dict):
            return {
                self._key(key): self.planted_in(value)
                for key, value in one.items()
            }
        if isinstance(one, list | tuple):
            return type(one)(self.planted_in(inner) for inner in one)
        if dataclasses.is_dataclass(one) and not isinstance(one, type):
            return dataclasses.replace(
                one,
                **{
                    field.name: self.planted_in(getattr(one, field.name))
                    for field in dataclasses.fields(one)
                },
            )
        assert isinstance(one, bool | int | float), one
        return one

    def _key(self, key: Any) -> Any:
        return key if isinstance(key, tuple) else self.planted_in(key)


def marked(was: Recording, marks: Marks) -> Recording:
    """The recording, and the answers to the queries as they are now."""
    labels = dict(
        itertools.chain.from_iterable(
            (
                (one.host_label, marks.mark(one.host_label)),
                (one.vm_profile_label, marks.mark(one.vm_profile_label)),
            )
            for one in was.policies
        )
    )
    found: Recording = marks.planted_in(was)
    found.answers = {
        (marks.query(query), labels[label]): dataclasses.replace(
            marks.planted_in(reading), query=marks.query(query)
        )
        for (query, label), reading in was.answers.items()
    }
    found.policies = [
        one.model_copy(
            update={
                'host_label': labels[old.host_label],
                'vm_profile_label': labels[old.vm_profile_label],
            }
        )
        for old, one in zip(was.policies, found.policies, strict=True)
    ]
    return found


def texts(one: Any) -> Iterator[str]:
    """Every text that is somewhere in it."""
    if isinstance(one, str):
        yield one
    elif isinstance(one, dict):
        for key, value in one.items():
            yield from texts(key)
            yield from texts(value)
    elif isinstance(one, list | tuple):
        for inner in one:
            yield from texts(inner)
    elif isinstance(one, pydantic.BaseModel):
        yield from texts(list(one.model_dump().values()))
    elif dataclasses.is_dataclass(one) and not isinstance(one, type):
        for field in dataclasses.fields(one):
            yield from texts(getattr(one, field.name))


def full() -> Recording:
    """With something in each list and mapping of a recording."""
    found = recordings.small(
        request=ScopeRequest(
            ['a', 'b'],
            False,
            ['nova'],
            ['a1'],
            ['b'],
            ['u1'],
            ['p'],
            [{'tier': 'web'}],
        ),
        unknown=['something is not known'],
    )
    found.seeds.aggregate_cooldowns['a'] = 5.0
    gathered = found.gathered
    first = gathered.instances[0]
    first.tags = ['a tag']
    first.unmovable = first.task_state = 'a reason'
    first.pinned_availability_zone = 'nova'
    first.extra_specs = {'hw:cpu_policy': 'dedicated', 'acme:rack': '7'}
    for host in gathered.cloud.hosts.values():
        host.closed = host.frozen = host.cell = 'a word'
    gathered.exclusions_unknown = 'a sentence'
    for service in (gathered.services or {}).values():
        service.disabled_reason = service.zone = 'a person'
    for event in gathered.events:
        event.plan = event.status = event.scope = event.error_type = 'b'
        event.fault = 'c'
    for reading in found.answers.values():
        reading.error = reading.incomplete = 'it said no'
        reading.unlabelled_series = 'up{a="b"}'
        for sample in reading.samples:
            sample.series = '{a="b"}'
    for settings in (found.settings, found.configured):
        assert settings is not None
        settings.drain_hosts = ['a1']
        settings.allowed_extra_specs = ['hw:*', 'acme:rack=7', 'acme:*']
    return found


class TestMarks(base.BaseTestCase):
    def check_none(
        self, now: Recording, planted: list[str], of: Callable[[], str]
    ) -> None:
        found = [*texts(now)]
        for name, text in writer.files(now).items():
            found.append(text)
            if name.endswith('.json'):
                found += texts(json.loads(text))
        whole = '\n'.join(found)
        for mark in planted:
            self.assertNotIn(mark, whole, of())

    def test_no_mark_is_left(self) -> None:
        """Whatever is written into whatever text field."""
        seen: set[str] = set()

        @FUZZED
        @hypothesis.given(st.sampled_from(sorted(FORMS)), st.booleans())
        @hypothesis.example('a word', True)
        @hypothesis.example('another script', False)
        def check(form: str, is_same: bool) -> None:
            marks = Marks(form, is_same)
            was = marked(full(), marks)
            now = anonymizer.anonymized(was)
            self.check_none(now, marks.planted, lambda: form)
            self.assertTrue(now.anonymized)
            seen.add(form)

        check()
        self.assertIn('a word', seen)

    def test_every_text_is_marked(self) -> None:
        """So that a field which comes later is looked at, too."""
        was = marked(full(), Marks('a word', True))
        kept = {text for text in texts(was) if 'qz' not in text and text}
        modes = {'spread', 'nova_instance_uuid', 'nova_internal_name', 'skip'}
        enums = {'watcher', 'nova', 'failed', 'moved', 'healthy', 'exact'}
        enums |= {'warn', 'variance', 'veto', 'safe', 'greedy', 'step', 'open'}
        enums |= {'ignored', 'honour', 'off'}
        self.assertEqual(set(), kept - modes - enums)

    def test_it_is_read_again(self) -> None:
        """Policies with other names and labels, and their answers."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'x')
        now = anonymizer.anonymized(marked(full(), Marks('a word', True)))
        load.write(str(folder), now)
        self.assertEqual(now.policies, load.read(str(folder)).policies)

    def test_what_is_known_stays(self) -> None:
        """The sample policies say nothing of a cloud but their comments."""
        was = recordings.small(
            strategy='kronos_pack', made_by='kronos-watcher 1.2.3.dev45'
        )
        was.gathered.instances[0].extra_specs = {
            'hw:cpu_policy': 'dedicated',
            'hw:numa_mem.0': '2048',
            'resources2:CUSTOM_RACK': '1',
            'trait:HW_CPU_X86_AVX2': 'required',
        }
        now = anonymizer.anonymized(was)
        self.assertEqual('kronos_pack', now.strategy)
        self.assertEqual(was.made_by, now.made_by)
        self.assertEqual(
            ['cpu', 'ram', 'net'], [one.name for one in now.policies]
        )
        self.assertEqual(
            {
                'hw:cpu_policy': 'dedicated',
                'hw:numa_mem.0': '2048',
                'resources2:CUSTOM_NAME_001': '1',
                'trait:HW_CPU_X86_AVX2': 'required',
            },
            now.gathered.instances[0].extra_specs,
        )
        for host in now.gathered.cloud.hosts.values():
            self.assertEqual(['COMPUTE_NODE'], host.traits)
            self.assertEqual({'VCPU', 'MEMORY_MB'}, set(host.headroom or ()))

    def test_faults(self) -> None:
        """Planning asks of each whether it quarantines a server."""
        was = recordings.small()
        event = was.gathered.events[0]
        for code, kind, expected in (
            ('group_rule', 'PreFlightError', ('group_rule', 'PreFlightError')),
            ('qz', 'MigrationFailed', ('', 'MigrationFailed')),
            ('', 'QzError', ('', 'unknown')),
        ):
            event.fault, event.error_type = code, kind
            now = anonymizer.anonymized(was).gathered.events[0]
            self.assertEqual(expected, (now.fault, now.error_type))
            self.assertEqual(quarantine.fault(event), quarantine.fault(now))


class TestTexts(base.BaseTestCase):
    def told(self, text: str) -> str:
        was = recordings.small(unknown=[text])
        return anonymizer.anonymized(was).unknown[0]

    def test_own_words(self) -> None:
        """What of a warning is Kronos' own says what is lacking."""
        text = 'the recording does not contain its time'
        self.assertEqual(text, self.told(text))
        self.assertEqual(
            'the headroom of the hosts is not known; Placement; HTTP 503; the '
            'rest is not told',
            self.told(
                'Placement at https://10.1.2.3 said HTTP 503: qz; the '
                'headroom of the hosts is not known'
            ),
        )
        self.assertEqual('the rest is not told', self.told('web-1 is acme'))
