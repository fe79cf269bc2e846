# SPDX-License-Identifier: Apache-2.0
"""The plugin kronos_live_migrate of Watcher's applier: schema and clients."""

from typing import Any

from oslo_log import log as logging
from watcher import conf, objects

from kronos.actions.core import notifications, retries, watcher_action
from kronos.actions.core import parameters as of_moves
from kronos.actions.core.watcher_action import NAME, TEXT, UUID
from kronos.actions.live import parameters, recovery, run
from kronos.actions.live.context import MigrationContext
from kronos.clients.nova.live_migration import LiveMigration
from kronos.engine import faults
from kronos.engine.faults import Fault
from kronos.engine.phase_rules import LIVE

LOG = logging.getLogger(__name__)
CONF = conf.CONF


class LiveMigrate(watcher_action.KronosAction):
    """Live-migrate an instance to a host that Nova's scheduler confirms.

    Never forced. Before the call it waits for its turn, and looks at the
    instance, its server groups, both hosts and the room. The migration is
    followed to its end, and aborted in Nova if it takes too long, if its
    destination is closed or if its plan is cancelled.

    One class, since Watcher asks one object for the schema, for each step of
    an action and for its abort.
    """

    @property
    def schema(self) -> dict[str, Any]:
        return {
            'type': 'object',
            'properties': {
                **watcher_action.PROPERTIES,
                'resource_id': UUID,
                'phase': {'enum': [phase.value for phase in LIVE]},
                'requires': UUID,
                'source_closed': {'type': 'boolean'},
                'not_before': TEXT,
                'destination_node': NAME,
                'imbalance': TEXT,
                'combined_imbalance': TEXT,
                'forecast_seconds': {'type': 'number', 'minimum': 0},
                'window_seconds': {'type': 'number', 'minimum': 0},
                'effect': {
                    'type': 'object',
                    'additionalProperties': {'type': 'array'},
                },
            },
            'required': [
                'resource_id',
                'aggregate',
                'phase',
                'source_node',
                'destination_node',
            ],
        }

    def get_description(self) -> str:
        return (
            'Live-migrate an instance to a host that was chosen by Kronos '
            "and is checked by Nova's scheduler, and make sure that it "
            'arrives.'
        )

    def _begin(self) -> None:
        self._check_other_half()
        super()._begin()

    def revert(self) -> None:
        """Leave the instance where it is: it runs there."""
        LOG.info('Instance %s is not moved back', self.resource_id)

    def _make_run(self) -> run.MigrationRun:
        clients = self._clients()
        values, patience = self.input_parameters, self._patience()
        settings = parameters.settings_of(values, CONF.kronos)
        nova = retries.reach(settings, patience, clients.nova)
        context = MigrationContext(
            **vars(patience),
            nova=nova,
            live_migration=LiveMigration(nova.api),
            placement=retries.reach(settings, patience, clients.placement),
            slots=parameters.slots_of(values, settings),
            guest_states=recovery.states_of(
                self._prometheus,
                CONF.kronos.guest_state_query,
                settings.task,
            ),
            exclusions=self._exclusions(),
            notices=notifications.Notices(of_moves.facts(values), CONF),
        )
        return run.MigrationRun(settings, context)

    def _check_other_half(self) -> None:
        """Whether the move that this one is the answer to was made.

        :raises StaleTask: it was not; Watcher goes on all the same
        :raises TurnUnknown: Watcher's database cannot be read
        """
        required = self.input_parameters.get('requires')
        if not required:
            return
        for action in self._actions_of_plan():
            if action.input_parameters.get('resource_id') == required:
                if action.state == objects.action.State.SUCCEEDED:
                    return
                raise faults.error(
                    Fault.OTHER_HALF,
                    'it is one migration of a swap, and the other one, of '
                    f'{required}, is {action.state}',
                )
        raise faults.error(
            Fault.OTHER_HALF,
            'it is one migration of a swap, and the other one, of '
            f'{required}, is not in its plan',
        )
