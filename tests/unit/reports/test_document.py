# SPDX-License-Identifier: Apache-2.0
"""Does the document hold the whole report, for any program?"""

import dataclasses
import json
from typing import Any

from oslotest import base

from kronos.engine import types
from kronos.engine.reasons import Code, Reason
from kronos.engine.settings import PlainSettings, Settings
from kronos.extensions.cells.cell_drain import CellMove
from kronos.options import extensions
from kronos.reports import document
from tests.unit.snapshots.past import test_scope_effects


def result(**fields: Any) -> types.AggregateResult:
    return types.AggregateResult(
        'alpha', types.StopReason.BUDGET, 'the budget is used', **fields
    )


def step(**fields: Any) -> types.MigrationStep:
    values: dict[str, Any] = {
        'scope': 'alpha',
        'phase': types.MigrationPhase.EVACUATE,
        'instance': 'u1',
        'instance_name': 'vm1',
        'source': 'h1',
        'destination': 'h2',
        'memory_mb': 512,
        'imbalance_before': {'cpu': 0.5},
        'imbalance_after': {'cpu': 0.25},
        'combined_before': 0.5,
        'combined_after': 0.25,
        'requires': 'u2',
    }
    return types.MigrationStep(**values | fields)


def scope(**fields: Any) -> dict[str, Any]:
    report = document.document(types.CycleReport([result(**fields)]))
    (row,) = report['scopes']
    return dict(row)


def full() -> dict[str, Any]:
    """A scope with one of everything."""
    return scope(
        stages=[types.Stage('score', 2, 'text')],
        policies=[
            types.PolicyResult(
                'cpu',
                1.0,
                0.1,
                health=types.Health.STALE,
                scores=[types.HostScore('h1', 0.5, 1.0)],
            )
        ],
        steps=[step()],
        closings=[types.Closing('h1', Reason('at fault', Code.HOST_AT_FAULT))],
        drains=[types.Drain('h1', 'off', 2, 1, {'u3': 'locked'})],
        begun=[types.Begun('h2', 3, 1)],
        instances={'u1': types.InstanceStanding('vm1', 'h1')},
        groups=[
            types.GroupStanding(
                'g', 'db', 'affinity', 1, True, ['u1'], 2, 'bad', ''
            )
        ],
    )


class TestDocument(base.BaseTestCase):
    def test_what_the_engine_does_not_know_is_added(self) -> None:
        report = document.document(
            types.CycleReport(seconds=12.5), {'strategy': 'x'}
        )
        self.assertEqual(
            {
                'format_version': 1,
                'strategy': 'x',
                'seconds': 12.5,
                'scopes': [],
            },
            report,
        )

    def test_every_field_of_a_result_is_in_it(self) -> None:
        """A field added to the result must not be forgotten here."""
        fields = {*types.AggregateResult.__dataclass_fields__}
        self.assertLessEqual(fields - {'beside'} | {'cell'}, set(scope()))

    def test_what_earlier_plans_changed(self) -> None:
        effect = test_scope_effects.of_scope(test_scope_effects.LOST)
        report = document.document(
            types.CycleReport([result()]), effects={'alpha': effect}
        )
        (plan,) = report['scopes'][0]['effect']['plans']
        self.assertEqual('p1', plan['uuid'])
        self.assertEqual(report, json.loads(json.dumps(report)))
        self.assertIsNone(scope()['effect'])

    def test_keys(self) -> None:
        """Each row says all that the engine does, under names of its own."""
        report = full()
        rows = {
            types.Stage: (report['stages'][0], 'name count text'),
            types.PolicyResult: (
                report['policies'][0],
                'name weight threshold mode capacity_threshold skipped '
                'health scores missing_hosts unmatched_labels '
                'imbalance_before imbalance_after',
            ),
            types.HostScore: (
                report['policies'][0]['scores'][0],
                'host value normalized after',
            ),
            types.Drain: (
                report['drains'][0],
                'host reason instances leaving staying',
            ),
            types.Begun: (report['begun'][0], 'host instances leaving'),
            types.GroupStanding: (
                report['groups'][0],
                'uuid name policy most_per_host enforced members elsewhere '
                'broken_before broken_after',
            ),
            # Its scope is where it stands, and so is its reason; what it
            # should change is a parameter of its action.
            types.MigrationStep: (
                {
                    'scope': None,
                    'why': '',
                    'effect': {},
                    **document.step(step()),
                },
                'scope why effect phase instance instance_name source '
                'destination memory_mb copied_mb seconds imbalance_before '
                'imbalance_after combined_before combined_after rest_before '
                'rest_after requires cell_move',
            ),
        }
        for kind, (row, keys) in rows.items():
            with self.subTest(kind=kind.__name__):
                self.assertEqual(keys.split(), list(row))
                self.assertEqual(len(dataclasses.fields(kind)), len(row))

    def test_keys_of_settings(self) -> None:
        """Those of options, of the audit and the mode, and of extensions."""
        kinds = (PlainSettings, *extensions.classes())
        fields = {
            each.name for kind in kinds for each in dataclasses.fields(kind)
        }
        row = document.settings(Settings())
        self.assertEqual(
            fields | {'recover', 'cell_drain', 'maintenance', 'room'}, {*row}
        )

    def test_settings_as_plain_values(self) -> None:
        settings = document.settings(Settings(drain_hosts=['h1']))
        self.assertEqual(settings, json.loads(json.dumps(settings)))
        self.assertIs(str, type(settings['tie_break']))
        self.assertEqual(['h1'], settings['drain_hosts'])
        self.assertIsNone(document.settings(Settings())['drain_hosts'])

    def test_is_json_and_nothing_else(self) -> None:
        report = full()
        text = json.dumps(report, allow_nan=False)
        self.assertEqual(report, json.loads(text))
        # Not only equal: enumerations are told as what they stand for.
        self.assertIs(str, type(report['stopped']))
        self.assertIs(str, type(report['steps'][0]['phase']))
        self.assertIs(str, type(report['policies'][0]['health']))

    def test_raw_and_normalised_scores(self) -> None:
        policy = types.PolicyResult(
            'cpu', 1.0, 0.1, scores=[types.HostScore('h1', 0.4, 1.0)]
        )
        row = scope(policies=[policy])['policies'][0]
        self.assertEqual(
            [
                {
                    'host': 'h1',
                    'value': 0.4,
                    'normalized': 1.0,
                    'after': None,
                }
            ],
            row['scores'],
        )
        self.assertEqual('healthy', row['health'])

    def test_hosts_with_zone_and_reason(self) -> None:
        row = scope(
            availability_zones={'h2': 'az2', 'h1': 'az1'},
            unavailable_hosts={
                'h2': Reason('nova-compute is down', Code.HOST_DOWN)
            },
        )
        self.assertEqual(
            [
                {'name': 'h1', 'availability_zone': 'az1', 'unavailable': ''},
                {
                    'name': 'h2',
                    'availability_zone': 'az2',
                    'unavailable': 'nova-compute is down',
                },
            ],
            row['hosts'],
        )

    def test_a_step(self) -> None:
        row = scope(steps=[step(copied_mb=640, seconds=7.5)])
        self.assertEqual(512, row['memory_mb'])
        self.assertEqual(640, row['copied_mb'])
        self.assertEqual(7.5, row['seconds'])
        self.assertEqual(
            {
                'phase': 'evacuate',
                'instance': 'u1',
                'instance_name': 'vm1',
                'source': 'h1',
                'destination': 'h2',
                'memory_mb': 512,
                'copied_mb': 640,
                'seconds': 7.5,
                'imbalance_before': {'cpu': 0.5},
                'imbalance_after': {'cpu': 0.25},
                'combined_before': 0.5,
                'combined_after': 0.25,
                'rest_before': None,
                'rest_after': None,
                'requires': 'u2',
                'cell_move': None,
                'gain': 0.25,
                'why': 'leaves h1, which is being drained',
            },
            row['steps'][0],
        )

    def test_a_step_to_another_cell(self) -> None:
        move = CellMove('old', 'new', 'm1', 'm1')
        why = 'leaves cell old, which is being emptied'
        [row] = scope(steps=[step(how=move, why=why)])['steps']
        self.assertEqual('old', row['cell_move']['source_cell'])
        self.assertEqual(why, row['why'])

    def test_why_each_step_is_made(self) -> None:
        """In words, also where the combined imbalance does not change."""
        spread = types.MigrationPhase.SPREAD
        first = step(phase=spread, requires='')
        same = {'combined_after': 0.5, 'imbalance_after': {'cpu': 0.5}}
        worse = {'combined_after': 0.625, 'imbalance_after': {'cpu': 0.625}}
        rest = step(phase=spread, requires='', rest_before=0.6, rest_after=0.4)
        for steps, words in (
            (
                [rest],
                ['lowers the combined imbalance of the hosts that are not '
                 'set aside by 0.2000 (0.600 to 0.400)'],
            ),
            (
                [dataclasses.replace(rest, rest_after=0.6)],
                ['prepares later moves, which lower the combined imbalance '
                 'of the hosts that are not set aside'],
            ),
            (
                [first],
                ['lowers the combined imbalance by 0.2500, most of all cpu '
                 '(0.500 to 0.250)'],
            ),
            (
                [step(phase=spread, requires='', **same)],
                ['has no gain by itself: the combined imbalance does not '
                 'change'],
            ),
            (
                [
                    step(phase=spread, requires='', **same),
                    step(
                        phase=spread,
                        instance='u2',
                        instance_name='vm2',
                        requires='',
                        **worse,
                    ),
                    step(phase=spread, instance='u3', requires=''),
                ],
                ['has no gain by itself, but prepares later moves: the '
                 'next gain is that of move 3 (vm1), 0.2500; until then the '
                 'combined imbalance does not change',
                 'has no gain by itself, but prepares later moves: the next '
                 'gain is that of move 3 (vm1), 0.2500; until then the '
                 'combined imbalance rises by 0.1250',
                 'lowers the combined imbalance by 0.2500, most of all cpu '
                 '(0.500 to 0.250)'],
            ),
            (
                [
                    step(phase=spread, requires='', **worse),
                    step(
                        phase=spread,
                        instance='u2',
                        instance_name='vm2',
                        requires='u1',
                    ),
                ],
                ['first migration of a swap with vm2: the combined imbalance '
                 'rises by 0.1250',
                 'second migration of a swap with vm1: lowers the combined '
                 'imbalance by 0.2500, most of all cpu (0.500 to 0.250)'],
            ),
            (
                [step(phase=types.MigrationPhase.PACK)],
                ['leaves h1, so that it becomes empty'],
            ),
            (
                [
                    step(
                        phase=types.MigrationPhase.PACK,
                        source='h2',
                        destination='h3',
                    ),
                    step(
                        phase=types.MigrationPhase.PACK,
                        instance='u2',
                        instance_name='vm2',
                        source='h1',
                        destination='h2',
                    ),
                ],
                ['makes room on h2 for vm2',
                 'leaves h1, so that it becomes empty'],
            ),
            (
                [step(phase=types.MigrationPhase.AFFINITY)],
                ['brings a server group closer to its rule'],
            ),
        ):  # fmt: skip
            rows = scope(steps=steps)['steps']
            self.assertEqual(words, [row['why'] for row in rows])
        self.assertEqual(0.25, scope(steps=[first])['steps'][0]['gain'])

    def test_reasons_by_instance_and_counted(self) -> None:
        stayed = {
            uuid: Reason(text, Code.NO_GAIN)
            for uuid, text in {'a': 'x', 'b': 'y', 'c': 'y', 'd': 'w'}.items()
        }
        row = scope(stayed=stayed)
        self.assertEqual(dict.fromkeys('abcd', 'no_gain'), row['stayed_codes'])
        self.assertEqual('y', row['stayed']['b'])
        self.assertEqual(
            [('y', 2), ('w', 1), ('x', 1)],
            list(row['stayed_reasons'].items()),
        )

    def test_the_report_is_left_as_it_is(self) -> None:
        plan = types.CycleReport([result(steps=[step()], warnings=['w'])])
        report = document.document(plan)
        report['scopes'][0]['warnings'].append('more')
        report['scopes'][0]['steps'][0]['imbalance_after']['cpu'] = 9
        self.assertEqual(['w'], plan.scopes[0].warnings)
        self.assertEqual([step()], plan.scopes[0].steps)
