# SPDX-License-Identifier: Apache-2.0
"""Is what was asked for, and how, told in full?"""

from oslotest import base

from kronos.engine.settings import (
    HostMatch,
    PartialAnswers,
    SearchName,
    Settings,
    SoftRules,
    SwapMoves,
    TieBreak,
    UnexplainedLoad,
    VetoReference,
)
from kronos.extensions.cells.cell_drain import CellDrain, Confirm, MoveOrder
from kronos.extensions.cells.extension import Cells
from kronos.recordings import meta_schema
from kronos.snapshots.cell_hosts import CellScope
from kronos.snapshots.scopes import AggregateRef, ScopeRequest
from tests.unit.recordings import test_inventory_schema as inventory

DRAIN = CellDrain(
    source='old',
    targets=['new'],
    hosts=['h'],
    flavor_map={'small': 'large'},
    confirm=Confirm.MANUAL,
    order=MoveOrder.HOSTS,
    include_stopped=False,
    unpin_az=True,
    close_source=True,
)
SETTINGS = Settings(
    max_migrations=5,
    restrict_to_az=True,
    require_all_policies=True,
    min_host_coverage=0.5,
    host_match=HostMatch.SHORT,
    partial_answers=PartialAnswers.SKIP,
    check_disk=True,
    require_headroom=True,
    allowed_extra_specs=['hw:*'],
    cooldown_seconds=1.0,
    instance_cooldown_seconds=2.0,
    quarantine_seconds=3.0,
    return_guard_seconds=4.0,
    stuck_seconds=5.0,
    evacuate=True,
    drain_hosts=['h'],
    max_closed_hosts=3,
    restart_servers=True,
    recovery_window_seconds=30.0,
    extension=Cells(DRAIN),
    cell_move_lossy=True,
    long_rpc_timeout_seconds=60.0,
    snapshot_mb_per_second=10.0,
    drain_may_exceed_threshold=True,
    enforce_hard_affinity=True,
    enforce_soft_affinity=True,
    rebalance=False,
    unlimited=True,
    soft_rules=SoftRules.PENALTY,
    soft_rule_penalty=0.5,
    pack_partial_drains=True,
    keep_hosts=2,
    headroom_hosts=1,
    plateau_moves=False,
    swap_moves=SwapMoves.ANY,
    search=SearchName.BEST,
    veto_reference=VetoReference.INITIAL,
    unexplained_load=UnexplainedLoad.STAYS,
    min_gain=0.1,
    min_plan_gain=0.3,
    optimal_limit=7,
    optimal_seconds=8.0,
    cost_weight=0.2,
    migration_bandwidth=90.0,
    migration_timeout_seconds=700.0,
    migration_timeout_per_gib=9.0,
    tie_break=TieBreak.FIRST,
    repeat_moves=True,
    exhaust=True,
)
REQUEST = ScopeRequest(
    aggregates=['a', AggregateRef('7', 'b')],
    include_unassigned=True,
    availability_zones=['z'],
    excluded_hosts=['h'],
    excluded_aggregates=[AggregateRef(name='c'), 'd'],
    excluded_instances=['u'],
    excluded_projects=['p'],
    excluded_metadata=[{'k': 'v'}],
    cells=CellScope('old', ['new'], ['h']),
)


class TestSettings(base.BaseTestCase):
    def test_nothing_is_lost(self) -> None:
        for name, value in inventory.defaults(Settings).items():
            self.assertNotEqual(value, getattr(SETTINGS, name), name)
        row = meta_schema.schemas().settings.of(SETTINGS)
        self.assertEqual(SETTINGS, row.settings())

    def test_keys_and_what_an_older_recording_lacks(self) -> None:
        self.assertEqual(
            {
                'max_migrations': None,
                'restrict_to_az': False,
                'require_all_policies': False,
                'min_host_coverage': 0.9,
                'host_match': 'exact',
                'partial_answers': 'warn',
                'check_disk': False,
                'require_headroom': False,
                'allowed_extra_specs': [],
                'cooldown_seconds': 0.0,
                'instance_cooldown_seconds': 0.0,
                'quarantine_seconds': 0.0,
                'return_guard_seconds': 0.0,
                'stuck_seconds': 86400.0,
                'evacuate': False,
                'drain_hosts': None,
                'recover': False,
                'max_closed_hosts': 1,
                'restart_servers': False,
                'recovery_window_seconds': 600.0,
                'cell_drain': None,
                'extension': None,
                'cell_move_lossy': False,
                'long_rpc_timeout_seconds': 1800.0,
                'snapshot_mb_per_second': 100.0,
                'drain_may_exceed_threshold': False,
                'enforce_hard_affinity': False,
                'enforce_soft_affinity': False,
                'rebalance': True,
                'unlimited': False,
                'soft_rules': 'veto',
                'soft_rule_penalty': 0.05,
                'pack_partial_drains': False,
                'keep_hosts': 1,
                'headroom_hosts': 0,
                'plateau_moves': True,
                'swap_moves': 'safe',
                'search': 'greedy',
                'unexplained_load': 'follows',
                'min_plan_gain': 0.0,
                'veto_reference': 'step',
                'min_gain': 0.0,
                'optimal_limit': 1000,
                'optimal_seconds': 25.0,
                'cost_weight': 0.0,
                'migration_bandwidth': 800.0,
                'migration_timeout_seconds': 600.0,
                'migration_timeout_per_gib': 16.0,
                'tie_break': 'variance',
                'repeat_moves': False,
                'exhaust': False,
            },
            vars(meta_schema.schemas().settings()),
        )

    def test_exchanges_as_they_were_told_once(self) -> None:
        adapter = meta_schema.schemas().file
        row = vars(meta_schema.schemas().settings())
        for old, new in ((True, SwapMoves.SAFE), (False, SwapMoves.NONE)):
            meta = adapter.validate_python(
                {
                    'format_version': 1,
                    'recorded_at': '',
                    'taken_at': 0.0,
                    'made_by': '',
                    'strategy': '',
                    'request': {},
                    'settings': row | {'swap_moves': old},
                    'configured': None,
                    'max_concurrent_migrations': 1,
                    'anonymized': False,
                    'warnings': [],
                },
                strict=False,
            )
            self.assertIs(new, meta.settings.settings().swap_moves)


class TestRequest(base.BaseTestCase):
    def test_nothing_is_lost(self) -> None:
        for name, value in inventory.defaults(ScopeRequest).items():
            self.assertNotEqual(value, getattr(REQUEST, name), name)
        row = meta_schema.schemas().request.of(REQUEST)
        self.assertEqual(REQUEST, row.request())

    def test_keys(self) -> None:
        row = meta_schema.schemas().request.of(REQUEST)
        self.assertEqual(
            [
                'aggregates',
                'include_unassigned',
                'availability_zones',
                'excluded_hosts',
                'excluded_aggregates',
                'excluded_instances',
                'excluded_projects',
                'excluded_metadata',
                'cells',
            ],
            list(vars(row)),
        )
        self.assertEqual(
            ['a', meta_schema.AggregateRefRow('7', 'b')], row.aggregates
        )
