# SPDX-License-Identifier: Apache-2.0
"""What does a scope know of what is beside it?"""

import dataclasses
import pathlib

import fixtures
from oslotest import base

from kronos.clients.prometheus import response
from kronos.engine.types import Sample
from kronos.policies import loader
from kronos.policies.models import LabelType
from kronos.recordings import load
from kronos.recordings.anonymize import anonymizer
from kronos.recordings.recording import Recording
from kronos.recordings.replay import ReplayOptions, replay
from kronos.snapshots import cloud
from kronos.snapshots.scopes import ScopeRequest
from tests.builders import recordings


class TestNames(base.BaseTestCase):
    def test_those_that_others_have(self) -> None:
        was = recordings.small().gathered
        uuids = {one.uuid: one for one in was.instances}
        uuids['u0'].name = uuids['u5'].name = 'of a and b'
        uuids['u1'].name = uuids['u2'].name = 'of a'
        uuids['u1'].internal_name = uuids['u6'].internal_name = 'cells'
        uuids['u3'].name = uuids['u7'].name = ''
        found = cloud.cut(was, ScopeRequest(['a', 'b'], True), {})
        self.assertEqual(
            [{'of a and b'}, {'of a and b'}, set()],
            [one.display_names_elsewhere for one in found],
        )
        self.assertEqual(
            [{'cells'}, {'cells'}, set()],
            [one.internal_names_elsewhere for one in found],
        )
        self.assertEqual(
            {'of a and b', 'of a', 'cells'}, cloud.repeated(was.instances)
        )


class TestRecordings(base.BaseTestCase):
    """A plan that hangs on the hosts of series is the same again."""

    def recording(self) -> Recording:
        was = recordings.small(request=ScopeRequest(['a']))
        for one in was.gathered.instances:
            # Two of a1 are known, and each is somewhere else as well.
            one.name = {'u0': 'x', 'u5': 'x', 'u1': 'y', 'u6': 'y'}.get(
                one.uuid, one.uuid
            )
        was.policies = [
            policy.model_copy(
                update={'vm_profile_label_type': LabelType.NOVA_DISPLAY_NAME}
            )
            for policy in was.policies
        ]
        was.policies_text = loader.dump(was.policies)
        for (query, label), reading in was.answers.items():
            if query.endswith('_of_vm'):
                was.answers[query, label] = dataclasses.replace(
                    reading, samples=[*self.samples(was)]
                )
        return was

    def samples(self, was: Recording) -> list[Sample]:
        return [
            Sample(
                one.name,
                0.05,
                recordings.NOW - 3,
                response.text_of(
                    {'name': one.name, 'host': one.host, 'owner': 'qz'}
                ),
            )
            for one in was.gathered.instances
        ]

    def steps(self, found: Recording) -> list[tuple[str, str]]:
        steps = replay(found, ReplayOptions()).report.steps
        return [(one.instance[-1], one.destination[-1]) for one in steps]

    def test_written_and_read(self) -> None:
        was = self.recording()
        expected = self.steps(was)
        self.assertEqual({'0', '1'}, {uuid for uuid, _ in expected[:2]})
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        load.write(str(folder / 'own'), was)
        self.assertEqual(expected, self.steps(load.read(str(folder / 'own'))))
        now = anonymizer.anonymized(was)
        load.write(str(folder / 'other'), now)
        again = self.steps(load.read(str(folder / 'other')))
        self.assertEqual(
            [destination for _, destination in expected],
            [destination for _, destination in again],
        )
        self.assertEqual(len(expected), len(again))
        for path in (folder / 'other').glob('prometheus/*'):
            self.assertNotIn('qz', path.read_text())
