# SPDX-License-Identifier: Apache-2.0
"""A cell is emptied and deleted, as the guide says.

==========  ======================================  =========================
Servers     What they are                           What becomes of them
==========  ======================================  =========================
off-1..3    stopped                                 leave, and stay stopped
small-1..2  of a flavor that is mapped              leave with the new one
plain-1..4  nothing special                         leave
pinned      pinned to the zone of the old cell      stays, until it is not
locked      locked                                  stays, until it is not
bound       in a group of the policy affinity       stays, until that is gone
==========  ======================================  =========================
"""

import pathlib
import subprocess
from typing import Any

import fixtures

from tests.lab import cells, replays
from tests.lab.cells import OLD_HOSTS

from labkit import layout, services  # isort: skip
from labkit.cells import choice, policy  # isort: skip

OFF = ('off-1', 'off-2', 'off-3')
MAPPED = ('small-1', 'small-2')
PLAIN = ('plain-1', 'plain-2', 'plain-3', 'plain-4')
FREE = (*OFF, *MAPPED, *PLAIN)
KEPT = {
    'pinned': 'is pinned to availability zone zone2',
    'locked': 'it is locked',
    'bound': 'it is in server group bound of the policy affinity',
}
"""Who stays at first, and words of why."""
ASKED = 'flavor_map=lab.tiny=lab.small,*=same close_source=true'
TOGETHER = 2
"""Moves at a time, by default."""


class TestDrain(cells.CellsTestCase):
    def test_twelve_servers(self):
        """One audit moves nine, a second one the rest; the cell is deleted."""
        self.addCleanup(self.bring_back)
        self.keep = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.configure(record_dir=self.keep, nova_policy_files=policy.FILE)
        self.build()
        before = {name: self.kept(name) for name in self.uuids}
        audit, plan, _ = self.drained(ASKED)
        moves = self.moves(plan)
        self.assertEqual(set(FREE), set(moves))
        self.assert_named(audit)
        self.assert_replayed(audit)
        self.assert_shown(moves['plain-1'])
        self.carried_out(plan)
        self.assert_once(*FREE)
        self.assertEqual(TOGETHER, self.most_at_a_time(FREE))
        self.set_free()
        audit, plan, _ = self.drained(ASKED)
        self.assert_replayed(audit)
        self.assertEqual(set(KEPT), set(self.moves(plan)))
        self.carried_out(plan)
        self.assert_once(*FREE, *KEPT)
        placed = self.cloud.placement()
        self.assertLessEqual(set(placed.values()), set(cells.NEW_HOSTS))
        self.assert_here(placed, *OFF)
        self.assert_kept(before)
        audit, _, actions = self.drained(ASKED)
        self.assertEqual([], actions)
        self.assertIn('cell cell2 is empty', self.report_text(audit))
        self.delete_cell()
        self.assert_here(placed, *OFF)

    def build(self) -> None:
        """Six servers on each host of the old cell."""
        self.flavor('lab.tiny', vcpus=1, ram=1024, disk=1)
        group = self.cloud.group('bound', 'affinity')
        more: dict[str, dict[str, Any]] = {
            **dict.fromkeys(MAPPED, {'flavor': 'lab.tiny'}),
            'pinned': {'zone': choice.ZONES[cells.OLD]},
            'bound': {'group': group},
        }
        names = [*FREE, *KEPT]
        self.boot_seen(
            self.one(name, OLD_HOSTS[at % 2], **more.get(name, {}))
            for at, name in enumerate(names)
        )
        self.stop_servers(*OFF)
        self.openstack(f'server lock {self.uuids["locked"]}')
        self.group = group

    def assert_named(self, audit: dict[str, Any]) -> None:
        """The report says of the others why they stay."""
        report = self.report(audit)
        names = {uuid: name for name, uuid in self.uuids.items()}
        stayed = {names[uuid]: why for uuid, why in report['stayed'].items()}
        self.assertEqual(set(KEPT), set(stayed))
        for name, words in KEPT.items():
            self.assertIn(words, stayed[name])
        self.assertIn('servers 12 -> 3, 3 stay', self.report_text(audit))

    def assert_replayed(self, audit: dict[str, Any]) -> None:
        """What the audit kept of the cloud leads to the same steps again."""
        [kept] = self.keep.glob(f'*-{audit["UUID"]}')
        planned = replays.planned(self.reports, audit)
        self.assertNotEqual([], planned)
        self.assertEqual(planned, replays.replayed(kept))

    def assert_shown(self, action: dict[str, Any]) -> None:
        """The client shows of an action where it goes from and to."""
        uuid = action['uuid']
        shown = self.openstack(f'optimize action show {uuid}')
        told = shown['Parameters']
        self.assertEqual(
            (cells.OLD, cells.NEW),
            (told['source_cell'], told['destination_cell']),
        )

    def report_text(self, audit: dict[str, Any]) -> str:
        """What the audit says of itself."""
        url = f'/v1/audits/{audit["UUID"]}'
        return str(self.cloud.watcher(url)['status_message'] or '')

    def set_free(self) -> None:
        """Do as the report says of those that stayed."""
        self.openstack(f'server unlock {self.uuids["locked"]}')
        answer = self.cloud.compute.put(
            f'/servers/{self.uuids["pinned"]}',
            json={'server': {'pinned_availability_zone': None}},
            microversion=cells.COMPUTE,
        )
        self.assertEqual(200, answer.status_code, answer.text)
        self.openstack(f'server group delete {self.group}')

    def assert_kept(self, before: dict[str, dict[str, Any]]) -> None:
        for name, was in before.items():
            now = self.kept(name)
            if name in MAPPED:
                self.assertEqual(
                    'lab.small', now['flavor']['original_name'], name
                )
            del was['flavor'], now['flavor']
            was['locked'] = False
            self.assertEqual(was, now, name)

    def delete_cell(self) -> None:
        """What an operator does when the last server has left."""
        archive = ('archive_deleted_rows', '--all-cells', '--until-complete')
        self.manage('db', *archive)
        for host in OLD_HOSTS:
            self.lab.stop(host)
        for row in self.cloud.services():
            if row['host'] in OLD_HOSTS:
                self.openstack(f'compute service delete {row["id"]}')
        listed = self.manage('cell_v2', 'list_cells')
        [uuid] = [
            row.split('|')[2].strip()
            for row in listed.splitlines()
            if row.split('|')[1:2] == [f' {cells.OLD} ']
        ]
        self.lab.stop(choice.CONDUCTOR)
        self.manage('cell_v2', 'delete_cell', '--cell_uuid', uuid)
        self.assertNotIn(cells.OLD, self.manage('cell_v2', 'list_cells'))

    def manage(self, *words: str) -> str:
        """Run nova-manage as an operator does; what it prints."""
        done = subprocess.run(
            [layout.program('nova-manage'), *services.nova_files(), *words],
            capture_output=True,
            text=True,
        )
        # 1 of the archiving: there were rows to archive.
        wanted = (0, 1) if words[0] == 'db' else (0,)
        self.assertIn(done.returncode, wanted, done.stdout + done.stderr)
        return done.stdout

    def bring_back(self) -> None:
        """Let the lab have its second cell again."""
        self.lab.down()
        self.lab.up()
