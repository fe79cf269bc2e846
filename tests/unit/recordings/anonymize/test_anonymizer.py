# SPDX-License-Identifier: Apache-2.0
"""Is nothing called as it was, and the plan the same?

``KRONOS_FUZZ`` is the number of examples.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
from collections.abc import Iterator
from typing import Any

import fixtures
import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.common.exceptions import KronosException
from kronos.engine.settings import HostMatch
from kronos.engine.types import (
    Disruption,
    EffectRatio,
    Instance,
    MigrationStep,
    Reading,
    Snapshot,
)
from kronos.policies import loader, models
from kronos.policies.models import LabelType, Policy
from kronos.recordings import examples, load, writer
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.recordings.replay import ReplayOptions, replay
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest
from tests.builders import recordings
from tests.unit.engine.planning import test_properties

FUZZED = hypothesis.settings(
    test_properties.FAST,
    max_examples=int(os.environ.get('KRONOS_FUZZ', '60')),
)
PORTS = ('', ':9100', ':65535')


class Naming:
    """Gives a drawn cloud names that say where it is from."""

    def __init__(self, rng: random.Random, is_short: bool) -> None:
        self._rng = rng
        self._is_short = is_short
        self._addresses = rng.random() < 0.2
        self._kind = rng.choice(list(LabelType))
        self.given: dict[str, str] = {}
        """New name to what must not be found of it."""

    def host(self, name: str) -> str:
        number = int(re.sub(r'\D', '', name) or 0)
        if self._addresses:
            return self._give(f'172.29.{number}.77')
        if not self._is_short or number % 3 == 0:
            return self._give(f'Qz-node_{number}')
        found = f'Qz-node_{number}.{("rack", "attic")[number % 2]}.acme.qzlan'
        for part in found.split('.'):
            self._give(part)
        return self._give(found)

    def of_host(self, label: str) -> str:
        """What Prometheus calls it."""
        name = self.host(label)
        if not self._is_short:
            return name
        if not self._addresses and self._rng.random() < 0.5:
            name = name.partition('.')[0]
        return name + self._rng.choice(PORTS)

    def uuid(self, name: str) -> str:
        return self._give(f'qz5eed{name}') if name else ''

    def instance(self, one: Instance) -> Instance:
        return dataclasses.replace(
            one,
            uuid=self.uuid(one.uuid),
            host=self.host(one.host),
            name=self._give(f'shop {one.uuid} qzfront'),
            internal_name=self._give(f'qzvm-{one.uuid}'),
            project_id=self._give('qzproject'),
            metadata={'qzcolour': 'Qzred'} | one.metadata,
            extra_specs={'quota:cpu_shares': '7'} | one.extra_specs,
        )

    def of_instance(self, label: str) -> str:
        return {
            LabelType.NOVA_INSTANCE_UUID: f'qz5eed{label}',
            LabelType.NOVA_DISPLAY_NAME: f'shop {label} qzfront',
            LabelType.NOVA_INTERNAL_NAME: f'qzvm-{label}',
        }[self._kind]

    def policy(self, one: Policy) -> Policy:
        asked = {'vm_profile_label_type': self._kind}
        for row in models.QUERIES:
            if getattr(one, row.field) is not None:
                asked[row.field] = (
                    f'{row.file}_of_{one.name}{{cluster="qzcluster", '
                    'instance=~"Qz-node_.*", job="node"}'
                )
        self._give('qzcluster')
        self._give('Qz-node_')
        return one.model_copy(update=asked)

    def _give(self, name: str) -> str:
        self.given[name] = name
        return name


def recording(
    cloud: test_properties.Cloud, rng: random.Random
) -> tuple[Recording, list[str]]:
    """A drawn cloud as a recording, and the names that it has."""
    snapshot, policies, settings = cloud
    naming = Naming(rng, settings.host_match is HostMatch.SHORT)
    policies = [naming.policy(one) for one in policies]
    hosts = _hosts(snapshot, naming)
    found = Recording(
        CloudInventory(
            Cloud(
                hosts,
                {},
                [
                    HostAggregate(
                        1,
                        'qzaggregate',
                        naming.uuid('aggregate'),
                        list(hosts),
                        {'qzowner': 'Qzteam', 'kronos:cell': 'qzcell'},
                        'qzzone',
                    )
                ],
            ),
            {
                naming.host(name): dataclasses.replace(
                    one,
                    host=naming.host(name),
                    disabled_reason='Qzperson was here',
                )
                for name, one in (snapshot.services or {}).items()
            },
            [naming.instance(one) for one in snapshot.instances.values()],
            [
                dataclasses.replace(
                    one,
                    uuid=naming.uuid(one.uuid),
                    name='qzgroup',
                    members=[naming.uuid(uuid) for uuid in one.members],
                )
                for one in snapshot.groups
            ],
            [
                dataclasses.replace(
                    one,
                    instance=naming.uuid(one.instance),
                    source=naming.host(one.source),
                    destination=naming.host(one.destination),
                    scope='qzaggregate',
                    plan=naming.uuid('plan'),
                )
                for one in snapshot.events
            ],
            snapshot.taken_at,
            ['http://qzprometheus.acme.qzlan:9090 said no to "qzperson"'],
        ),
        policies,
        ScopeRequest(
            ['qzaggregate'], excluded_metadata=[{'qzcolour': 'QZBLUE'}]
        ),
        dataclasses.replace(
            settings,
            allowed_extra_specs=['quota:*'],
            drain_hosts=settings.drain_hosts
            and [naming.host(one) for one in settings.drain_hosts],
        ),
        _answers(snapshot, policies, naming),
        f'# of qzperson\n{loader.dump(policies)}',
        strategy='',
    )
    more = ['qzproject', 'qzaggregate', 'qzcolour', 'qzteam', 'qzowner']
    more += [
        'qzcell',
        'qzzone',
        'qzperson',
        'qzgroup',
        'qzprometheus',
        'qzred',
    ]
    return found, [*naming.given, *more, 'qz']


def _hosts(snapshot: Snapshot, naming: Naming) -> dict[str, Any]:
    found = [
        dataclasses.replace(
            host,
            name=naming.host(host.name),
            node=naming.host(host.name),
            availability_zone='qzzone',
            cell=host.cell and f'qzcell-{host.cell}',
            traits=['CUSTOM_QZTRAIT', 'COMPUTE_NODE'],
        )
        for host in snapshot.hosts.values()
    ]
    return {host.name: host for host in found}


def _answers(
    snapshot: Snapshot, policies: list[Policy], naming: Naming
) -> dict[tuple[str, str], Reading]:
    answers = {}
    for policy in policies:
        for row in models.QUERIES:
            was = getattr(snapshot.readings[policy.name], row.reading)
            query = getattr(policy, row.field)
            if was is None or query is None:
                continue
            rename = naming.of_host
            if row.label_type:
                rename = naming.of_instance
            samples = [
                dataclasses.replace(one, label=rename(one.label))
                for one in was.samples
            ]
            answers[query, getattr(policy, row.label)] = dataclasses.replace(
                was, query=query, samples=samples
            )
    return answers


class TestPlans(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.planned = 0
        self.useFixture(
            fixtures.MonkeyPatch(
                test_properties.ROUNDS, test_properties.FEW_ROUNDS
            )
        )

    def test_the_same_steps_and_no_name(self) -> None:
        """Whatever the cloud, its names and the form of its labels."""
        self.check()
        self.assertGreater(self.planned, 20)

    @FUZZED
    @hypothesis.given(
        test_properties.clouds(),
        st.integers(0, 2**32),
        st.sampled_from(list(HostMatch)),
    )
    def check(
        self, cloud: test_properties.Cloud, seed: int, how: HostMatch
    ) -> None:
        snapshot, policies, settings = cloud
        settings = dataclasses.replace(settings, host_match=how)
        was, names = recording(
            (snapshot, policies, settings), random.Random(seed)
        )
        now = anonymizer.anonymized(was)
        hosts = dict(
            zip(
                was.gathered.cloud.hosts, now.gathered.cloud.hosts, strict=True
            )
        )
        uuids = {
            old.uuid: new.uuid
            for old, new in zip(
                was.gathered.instances, now.gathered.instances, strict=True
            )
        }
        old, new = replay(was, ReplayOptions()), replay(now, ReplayOptions())
        self.assertEqual(
            [_renamed(one, hosts, uuids) for one in old.report.steps],
            [_renamed(one, None, None) for one in new.report.steps],
        )
        self.assertEqual(old.parents, new.parents)
        self.assertEqual(
            [one.stopped for one in old.report.scopes],
            [one.stopped for one in new.report.scopes],
        )
        self.planned += len(old.report.steps)
        for file, text in writer.files(now).items():
            for name in names:
                self.assertNotIn(name.lower(), text.lower(), file)


def _renamed(step: MigrationStep, hosts: Any, uuids: Any) -> tuple[Any, ...]:
    """What must be equal of a step, in the new names."""
    ends = [step.source, step.destination]
    return (
        step.phase,
        uuids[step.instance] if uuids else step.instance,
        *([hosts[one] for one in ends] if hosts else ends),
        uuids.get(step.requires, '') if uuids else step.requires,
        step.memory_mb,
        step.imbalance_before,
        step.imbalance_after,
    )


class TestAnonymized(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.was = recordings.with_names()

    def test_it_is_read_again(self) -> None:
        """What is written is a recording like any other."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'x')
        now = anonymizer.anonymized(self.was)
        load.write(str(folder), now)
        found = load.read(str(folder))
        self.assertTrue(found.anonymized)
        self.assertEqual(now.gathered, found.gathered)
        self.assertEqual(now.request, found.request)
        self.assertEqual(now.seeds, found.seeds)

    def test_effects_by_the_new_names(self) -> None:
        """The ratio of a policy stays with it."""
        was = recordings.small()
        was.policies[0].name = 'zebra'
        was.gathered.effects = {
            'a': [EffectRatio('zebra', 0.4, 3), EffectRatio('ram', 0.9, 3)]
        }
        now = anonymizer.anonymized(was)
        renamed = now.policies[0].name
        self.assertNotEqual('zebra', renamed)
        snapshot = now.snapshots()[0]
        self.assertEqual(
            {renamed: 0.4, 'ram': 0.9},
            {each.policy: each.ratio for each in snapshot.effects},
        )

    def test_budgets(self) -> None:
        """What is used stays with the new name of its project."""
        server = self.was.gathered.instances[0]
        self.was.settings.project_budgets = {server.project_id: '1/60'}
        self.was.gathered.disruptions = [
            Disruption(server.uuid, server.project_id, 5.0),
            Disruption('deleted', 'elsewhere'),
        ]
        now = anonymizer.anonymized(self.was)
        first = now.gathered.instances[0]
        [used, deleted] = now.gathered.disruptions
        self.assertEqual(Disruption(first.uuid, first.project_id, 5.0), used)
        self.assertEqual(
            {first.project_id: '1/60'}, now.settings.project_budgets
        )
        self.assertNotIn('elsewhere', deleted.project)
        self.assertNotEqual('deleted', deleted.instance)

    def test_consent(self) -> None:
        """Its values plan as they did; others are names like any."""
        server = self.was.gathered.instances[0]
        server.metadata = {'kronos:consent': 'drain'}
        server.tags = ['kronos:consent:any', 'kronos:consent:Zebra']
        self.was.settings.consent_projects = [server.project_id]
        now = anonymizer.anonymized(self.was)
        copy = now.gathered.instances[0]
        self.assertEqual({'kronos:consent': 'drain'}, copy.metadata)
        self.assertEqual('kronos:consent:any', copy.tags[0])
        self.assertTrue(copy.tags[1].startswith('kronos:consent:'))
        self.assertNotIn('zebra', copy.tags[1].lower())
        self.assertEqual([copy.project_id], now.settings.consent_projects)

    def test_windows(self) -> None:
        """They hold as before; what is none may name anything."""
        night = 'Mon-Fri 22:00-05:30 Europe/Berlin'
        freeze = '2026-12-20/2027-01-06 UTC'
        self.was.settings.windows = [night, 'Zebra nights']
        self.was.settings.freezes = [freeze]
        self.was.settings.window_exempt = ['kronos_evacuate', 'zebra']
        aggregate = self.was.gathered.cloud.aggregates[0]
        aggregate.metadata = {
            'kronos:window': f'{night}; {night}',
            'kronos:freeze': 'when Zebra sleeps',
        }
        now = anonymizer.anonymized(self.was)
        self.assertEqual(night, now.settings.windows[0])
        self.assertEqual([freeze], now.settings.freezes)
        self.assertEqual('kronos_evacuate', now.settings.window_exempt[0])
        [metadata] = [
            each.metadata
            for each in now.gathered.cloud.aggregates
            if 'kronos:window' in each.metadata
        ]
        self.assertEqual(f'{night}; {night}', metadata['kronos:window'])
        texts = [
            metadata['kronos:freeze'],
            *now.settings.windows,
            *now.settings.window_exempt,
        ]
        self.assertNotIn('zebra', ' '.join(texts).lower())

    def test_equal_queries_stay_equal(self) -> None:
        """Two policies share one; two others only differ by a name."""
        rows = [
            one.model_copy(update={'imbalance_query': query})
            for one, query in zip(
                self.was.policies,
                ('up{host="a1"}', 'up{host="host-001"}', 'up{host="a1"}'),
                strict=True,
            )
        ]
        self.was.policies = rows
        self.was.policies_text = loader.dump(rows)
        now = anonymizer.anonymized(self.was)
        first, other, again = (one.imbalance_query for one in now.policies)
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertEqual(
            now.policies, loader.parse(now.policies_text, 'x').policies
        )


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The way to each text, and to what is empty, in a document."""
    if value and isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif value and isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    elif isinstance(value, str) or value in (None, [], {}):
        yield path


class TestStrange(base.BaseTestCase):
    """A name may be at one place alone, whatever is missing elsewhere."""

    NAME = 'strange'
    INSTEAD = (NAME, [NAME], {NAME: NAME}, {NAME: 60.0})

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_in_each_place(self) -> None:
        path = self.folder / 'cells'
        shutil.copytree(examples.located('examples/cells'), path)
        files = sorted(path.rglob('*.json'))
        found = sum(self.spoilt(path, file) for file in files)
        self.assertGreater(found, 80)

    def spoilt(self, folder: pathlib.Path, file: pathlib.Path) -> int:
        """How many places of a file can have a strange name."""
        text, seen, found = file.read_text(), set(), 0
        for path in leaves(json.loads(text)):
            place = tuple(key for key in path if isinstance(key, str))
            if place in seen:
                continue
            seen.add(place)
            for value in self.INSTEAD:
                document = json.loads(text)
                part = document
                for key in path[:-1]:
                    part = part[key]
                if path:
                    part[path[-1]] = value
                file.write_text(json.dumps(document))
                with contextlib.suppress(KronosException):
                    recording = load.read(str(folder))
                    anonymizer.anonymized(recording)
                    found += 1
        file.write_text(text)
        return found
