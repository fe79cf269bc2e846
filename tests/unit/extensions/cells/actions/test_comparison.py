# SPDX-License-Identifier: Apache-2.0
"""Is each loss of a server told, and nothing else?"""

import dataclasses
from typing import Any

from oslotest import base

from kronos.clients.nova.server_details import (
    Details,
    FlavorDetails,
    Port,
    Volume,
)
from kronos.extensions.cells.actions import comparison
from kronos.extensions.cells.actions.comparison import Amounts, ServerCheck
from kronos.extensions.cells.actions.parameters import CellMoveTask

CELLS = {'o1': 'old', 'o2': 'old', 'n1': 'new', 'n2': 'new', 'x1': 'third'}
SMALL = FlavorDetails('small', 1, 1024, 10)
LARGE = FlavorDetails('large', 2, 4096, 20)


def task(**more: Any) -> CellMoveTask:
    return CellMoveTask(
        **{
            'instance': 'vm',
            'source': 'o1',
            'destination': 'n1',
            'phase': 'cell_drain',
            'source_cell': 'old',
            'destination_cell': 'new',
            'target_cells': ['new', 'next'],
            'source_flavor': 'small',
            'destination_flavor': 'small',
            **more,
        }
    )


def details(**more: Any) -> Details:
    return Details(
        **{
            'uuid': 'vm',
            'name': 'one',
            'status': 'ACTIVE',
            'power_state': 1,
            'host': 'o1',
            'node': 'o1.example.org',
            'flavor': SMALL,
            'addresses': ['net 10.0.0.4 fixed', 'net 192.0.2.9 floating'],
            'ports': [Port('p1', 'fa:16:3e:00:00:01', 'net', ['10.0.0.4'])],
            'volumes': [Volume('v1', '/dev/vda', 'root', True)],
            'tags': ['a', 'b'],
            'metadata': {'k': 'digest'},
            'key_name': 'key',
            'image': 'image',
            'security_groups': ['default'],
            'held': {'o1.example.org': {'VCPU': 1, 'MEMORY_MB': 1024}},
            **more,
        }
    )


def arrived(**more: Any) -> Details:
    return details(
        **{
            'status': 'VERIFY_RESIZE',
            'host': 'n1',
            'node': 'n1.example.org',
            **more,
        }
    )


class TestCompare(base.BaseTestCase):
    def compare(self, now: Details, **more: Any) -> list[ServerCheck]:
        was = more.pop('was', None) or details()
        asked = more.pop('asked', ())
        return comparison.compare(task(**more), was, now, CELLS, asked)

    def fails(self, name: str, told: str, now: Details, **more: Any) -> None:
        """Just this check does; of all others it is told that they pass."""
        found = self.compare(now, **more)
        self.assertEqual(
            [ServerCheck(name, False, told)],
            [one for one in found if not one.ok],
        )

    def test_all_is_well(self) -> None:
        found = self.compare(arrived())
        self.assertEqual(
            {
                'cell': 'it is in new',
                'host': 'it is on n1',
                'flavor': 'its flavor is small',
                'power state': 'its power state is running',
                'addresses': 'addresses as before (2)',
                'ports': 'ports as before (1)',
                'volumes': 'volumes as before (1)',
                'attachments': 'each volume once',
                'tags': 'tags as before (2)',
                'metadata': 'metadata as before (1)',
                'key': 'its key is key',
                'image': 'its image is image',
                'security groups': 'security groups as before (1)',
            },
            {one.name: one.text for one in found if one.ok},
        )
        self.assertTrue(all(one.ok for one in found))

    def test_cell(self) -> None:
        self.fails(
            'cell',
            'it is in cell third instead of new',
            arrived(host='x1'),
            destination='x1',
        )
        self.fails(
            'cell',
            'Kronos cannot find the cell of y1',
            arrived(host='y1'),
            destination='y1',
        )

    def test_host(self) -> None:
        self.fails('host', 'it is on n2 instead of n1', arrived(host='n2'))

    def test_host_of_a_resize(self) -> None:
        """The planned one is a forecast; any target cell is right."""
        more = {'mode': 'resize', 'destination_flavor': 'large'}
        for host, told in (
            ('n1', 'it is on n1, as was forecast'),
            ('n2', 'it is on n2, not as was forecast'),
        ):
            now = arrived(host=host, flavor=LARGE)
            found = self.compare(now, **more)
            self.assertTrue(all(one.ok for one in found), found)
            self.assertIn(ServerCheck('host', True, told), found)
        now = arrived(host='x1', flavor=LARGE)
        self.fails(
            'cell', 'it is in cell third instead of new or next', now, **more
        )
        now = arrived(host='o1', flavor=LARGE)
        wrong = [one for one in self.compare(now, **more) if not one.ok]
        self.assertEqual(['cell', 'host'], [one.name for one in wrong])
        self.assertEqual('it is on o1 still', wrong[1].text)

    def test_flavor(self) -> None:
        self.fails(
            'flavor',
            'its flavor is large instead of small',
            arrived(flavor=LARGE),
        )

    def test_power_state(self) -> None:
        self.fails(
            'power state',
            'its power state is shut down instead of running',
            arrived(power_state=4),
        )
        was = details(status='SHUTOFF', power_state=4)
        found = self.compare(arrived(power_state=4), was=was)
        self.assertTrue(all(one.ok for one in found), found)
        self.fails(
            'power state',
            'its power state is running instead of shut down',
            arrived(),
            was=was,
        )

    def test_addresses(self) -> None:
        self.fails(
            'addresses',
            'addresses lost: net 192.0.2.9 floating',
            arrived(addresses=['net 10.0.0.4 fixed']),
        )
        self.fails(
            'addresses',
            'addresses lost: net 10.0.0.4 fixed, new: net 10.0.0.5 fixed',
            arrived(
                addresses=['net 10.0.0.5 fixed', 'net 192.0.2.9 floating']
            ),
        )

    def test_a_floating_address_that_came(self) -> None:
        """Somebody gave it meanwhile: nothing is lost."""
        now = arrived(
            addresses=[*details().addresses, 'net 192.0.2.10 floating']
        )
        self.assertTrue(all(one.ok for one in self.compare(now)))

    def test_ports(self) -> None:
        self.fails(
            'ports',
            'ports lost: p1 fa:16:3e:00:00:01 net 10.0.0.4',
            arrived(ports=[]),
        )
        now = arrived(ports=[Port('p1', 'fa:16:3e:00:00:02', 'net', [])])
        [wrong] = [one for one in self.compare(now) if not one.ok]
        self.assertIn('new: p1 fa:16:3e:00:00:02 net', wrong.text)

    def test_volumes(self) -> None:
        lost = 'volumes lost: v1 tag=root deleted-with-it'
        self.fails('volumes', lost, arrived(volumes=[]))
        now = arrived(volumes=[Volume('v1', '/dev/vda', '', True)])
        self.fails('volumes', f'{lost}, new: v1 deleted-with-it', now)

    def test_volumes_that_somebody_changed(self) -> None:
        now = arrived(volumes=[*details().volumes, Volume('v2')])
        self.fails('volumes', 'volumes new: v2', now)
        self.fails('volumes', 'volumes new: v2', now, asked={'detach_volume'})
        found = self.compare(now, asked={'attach_volume'})
        self.assertTrue(all(one.ok for one in found), found)
        found = self.compare(arrived(volumes=[]), asked={'detach_volume'})
        self.assertTrue(all(one.ok for one in found), found)
        self.assertIn(
            ServerCheck('volumes', True, 'somebody detached all'), found
        )
        self.fails(
            'volumes',
            'volumes lost: v1 tag=root deleted-with-it, new: v2',
            arrived(volumes=[Volume('v2')]),
            asked={'attach_volume'},
        )

    def test_attachments(self) -> None:
        now = arrived(volumes=details().volumes * 2)
        wrong = [one for one in self.compare(now) if not one.ok]
        self.assertEqual(['volumes', 'attachments'], [o.name for o in wrong])
        self.assertEqual('attached more than once: v1', wrong[1].text)

    def test_what_else_is_kept(self) -> None:
        for more, name, told in (
            ({'tags': ['a']}, 'tags', 'tags lost: b'),
            (
                {'metadata': {'k': 'other', 'n': 'x'}},
                'metadata',
                'metadata lost: k, new: k, n',
            ),
            ({'key_name': ''}, 'key', 'its key is none instead of key'),
            ({'image': 'i2'}, 'image', 'its image is i2 instead of image'),
            (
                {'security_groups': ['default', 'web']},
                'security groups',
                'security groups new: web',
            ),
        ):
            self.fails(name, told, arrived(**more))

    def test_all_that_fails_is_told(self) -> None:
        now = arrived(
            host='x1', flavor=LARGE, power_state=4, addresses=[], ports=[],
            volumes=[], tags=[], metadata={}, key_name='', image='',
            security_groups=[],
        )  # fmt: skip
        found = self.compare(now)
        # There is no volume left that could be there twice.
        self.assertEqual(
            ['attachments'], [one.name for one in found if one.ok]
        )


class TestReturn(base.BaseTestCase):
    def compare(self, now: Details, asked: Any = ()) -> list[ServerCheck]:
        return comparison.compare_return(task(), details(), now, CELLS, asked)

    def test_as_it_was(self) -> None:
        self.assertTrue(all(one.ok for one in self.compare(details())))

    def test_as_it_was_not(self) -> None:
        for more, name, told in (
            ({'host': 'o2'}, 'host', 'it is on o2 instead of o1'),
            ({'status': 'ERROR'}, 'status', 'its status is ERROR instead of '
             'ACTIVE'),
            ({'task_state': 'resize_reverting'}, 'task', 'its task is '
             'resize_reverting instead of none'),
            ({'flavor': LARGE}, 'flavor', 'its flavor is large instead of '
             'small'),
            ({'power_state': 4}, 'power state', 'its power state is shut '
             'down instead of running'),
        ):  # fmt: skip
            found = self.compare(details(**more))
            self.assertEqual(
                [ServerCheck(name, False, told)],
                [one for one in found if not one.ok],
            )
        found = self.compare(arrived(status='ACTIVE'))
        wrong = [one.name for one in found if not one.ok]
        self.assertEqual(['cell', 'host'], wrong)

    def test_attached_while_it_was_away(self) -> None:
        """Nova keeps it when it takes the server back."""
        now = details(volumes=[*details().volumes, Volume('v2')])
        found = self.compare(now, {'attach_volume'})
        self.assertTrue(all(one.ok for one in found), found)


class TestAmounts(base.BaseTestCase):
    def test_flavor_is_kept(self) -> None:
        """What an operator has it ask for besides counts too."""
        held = {
            'o1.example.org': {'PCPU': 1, 'MEMORY_MB': 1024, 'CUSTOM_X': 1},
            'shared disk': {'DISK_GB': 10},
        }
        was = details(held=held)
        old, new = comparison.amounts(was, arrived())
        wanted = {'VCPU': 1, 'MEMORY_MB': 1024, 'CUSTOM_X': 1, 'DISK_GB': 10}
        self.assertEqual((wanted, wanted), (old, new))

    def test_flavor_changes(self) -> None:
        held = {
            'n': {'VCPU': 1, 'MEMORY_MB': 1024, 'DISK_GB': 10, 'CUSTOM_X': 1}
        }
        old, new = comparison.amounts(
            details(held=held), arrived(flavor=LARGE)
        )
        self.assertEqual(comparison.totals(held), old)
        self.assertEqual(
            {'VCPU': 2, 'MEMORY_MB': 4096, 'DISK_GB': 20, 'CUSTOM_X': 1}, new
        )
        # Of one on a volume no disk is held.
        held['n'].pop('DISK_GB')
        _, new = comparison.amounts(
            details(held=held, image=''), arrived(flavor=LARGE, image='')
        )
        assert new is not None
        self.assertEqual(0, new['DISK_GB'])
        self.assertEqual('', Amounts('n', new).why_not(
            {'n': {'VCPU': 2, 'MEMORY_MB': 4096, 'CUSTOM_X': 1}}
        ))  # fmt: skip

    def test_what_nobody_knows(self) -> None:
        """No guess takes a server back."""
        own = dataclasses.replace(
            LARGE, extra_specs={'resources:CUSTOM_X': '2'}
        )
        old, new = comparison.amounts(details(), arrived(flavor=own))
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 1024}, old)
        self.assertIsNone(new)
        self.assertEqual(
            (None, None), comparison.amounts(details(held={}), arrived())
        )
        unknown = Amounts('n', None)
        self.assertEqual('', unknown.why_not({'n': {'MEMORY_MB': 7}}))
        self.assertEqual('on no host instead of n', unknown.why_not({}))

    def test_why_not(self) -> None:
        wanted = Amounts('n', {'VCPU': 1, 'MEMORY_MB': 1024})
        for held, told in (
            ({'n': {'VCPU': 1, 'MEMORY_MB': 1024}}, ''),
            ({'n': {'PCPU': 1, 'MEMORY_MB': 1024}}, ''),
            ({}, 'on no host instead of n'),
            ({'m': {'VCPU': 1, 'MEMORY_MB': 1024}}, 'on m instead of n'),
            (
                {
                    'n': {'VCPU': 1, 'MEMORY_MB': 1024},
                    'm': {'MEMORY_MB': 1024},
                },
                'on m and n instead of n',
            ),
            (
                {'n': {'VCPU': 2, 'MEMORY_MB': 1024}},
                '2 VCPU instead of 1',
            ),
            (
                {'n': {'VCPU': 1, 'MEMORY_MB': 1024, 'DISK_GB': 3}},
                '3 DISK_GB instead of 0',
            ),
        ):
            self.assertEqual(told, wanted.why_not(held))
        nothing = Amounts('', {})
        self.assertEqual('', nothing.why_not({}))
        self.assertEqual(
            'on n, and not nothing', nothing.why_not({'n': {'DISK_GB': 1}})
        )
