# SPDX-License-Identifier: Apache-2.0
"""The commands that Kronos shows put right what they are shown for."""

import argparse
import contextlib
import io
import shlex
from typing import Any

from nova import context, objects
from nova.cmd import manage

from kronos.common import shell_commands
from kronos.common.shell_commands import ShellCommand
from kronos.engine.eligibility import allocations
from kronos.engine.faults import TABLE, Fault
from kronos.engine.types import Event, Origin, Outcome
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.past import lasting_faults
from kronos.snapshots.scopes import Cloud
from tests.functional.nova import base

DONE, NOTHING_TO_DO = 0, 4
"""Exit statuses of heal_allocations."""


class CommandTestCase(base.NovaTestCase):
    def nova_manage(self, command: str) -> tuple[Any, str]:
        """Give a command; its exit status, and what it prints."""
        program, category, action, *words = shlex.split(command)
        self.assertEqual('nova-manage', program)
        kind = manage.CATEGORIES[category]
        method = getattr(kind(), action)
        parser = argparse.ArgumentParser()
        for names, options in getattr(method, 'args', ()):
            parser.add_argument(*names, **options)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            status = method(**vars(parser.parse_args(words)))
        return status, shown.getvalue()


class TestAllocations(CommandTestCase):
    """Nova never puts right what it has left in Placement."""

    def setUp(self) -> None:
        super().setUp()
        self.uuid = self.boot('host1')['id']
        self.other = self.boot('host3')['id']

    def hold(self, *hosts: str) -> None:
        """Let Placement hold the server on these hosts alone."""
        path = f'/allocations/{self.uuid}'
        body = self.placement.get(path, version='1.28').body
        [held] = body['allocations'].values()
        body['allocations'] = {
            self._get_provider_uuid_by_host(host): {
                'resources': held['resources']
            }
            for host in hosts
        }
        done = self.placement.put(path, body, version='1.28')
        self.assertEqual(204, done.status, done.body)

    def refusal(self) -> str:
        """Why a move of it is refused; '' if it is not."""
        host = self.nova.get_compute_host('host1')
        assert host is not None
        held_on = self.placement_client.nodes_of(self.uuid)
        return allocations.why_not(self.uuid, host.node, held_on) or ''

    def misallocated(self) -> list[str] | None:
        """What the next audits see after a move was refused."""
        failed = Event(
            self.uuid,
            'host1',
            'host2',
            Outcome.FAILED,
            1.0,
            Origin.WATCHER,
            fault=Fault.INSTANCE_ALLOCATIONS,
        )
        hosts = {one.name: one for one in self.nova.list_compute_hosts()}
        instances = self.nova.list_instances()
        gathered = CloudInventory(
            Cloud(hosts, {}, []), {}, instances, events=[failed]
        )
        lasting_faults.note(self.placement_client, gathered)
        [found] = [one for one in instances if one.uuid == self.uuid]
        return found.misallocated_on

    def is_healed(self) -> None:
        """By what the message says; the other server is left alone."""
        before = self.placement_client.allocations_of(self.other)
        [command] = shell_commands.IN_SENTENCE.findall(self.refusal())
        self.assertIsNotNone(self.misallocated())
        status, _ = self.nova_manage(command.strip('"'))
        self.assertEqual(DONE, status)
        self.assertEqual('', self.refusal())
        self.assertIsNone(self.misallocated())
        self.assertEqual({'host1'}, self.placement_client.nodes_of(self.uuid))
        self.assertEqual(
            before, self.placement_client.allocations_of(self.other)
        )

    def test_elsewhere(self) -> None:
        self.hold('host2')
        self.is_healed()

    def test_at_both_ends(self) -> None:
        self.hold('host1', 'host2')
        self.is_healed()

    def test_of_all_servers(self) -> None:
        """So that nobody shortens the command: that mends nothing."""
        self.hold('host2')
        status, _ = self.nova_manage('nova-manage placement heal_allocations')
        self.assertEqual(NOTHING_TO_DO, status)
        self.assertIn('host2 instead of host1', self.refusal())


class TestCells(CommandTestCase):
    def test_names(self) -> None:
        """They are those that the script for hidden copies takes."""
        _, shown = self.nova_manage(ShellCommand.LIST_CELLS)
        self.assertIn('cell1', shown)


class TestTask(CommandTestCase):
    def test_one_that_never_ends(self) -> None:
        """A service died, and a server keeps its task for ever."""
        uuid = self.boot('host1')['id']
        admin = context.get_admin_context()
        instance = objects.Instance.get_by_uuid(admin, uuid)
        instance.task_state = 'image_snapshot'
        instance.save()
        command = ShellCommand.SERVER_SET_ACTIVE
        self.assertIn(command.general, TABLE[Fault.INSTANCE_BUSY].remedy)
        words = shlex.split(command.of(server=uuid))
        self.assertEqual(
            ['openstack', 'server', 'set', '--state', 'active', uuid], words
        )
        # What the openstack client sends for it.
        self.api.api_post(
            f'/servers/{words[-1]}/action',
            {'os-resetState': {'state': words[-2]}},
            check_response_status=[202],
        )
        found = self.nova.get_instance(uuid)
        assert found is not None
        self.assertEqual(('ACTIVE', None), (found.status, found.task_state))
