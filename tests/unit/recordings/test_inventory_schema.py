# SPDX-License-Identifier: Apache-2.0
"""Is the inventory in the files what the engine knows of it?"""

import dataclasses
import math
from typing import Any

from oslotest import base

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.types import (
    ComputeService,
    Headroom,
    Host,
    Instance,
    PastRestart,
    ServerGroup,
)
from kronos.recordings import inventory_schema as rows
from kronos.recordings import schema

FULL: list[tuple[Any, Any, str]] = [
    (rows.HeadroomRow, Headroom(64, 8), 'capacity used'),
    (
        rows.ServiceRow,
        ComputeService('h', 'b', 'up', 'enabled', 'z', 'why', True),
        'host binary state status zone disabled_reason forced_down',
    ),
    (
        rows.AggregateRow,
        HostAggregate(7, 'a', 'ua', ['h'], {'k': 'v'}, 'z'),
        'id name uuid hosts metadata availability_zone',
    ),
    (
        rows.InstanceRow,
        Instance(
            uuid='u',
            host='h',
            name='web',
            internal_name='instance-1',
            vcpus=2,
            memory_mb=2048,
            disk_gb=20,
            status='PAUSED',
            task_state='migrating',
            power_state=3,
            locked=True,
            metadata={'k': 'v'},
            tags=['t'],
            extra_specs={'e': 's'},
            pinned_availability_zone='z',
            unmovable='why',
            misallocated_on=['h2'],
            project_id='p',
            flavor='m1',
            root_gb=10,
            ephemeral_gb=5,
            swap_mb=512,
            is_volume_backed=True,
            has_shares=True,
            has_key=True,
            tied_port='an accelerator',
            failure='io_error',
            failed_at=1.5,
            dirty_rate=2.5,
            created=3.5,
            guest='off',
            stopped_by='nova',
            restarts=[PastRestart(2.5, 'FAILED', True, 'req-1')],
        ),
        'uuid host name internal_name vcpus memory_mb disk_gb status '
        'task_state power_state locked metadata tags extra_specs '
        'pinned_availability_zone unmovable misallocated_on project_id flavor '
        'root_gb ephemeral_gb swap_mb is_volume_backed has_shares has_key '
        'tied_port failure failed_at dirty_rate created guest stopped_by '
        'restarts',
    ),
    (
        rows.GroupRow,
        ServerGroup('g', 'affinity', ['u'], 'pair', 2),
        'uuid policy members name max_server_per_host',
    ),
]
"""Row, something with no field as by default, and the keys of the file."""


def defaults(kind: Any) -> dict[str, Any]:
    found = {}
    for one in dataclasses.fields(kind):
        if one.default is not dataclasses.MISSING:
            found[one.name] = one.default
        elif one.default_factory is not dataclasses.MISSING:
            found[one.name] = one.default_factory()
    return found


def row_of(kind: Any, value: Any) -> Any:
    """What is written of it."""
    if hasattr(kind, 'of'):
        return kind.of(value)
    return schema.copied(value, kind)


def back(row: Any, kind: type[Any]) -> Any:
    """The row as what the engine has."""
    for name, method in vars(type(row)).items():
        if getattr(method, '__annotations__', {}) == {'return': kind}:
            return getattr(row, name)()
    return schema.copied(row, kind)


class TestRows(base.BaseTestCase):
    def test_nothing_is_lost(self) -> None:
        for kind, one, _ in FULL:
            with self.subTest(kind=kind.__name__):
                for name, value in defaults(type(one)).items():
                    self.assertNotEqual(value, getattr(one, name), name)
                self.assertEqual(one, back(row_of(kind, one), type(one)))

    def test_keys(self) -> None:
        """They are the format; what is added has a default."""
        for kind, one, keys in FULL:
            with self.subTest(kind=kind.__name__):
                self.assertEqual(keys.split(), list(vars(row_of(kind, one))))

    def test_what_an_older_recording_lacks(self) -> None:
        """It is what the engine takes it for."""
        for kind, one, _ in FULL:
            with self.subTest(kind=kind.__name__):
                self.assertEqual(defaults(type(one)), defaults(kind))


class TestHost(base.BaseTestCase):
    def test_headroom_and_traits_are_elsewhere(self) -> None:
        host = Host(
            name='h',
            node='n',
            hypervisor_type='QEMU',
            hypervisor_version=8002001,
            availability_zone='z',
            headroom={'VCPU': Headroom(1, 0)},
            traits=['T'],
            closed='c',
            frozen='f',
            excluded=2.0,
            faulty=3.0,
            cell='cell1',
        )
        row = rows.HostRow.of(host, planned=True)
        self.assertEqual(
            [
                'name',
                'planned',
                'node',
                'hypervisor_type',
                'hypervisor_version',
                'availability_zone',
                'cell',
                'closed',
                'frozen',
                'excluded',
                'faulty',
            ],
            list(vars(row)),
        )
        self.assertEqual(
            dataclasses.replace(host, headroom=None, traits=[]), row.host()
        )

    def test_what_json_knows_as_no_number(self) -> None:
        """A value is told as that of a sample; 0 is one, too."""
        for value, told in (
            (math.nan, 'NaN'),
            (-math.inf, '-Inf'),
            (0.0, 0.0),
            (None, None),
        ):
            row = rows.HostRow.of(Host('h', excluded=value), planned=True)
            self.assertEqual(told, row.excluded)
            self.assertEqual(str(value), str(row.host().excluded))
