# SPDX-License-Identifier: Apache-2.0
"""Which servers stay in their cell, why, and what would let them go?"""

import dataclasses
from typing import Any

import testscenarios
from oslotest import base

from kronos.engine.edits import Pair
from kronos.engine.eligibility import instances
from kronos.engine.explain.relaxations import relax
from kronos.engine.planning.phases import Prepared
from kronos.engine.planning.propose import propose
from kronos.engine.planning.scope_planner import ScopePlanner
from kronos.engine.reasons import Code, Reason
from kronos.engine.types import PlanningInput, ServerGroup
from kronos.extensions.cells.cell_drain import (
    NAME,
    CellNeeds,
    CellPhase,
    CrossCellPolicy,
    needs_of,
)
from kronos.extensions.cells.options import CellOptions
from tests.builders import cells
from tests.builders.cells import CPU, server, unfinished

STATUSES = (
    ('PAUSED', 'unpause it'),
    ('SUSPENDED', 'resume it'),
    ('RESCUE', 'unrescue it'),
    ('ERROR', 'repair it'),
    ('SHELVED', 'unshelve it'),
    ('RESIZE', 'wait until Nova has moved it, then confirm or revert that'),
    ('VERIFY_RESIZE', 'confirm or revert its resize'),
    ('REVERT_RESIZE', 'wait until Nova has taken it back'),
    ('BUILD', 'bring it to ACTIVE or SHUTOFF'),
)
GROUP = ServerGroup('g', 'affinity', ['a'], 'together')
UP = {'flavor_map': {'small': 'large'}}


def case(
    code: Code,
    text: str,
    values: dict[str, Any] | None = None,
    drain: dict[str, Any] | None = None,
    **snapshot: Any,
) -> tuple[str, dict[str, Any]]:
    """One reason.

    :param values: of the server
    :param drain: what the audit asks for
    :param snapshot: fields of it
    """
    return f'{code}: {text}', {
        'code': code,
        'text': text,
        'values': values or {},
        'drain': drain or {},
        'snapshot': snapshot,
    }


CASES = [
    *(
        case(Code.CELL_STATUS, f'its status is {status}: {remedy}',
             {'status': status})
        for status, remedy in STATUSES
    ),
    case(Code.CELL_BEGUN, 'left in RESIZE, is finished by this plan',
         {'status': 'RESIZE', 'task_state': 'resize_migrating'},
         unfinished=[unfinished('a', 'RESIZE', 'o1')]),
    case(Code.CELL_BEGUN, 'is in action plan p, which goes on',
         {'status': 'RESIZE', 'task_state': 'resize_migrating'},
         unfinished=[unfinished('a', 'RESIZE', 'o1', plan='p')]),
    case(Code.CELL_UNCONFIRMED, '"openstack server resize confirm a"',
         {'status': 'VERIFY_RESIZE'},
         unfinished=[unfinished('a', host='o1', has_ended=True)]),
    case(Code.INSTANCE_LOCKED, 'it is locked', {'locked': True}),
    case(Code.INSTANCE_PINNED, 'kronos:pin', {'tags': ['kronos:pin']}),
    case(
        Code.INSTANCE_CONSENT,
        'its tag kronos:consent:never',
        {'tags': ['kronos:consent:never']},
    ),
    case(Code.INSTANCE_BUSY, 'rebooting', {'task_state': 'rebooting'}),
    case(Code.INSTANCE_NOT_RUNNING, 'its guest does not run (shut down)',
         {'power_state': 4}),
    case(Code.CELL_STOPPED, 'include_stopped is false',
         {'status': 'SHUTOFF', 'power_state': 4}, {'include_stopped': False}),
    case(Code.CELL_AFFINITY, 'server group together', groups=[GROUP]),
    case(Code.CELL_FLAVOR_UNMAPPED, 'no entry for its flavor small',
         drain={'flavor_map': {'other': 'large'}}),
    case(Code.CELL_FLAVOR_GONE, 'there is no flavor large',
         drain=UP, flavors={}, services_closed=True),
    case(Code.CELL_FLAVOR_TOO_SMALL, 'has 10 GiB, its own has 50',
         {'root_gb': 50}, UP, services_closed=True),
    case(Code.CELL_RESIZE_INSIDE, 'accepts servers: o1, o2', drain=UP),
    case(Code.CELL_RESIZE_INSIDE, 'accepts servers: o3',
         drain=UP | {'close_source': True}, open_source_hosts=['o3']),
    case(Code.CELL_LOSSY, 'an ephemeral disk', {'ephemeral_gb': 1}),
    case(Code.CELL_LOSSY, 'a swap disk', {'swap_mb': 1}),
    case(Code.CELL_LOSSY, 'a vTPM',
         {'extra_specs': {'hw:tpm_version': '2.0'}}),
    case(Code.CELL_LOSSY, 'a Manila share', {'has_shares': True}),
    case(Code.CELL_LOSSY, 'a key pair', {'has_key': True}, loses_keys=True),
    case(Code.CELL_PORT, 'a port of it has a resource request',
         {'tied_port': 'a resource request'}),
    case(Code.CELL_POLICY, 'Nova lets no server leave its cell',
         cell_policy=CrossCellPolicy.CLOSED),
    case(Code.CELL_POLICY, 'set nova_policy_files in [kronos]',
         drain=UP | {'close_source': True},
         cell_policy=CrossCellPolicy.UNKNOWN),
    case(Code.INSTANCE_EXTRA_SPEC, 'hw:cpu_policy=dedicated',
         {'extra_specs': {'hw:cpu_policy': 'dedicated'}}),
    case(Code.CELL_SNAPSHOT_SLOW, 'would take 34 min at 100 MB/s',
         {'root_gb': 200}),
    case(Code.QUOTA, 'needs 3 more of the quota cores of its project, 2 are',
         drain=UP, services_closed=True, quota_left={'project': {'cores': 2}}),
    case(Code.ZONE_PINNED, 'zone-old',
         {'pinned_availability_zone': 'zone-old'}),
    case(Code.NO_ROOM, '70000 MEMORY_MB', {'memory_mb': 70000}),
]  # fmt: skip


class TestReasons(testscenarios.TestWithScenarios, base.BaseTestCase):
    scenarios = CASES
    code: Code
    text: str
    values: dict[str, Any]
    drain: dict[str, Any]
    snapshot: dict[str, Any]

    def given(self) -> PlanningInput:
        fields = dict(self.snapshot)
        closed = fields.pop('services_closed', False)
        made = cells.cells([server('a', **self.values)])
        own = {one.name for one in dataclasses.fields(CellNeeds)}
        needs = {key: fields.pop(key) for key in own & fields.keys()}
        made = dataclasses.replace(made, **fields)
        made.beside[NAME] = dataclasses.replace(needs_of(made), **needs)
        assert made.services is not None
        for name in cells.OLD if closed else ():
            made.services[name].status = 'disabled'
        return PlanningInput(made, [CPU], cells.settings(**self.drain))

    def moved(self, given: PlanningInput) -> list[str]:
        [result] = propose(
            [given.snapshot], given.policies, given.settings
        ).scopes
        self.result = result
        return [step.destination for step in result.steps]

    def test_stays_and_leaves(self) -> None:
        """It stays for one reason alone; without it, it leaves."""
        given = self.given()
        self.assertEqual([], self.moved(given))
        self.assertIn(self.text, self.result.stayed['a'])
        own = instances.rule(given.snapshot, given.settings, lambda: 800.0)(
            given.snapshot.instances['a']
        )
        found = own or [self.reason_at(given)]
        self.assertEqual([self.code], [one.code for one in found])
        pair = Pair('a', 'o1', 'n1')
        mended = relax(given, found[0], pair)
        self.assertEqual(['n1'], self.moved(mended))

    def reason_at(self, given: PlanningInput) -> Reason:
        """The one against the move, where the server itself has none."""
        scope = ScopePlanner(given).scope
        assert isinstance(scope, Prepared)
        phases = scope.phases()
        simulation = phases.simulation(10)
        phases.begin(simulation, CellPhase.CELL_DRAIN)
        index = simulation.utilization.index
        [reason] = simulation.constraints.reasons(
            index.instance['a'], index.host['n1']
        )
        return reason


class TestMovable(base.BaseTestCase):
    def test_may_go(self) -> None:
        """What a live migration refuses and a cold move does not."""
        for one, drain in (
            (cells.stopped('a'), {}),
            (server('a', pinned_availability_zone='zone-old'),
             {'unpin_az': True}),
            (server('a', root_gb=500, is_volume_backed=True), {}),
            (server('a', flavor='gone'), {}),
            (server('a', flavor='gone'), {'flavor_map': {'*': 'same'}}),
        ):  # fmt: skip
            settings = cells.settings(**drain)
            [result] = propose([cells.cells([one])], [CPU], settings).scopes
            self.assertEqual(1, len(result.steps), result.stayed)

    def test_data_that_may_be_lost(self) -> None:
        """By an option, not by an audit; so with a network that is fast."""
        for one, values in (
            (server('a', ephemeral_gb=1, swap_mb=1),
             {'cell_move_lossy': True}),
            (server('a', root_gb=200), {'snapshot_mb_per_second': 200.0}),
            (server('a', root_gb=200), {'long_rpc_timeout_seconds': 2048.0}),
        ):  # fmt: skip
            settings = cells.settings()
            settings.set_options(CellOptions(**values))
            [result] = propose([cells.cells([one])], [CPU], settings).scopes
            self.assertEqual(1, len(result.steps), result.stayed)
