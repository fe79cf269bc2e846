# SPDX-License-Identifier: Apache-2.0
"""Do the arrays hold what the pieces and the whereabouts say?"""

import pathlib
import shutil
from typing import Any

import fixtures
import numpy as np
from oslotest import base

from kronos.common.exceptions import ArchiveError
from kronos.policies.models import LabelType
from kronos.recordings.recording import Recording
from kronos.simulate import load_schema
from kronos.simulate.fetch import assembly, workplace
from kronos.simulate.fetch.lives import Life, Stay
from kronos.simulate.fetch.ranges import Block
from kronos.simulate.fetch.workplace import Plan, PolicyPlan, Wish, Workplace
from kronos.simulate.load_schema import ServerRow
from tests.unit.simulate.fetch import fetching

NAN = np.nan
CPU = PolicyPlan('cpu', 'u', 'uuid', 'h', 'host', 'now', 'now')


def life(name: str, host: str, **more: Any) -> Life:
    row = ServerRow(f'u-{name}', f'n-{name}', internal_name=f'i-{name}')
    for key, value in more.items():
        setattr(row, key, value)
    return Life(row, [Stay(host)])


class AssemblyTestCase(base.BaseTestCase):
    """Two ticks of 300 s; hosts h0 to h3 of 10 cores."""

    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.target = folder / 'load'
        self.recording: Recording = fetching.recording()
        self.lives = [life('a', 'h0'), life('b', 'h0'), life('c', 'h1')]
        wish = Wish(600.0, 300, {}, '')
        self.plan = Plan(workplace.FORMAT_VERSION, 1000.0, 300, 2, [CPU], wish)

    def write(self, usage: dict[str, Any], hosts: dict[str, Any]) -> list[str]:
        shutil.rmtree(self.target, ignore_errors=True)
        self.place = Workplace(str(self.target))
        self.target.mkdir()
        self.place.begin(self.plan, self.recording, self.lives)
        for kind, table in (('usage', usage), ('hosts', hosts)):
            values = np.array(list(table.values()), np.float32)
            values = values.reshape(-1, 2).T
            self.place.write(f'{kind}-cpu-00000', Block(list(table), values))
        self.own = assembly.columns(self.plan, self.recording, self.lives)
        work = assembly.PolicyAssembly(
            self.place, self.plan, CPU, self.recording, self.own
        )
        return work.write('cpu')

    def array(self, name: str) -> Any:
        return np.load(self.target / name, allow_pickle=False)

    def assert_is(self, name: str, *rows: Any) -> None:
        np.testing.assert_allclose(
            np.array(rows, np.float32), self.array(name), rtol=1e-6
        )


class TestPolicy(AssemblyTestCase):
    def test_usage(self) -> None:
        """What is negative or infinite is no usage; strangers are left out."""
        self.write(
            {'u-b': [1, 2], 'u-a': [-1, np.inf], 'u-x': [9, 9]}, {'h0': [1, 1]}
        )
        self.assert_is('usage-cpu.npy', [NAN, 1, NAN], [NAN, 2, NAN])

    def test_usage_of_one_that_is_not_there(self) -> None:
        """A series outlives its server by some minutes."""
        self.lives[0].server.gone = 1200.0
        self.write({'u-a': [1, 1]}, {'h0': [0.1, 0.1]})
        self.assert_is('usage-cpu.npy', [1, NAN, NAN], [NAN, NAN, NAN])
        self.assert_is(
            'remainder-cpu.npy', [0, NAN, NAN, NAN], [1, NAN, NAN, NAN]
        )

    def test_remainder(self) -> None:
        """It may be below 0; without a reading nobody knows it."""
        self.write(
            {'u-a': [1, 2], 'u-b': [3, 3], 'u-c': [1, 1]},
            {'h0': [0.5, 0.5], 'h1': [0.05, 1.5], 'h9': [1, 1]},
        )
        self.assert_is(
            'remainder-cpu.npy', [1, -0.5, NAN, NAN], [0, NAN, NAN, NAN]
        )

    def test_names(self) -> None:
        """Whatever label the policy has; of two servers nobody knows it."""
        [policy] = self.recording.policies
        for kind, prefix in (
            (LabelType.NOVA_INTERNAL_NAME, 'i'),
            (LabelType.NOVA_DISPLAY_NAME, 'n'),
            (LabelType.NOVA_INSTANCE_UUID, 'u'),
        ):
            policy.vm_profile_label_type = kind
            self.write({f'{prefix}-b': [1, 2], f'{prefix}-c': [3, 4]}, {})
            self.assert_is('usage-cpu.npy', [NAN, 1, 3], [NAN, 2, 4])
        policy.vm_profile_label_type = LabelType.NOVA_DISPLAY_NAME
        self.lives[0].server.name = 'n-b'
        limits = self.write({'n-b': [1, 2], 'n-c': [3, 4]}, {})
        self.assert_is('usage-cpu.npy', [NAN, NAN, 3], [NAN, NAN, 4])
        self.assertIn('1 name is that of several servers', ' '.join(limits))

    def test_capacity(self) -> None:
        [policy] = self.recording.policies
        [reading] = self.recording.answers.values()
        reading.samples[1].value = 0.0
        del reading.samples[3]
        self.write({}, {})
        self.assertEqual(
            ['10.0', 'nan', '10.0', 'nan'],
            [str(value) for value in self.array('capacity-cpu.npy').tolist()],
        )
        policy.host_capacity_query = None
        self.write({}, {})
        self.assertEqual([1.0] * 4, self.array('capacity-cpu.npy').tolist())

    def test_a_piece_is_missing(self) -> None:
        self.write({}, {})
        path = self.target / 'fetch' / 'pieces' / 'hosts-cpu-00000.npz'
        path.unlink()
        work = assembly.PolicyAssembly(
            self.place, self.plan, CPU, self.recording, self.own
        )
        error = self.assertRaises(ArchiveError, work.write, 'cpu')
        self.assertIn('it is missing or broken', str(error))


class TestColumns(AssemblyTestCase):
    def test_servers_that_are_on_no_host(self) -> None:
        self.lives += [
            life('elsewhere', 'z'),
            life('short', 'h0', born=1301.0, gone=1302.0),
        ]
        self.write({}, {})
        self.assertEqual(
            ['u-a', 'u-b', 'u-c'], [one.server.uuid for one in self.own.lives]
        )
        assembly.write_placement(self.place, self.plan, self.own)
        self.assert_is(load_schema.PLACEMENT, [0, 0, 1], [0, 0, 1])
