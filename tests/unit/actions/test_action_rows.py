# SPDX-License-Identifier: Apache-2.0
"""Does an applier carry out what an older or a newer engine has planned?

While Kronos is upgraded, one applier gets rows of several versions.
"""

import types
from typing import Any

import jsonschema
import yaml
from watcher import conf
from watcher.applier.actions import factory

from kronos.actions.live import parameters as of_live
from kronos.extensions.cells.actions import parameters as of_cells
from kronos.extensions.recovery.actions import restart_server
from tests import places
from tests.unit.actions.live import base as moves
from tests.unit.actions.live import whole

CONF = conf.CONF
ROWS = yaml.safe_load((places.FIXTURES / 'action_rows.yaml').read_text())
LATER = {
    'window_closes': 1.5,
    'budget': {'project': '1/3600', 'spent': [1, 2]},
    'name': None,
    'instance': 'none of ours',
    'x' * 300: '\x00\n<b>',
}
"""What a later version may add, as an older one sees it."""
SETTINGS = {
    'kronos_live_migrate': of_live.settings_of,
    'kronos_cross_cell_migrate': of_cells.settings_of,
    'kronos_restart_server': restart_server._settings,
}


def accepted(name: str, row: dict[str, Any]) -> Any:
    """The action as Watcher's applier makes it of its row."""
    described = types.SimpleNamespace(action_type=name, input_parameters=row)
    return factory.ActionFactory().make_action(described)


class TestRows(moves.MoveTestCase):
    def test_newest_is_whole(self) -> None:
        """Who adds a parameter appends a version that has it."""
        self.assertEqual(
            set(ROWS),
            {name for name in ROWS if accepted(name, ROWS[name][-1]['row'])},
        )
        for name, versions in ROWS.items():
            newest = versions[-1]['row']
            properties = accepted(name, newest).schema['properties']
            self.assertEqual(set(properties), set(newest), name)

    def test_each_version(self) -> None:
        for name, versions in ROWS.items():
            for version in versions:
                row = version['row']
                self.assertEqual(
                    row, accepted(name, row).input_parameters, version
                )

    def test_unknown_parameters_change_nothing(self) -> None:
        for name, versions in ROWS.items():
            for version in versions:
                row = version['row']
                later = accepted(name, {**row, **LATER}).input_parameters
                if name in SETTINGS:
                    settings_of = SETTINGS[name]
                    self.assertEqual(
                        settings_of(row, CONF.kronos),
                        settings_of(later, CONF.kronos),
                        (name, version['since']),
                    )

    def test_missing_ones_have_defaults(self) -> None:
        for name, versions in ROWS.items():
            newest = versions[-1]['row']
            required = accepted(name, newest).schema['required']
            row = {key: newest[key] for key in required}
            accepted(name, row)
            if name in SETTINGS:
                task = SETTINGS[name](row, CONF.kronos).task
                self.assertEqual('', task.name)
                self.assertFalse(task.source_closed)

    def test_what_every_version_needs(self) -> None:
        """No version may ask for a parameter that an older one lacks."""
        for name, versions in ROWS.items():
            oldest = versions[0]['row']
            required = accepted(name, oldest).schema['required']
            self.assertLessEqual(set(required), set(oldest), name)
            for key in required:
                row = {
                    other: oldest[other] for other in oldest if other != key
                }
                self.assertRaises(
                    jsonschema.ValidationError, accepted, name, row
                )


class TestWholeMoves(whole.WholeMoveTestCase):
    def run_row(self, row: dict[str, Any]) -> None:
        own = self.action.input_parameters
        self.action = accepted('kronos_live_migrate', {**row, **own})
        self.settings.task = of_live.settings_of(
            self.action.input_parameters, CONF.kronos
        ).task
        self.build()
        self.action.pre_condition()
        self.assertIs(True, self.action.execute())
        self.assertEqual('h2', self.instance.host)

    def test_oldest(self) -> None:
        self.run_row(ROWS['kronos_live_migrate'][0]['row'])

    def test_newer_than_this_one(self) -> None:
        newest = ROWS['kronos_live_migrate'][-1]['row']
        row = {**newest, **LATER, 'requires': ''}
        del row['requires'], row['source_closed']
        self.run_row(row)
