# SPDX-License-Identifier: Apache-2.0
"""The plugin kronos_cross_cell_migrate of Watcher's applier."""

import datetime
from typing import Any

from oslo_log import log as logging
from watcher import conf, objects

from kronos.actions.core import notifications, retries, watcher_action
from kronos.actions.core import parameters as of_moves
from kronos.actions.core.watcher_action import NAME, TEXT, UUID
from kronos.clients.nova.cell_listings import CellListings
from kronos.clients.nova.cell_migration import CellMigration
from kronos.clients.nova.server_details import ServerDetails
from kronos.common import exceptions, status
from kronos.extensions.cells.actions import parameters, run
from kronos.extensions.cells.actions.checkpoint import PlanStanding
from kronos.extensions.cells.actions.context import CellMoveContext
from kronos.extensions.cells.cell_drain import (
    CELL_MARK,
    CELL_MOVE,
    CellPhase,
    Confirm,
)
from kronos.extensions.cells.readings import cell_needs
from kronos.extensions.cells.reports import move_files
from kronos.watcher_db import lock, marks

LOG = logging.getLogger(__name__)
CONF = conf.CONF

PROPERTIES: dict[str, Any] = {
    **watcher_action.PROPERTIES,
    'resource_id': UUID,
    'phase': {'enum': [CellPhase.CELL_DRAIN.value]},
    'not_before': TEXT,
    'destination_node': NAME,
    'imbalance': TEXT,
    'combined_imbalance': TEXT,
    'window_seconds': {'type': 'number', 'minimum': 0},
    'mode': {'enum': ['migrate', 'resize']},
    'source_cell': NAME,
    'destination_cell': NAME,
    'target_cells': {
        'type': 'array',
        'items': NAME,
        'minItems': 1,
    },
    'source_flavor': NAME,
    'destination_flavor': NAME,
    'destination_flavor_id': NAME,
    'source_zone': TEXT,
    'destination_zone': TEXT,
    'unpin_zone': {'type': 'boolean'},
    'confirm': {'enum': [word.value for word in Confirm]},
    'finishes': UUID,
    marks.TURN: {'type': 'object'},
    marks.CARRIER: {'type': 'object'},
    CELL_MARK: {'type': 'object'},
}
"""The input parameters, what Kronos adds to them later included."""


class CrossCellMigrate(watcher_action.KronosAction):
    """Move a server to another cell, cold, and make sure that it is whole.

    Nova is asked once. What does not arrive as it was is taken back, and
    what Nova leaves broken is mended. Nothing is asked for by an action that
    finds that another one has asked: it finishes the move.

    One class, since Watcher asks one object for the schema, for each step of
    an action and for its abort.
    """

    def __init__(self, config: Any, osc: Any = None) -> None:
        super().__init__(config, osc)
        self._stale: exceptions.StaleTask | None = None

    @property
    def schema(self) -> dict[str, Any]:
        return {
            'type': 'object',
            'properties': PROPERTIES,
            'required': [
                'resource_id',
                'aggregate',
                'phase',
                'source_node',
                'destination_node',
                'mode',
                'source_cell',
                'destination_cell',
                'target_cells',
                'source_flavor',
                'destination_flavor',
                'confirm',
            ],
        }

    def get_description(self) -> str:
        return (
            'Move a server to another cell by a cold migration or a resize, '
            'check that it is as it was, and confirm or revert it.'
        )

    def _carry_out(self) -> str:
        try:
            return super()._carry_out()
        except exceptions.StaleTask as stale:
            self._stale = stale
            raise

    def post_condition(self) -> None:
        """Let an action be SKIPPED whose server was deleted meanwhile.

        Watcher knows that end only before an action begins, and has called
        it FAILED by now.
        """
        uuid = self.input_parameters.get('action_uuid')
        if self._stale is None or not uuid:
            return
        message = status.fit(
            f'Action was skipped: {watcher_action.message_of(self._stale)}'
        )
        try:
            lock.write(
                lambda: watcher_action.update_row(
                    uuid,
                    state=objects.action.State.SKIPPED,
                    status_message=message,
                ),
                self._writes,
            )
        except Exception as error:
            LOG.warning(
                "Action %s is not SKIPPED: Watcher's database cannot be read: "
                '%s',
                uuid,
                lock.reason(error),
            )

    def revert(self) -> None:
        """Leave the server where it is: what had to go back has gone back."""
        LOG.info('Instance %s is not moved back', self.resource_id)

    def _make_run(self) -> run.CellMoveRun:
        clients = self._clients()
        values, patience = self.input_parameters, self._patience()
        settings = parameters.settings_of(values, CONF.kronos)
        nova = retries.reach(settings, patience, clients.nova)
        context = CellMoveContext(
            **vars(patience),
            nova=nova,
            cell_migration=CellMigration(nova.api),
            details=ServerDetails(nova.api),
            listings=CellListings(nova.api),
            placement=retries.reach(settings, patience, clients.placement),
            glance=retries.reach(settings, patience, clients.glance),
            prometheus=self._prometheus,
            slots=parameters.slots_of(values, settings),
            plan=self._plan,
            notices=notifications.Notices(of_moves.facts(values), CONF),
            keep=self._keep,
            exclusions=self._exclusions(),
            sources=cell_needs.Sources.of(CONF.kronos, clients),
        )
        plan = values.get('action_plan_uuid', '')
        return run.CellMoveRun(settings, context, plan)

    def _plan(self) -> PlanStanding:
        """:raises TurnUnknown: Watcher's database cannot be read"""
        values = self.input_parameters
        own = values.get('action_uuid')
        if not values.get('action_plan_uuid'):
            return PlanStanding(True)
        return PlanStanding.of(
            marks.part(action.input_parameters or {}, CELL_MARK)
            for action in self._actions_of_plan()
            if action.uuid != own and action.action_type == CELL_MOVE
        )

    def _keep(self, document: dict[str, Any]) -> None:
        if CONF.kronos.report_dir:
            move_files.write(
                CONF.kronos.report_dir,
                document,
                self.input_parameters.get('action_uuid', ''),
                CONF.kronos.report_keep,
                datetime.datetime.now(datetime.UTC),
            )
