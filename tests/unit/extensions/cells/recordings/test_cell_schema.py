# SPDX-License-Identifier: Apache-2.0
"""Is all that a cell drain needs written down, and read again?"""

import dataclasses
from typing import Any

import fixtures
from oslotest import base

from kronos.common.exceptions import ArchiveError
from kronos.engine.types import Flavor
from kronos.extensions.cells.cell_drain import (
    NAME,
    CellMove,
    CellNeeds,
    Confirm,
    CrossCellPolicy,
    ForeignMove,
    OffloadedServer,
    UnfinishedMove,
    needs_of,
)
from kronos.extensions.cells.extension import Cells
from kronos.extensions.cells.readings.cell_hosts import CellScope
from kronos.extensions.cells.recordings import cell_schema, part
from kronos.recordings import load, reader, schema, writer
from kronos.snapshots.scopes import ScopeRequest
from tests.builders import recordings
from tests.unit.recordings.test_meta_schema import DRAIN

NEEDS = CellNeeds(
    {'m1': Flavor('1', 'm1', 2, 2048, 20, 5, 512, {'hw:x': 'y'})},
    {'p': {'cores': 3}},
    [OffloadedServer('u9', 'shelf')],
    [
        UnfinishedMove(
            'act7',
            'uuid7',
            'web',
            'far1',
            'VERIFY_RESIZE',
            'far0',
            'far1',
            CellMove(
                'old', 'wide', 'm1', 'm9', 'aisle1', 'aisle2', 'id9', True
            ),
            ['wide', 'broad'],
            Confirm.MANUAL,
            'plan7',
            True,
            True,
        )
    ],
    [ForeignMove('uuid8', 'data8', 'far2', 'far3', 'high')],
)


def recording(**more: Any) -> Any:
    found = recordings.small(
        request=ScopeRequest(chosen=CellScope('old', ['new'])), **more
    )
    hosts = found.gathered.cloud.hosts.values()
    for number, host in enumerate(hosts):
        host.cell = 'new' if number else 'old'
    found.gathered.beside[NAME] = NEEDS
    found.gathered.instances[0].flavor = 'm1'
    found.settings.extension = Cells(
        dataclasses.replace(
            DRAIN, hosts=None, flavor_map={'m1': 'same', '*': 'm1'}
        )
    )
    return found


class TestRows(base.BaseTestCase):
    def test_keys(self) -> None:
        row = schema.copied(NEEDS.flavors['m1'], cell_schema.FlavorRow)
        self.assertEqual(
            'id name vcpus memory_mb root_gb ephemeral_gb swap_mb extra_specs',
            ' '.join(vars(row)),
        )
        self.assertEqual(
            'source targets hosts flavor_map confirm order include_stopped '
            'unpin_az close_source',
            ' '.join(vars(schema.copied(DRAIN, cell_schema.CellDrainRow))),
        )

    def test_keys_of_moves(self) -> None:
        [move], [other] = NEEDS.unfinished, NEEDS.of_others
        self.assertEqual(
            'action instance host status source destination source_cell '
            'destination_cell source_flavor destination_flavor target_cells '
            'instance_name source_zone destination_zone '
            'destination_flavor_id unpins confirm plan has_ended is_second',
            ' '.join(vars(cell_schema.UnfinishedRow.of(move))),
        )
        self.assertEqual(
            'instance source destination source_cell instance_name',
            ' '.join(vars(schema.copied(other, cell_schema.ForeignRow))),
        )

    def test_nothing_is_lost(self) -> None:
        self.assertEqual(NEEDS, cell_schema.CellsFile.of(NEEDS).needs())


class TestFile(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = self.useFixture(fixtures.TempDir())
        self.place = folder.join('recording')

    def test_written_and_read(self) -> None:
        was = recording()
        writer.write(self.place, was)
        now = load.read(self.place)
        self.assertEqual(NEEDS, needs_of(now.gathered))
        self.assertEqual(was.request, now.request)
        self.assertEqual(was.settings, now.settings)
        [snapshot] = now.snapshots()
        self.assertEqual('old -> new', snapshot.scope)
        self.assertEqual(NEEDS.flavors, needs_of(snapshot).flavors)
        self.assertEqual(NEEDS.offloaded, needs_of(snapshot).offloaded)
        self.assertEqual(NEEDS.unfinished, needs_of(snapshot).unfinished)
        self.assertEqual(NEEDS.of_others, needs_of(snapshot).of_others)

    def test_what_nova_keeps_servers_from(self) -> None:
        """Of the cloud and of a server; without it nothing is written."""
        was = recording()
        for key in cell_schema.OF_NOVA:
            self.assertNotIn(key, writer.files(was)[part.FILE])
        was.gathered.beside[NAME] = dataclasses.replace(
            NEEDS, cell_policy=CrossCellPolicy.CLOSED, loses_keys=True
        )
        first = was.gathered.instances[0]
        first.has_key, first.tied_port = True, 'an accelerator'
        writer.write(self.place, was)
        found = load.read(self.place).gathered
        self.assertIs(CrossCellPolicy.CLOSED, needs_of(found).cell_policy)
        self.assertTrue(needs_of(found).loses_keys)
        self.assertEqual(
            [(True, 'an accelerator')],
            [
                (one.has_key, one.tied_port)
                for one in found.instances
                if one.uuid == first.uuid
            ],
        )

    def test_an_older_recording(self) -> None:
        """It knows of no moves that are not over."""
        was = recording()
        was.gathered.beside[NAME] = dataclasses.replace(
            NEEDS, unfinished=[], of_others=[]
        )
        files = writer.files(was)
        for key in cell_schema.OF_MOVES:
            self.assertNotIn(key, files[part.FILE])
        writer.write(self.place, was)
        found = needs_of(load.read(self.place).gathered)
        self.assertEqual(([], []), (found.unfinished, found.of_others))

    def test_without_a_cell_drain(self) -> None:
        """There is no such file, and nobody misses it."""
        files = writer.files(recordings.small())
        self.assertNotIn(part.FILE, files)
        self.assertNotIn('cells', files[reader.META])
        self.assertNotIn('cell_drain', files[reader.META])

    def test_wrong(self) -> None:
        for text, told in (
            ('{}', 'flavors'),
            ('{"flavors": [], "offloaded": [{"uuid": "u"}, {"uuid": "u"}]}',
             'offloaded[1].uuid: u is there twice'),
            ('{"flavors": [], "of_others": [{"instance": "u"}]}', 'source'),
            ('{"flavors": [{"id": "1", "name": "a", "vcpus": "x",'
             ' "memory_mb": 1}]}', 'vcpus'),
        ):  # fmt: skip
            writer.write(self.place, recording(), replace=True)
            with open(f'{self.place}/{part.FILE}', 'w') as file:
                file.write(text)
            error = self.assertRaises(ArchiveError, load.read, self.place)
            self.assertIn(part.FILE, str(error))
            self.assertIn(told, str(error))
