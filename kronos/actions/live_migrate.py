# SPDX-License-Identifier: Apache-2.0
"""The action kronos_live_migrate: one move, as Watcher's applier runs it."""

from typing import Any

from oslo_log import log as logging
from watcher import conf, objects

from kronos.actions.core import notifications, retries, watcher_action
from kronos.actions.core.watcher_action import NAME, SEQUENCE, TEXT, UUID
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

    def __init__(self, config: Any, osc: Any = None) -> None:
        super().__init__(config, osc)
        self._own_run: run.MigrationRun | None = None

    @property
    def schema(self) -> dict[str, Any]:
        return {
            'type': 'object',
            'properties': {
                'resource_id': UUID,
                'resource_name': TEXT,
                'aggregate': NAME,
                'phase': {'enum': [phase.value for phase in LIVE]},
                'sequence': SEQUENCE,
                'requires': UUID,
                'source_closed': {'type': 'boolean'},
                'not_before': TEXT,
                'source_node': NAME,
                'destination_node': NAME,
                'imbalance': TEXT,
                'combined_imbalance': TEXT,
                'action_uuid': UUID,
                'action_plan_uuid': UUID,
                'audit_uuid': UUID,
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
        self._run().begin()

    def _carry_out(self) -> str:
        return self._run().carry_out()

    def revert(self) -> None:
        """Leave the instance where it is: it runs there."""
        LOG.info('Instance %s is not moved back', self.resource_id)

    def _run(self) -> run.MigrationRun:
        """The move; the same one for all that Watcher calls.

        :raises ConfigurationError: an option of Kronos is not valid
        """
        if self._own_run is None:
            clients = self._clients()
            told, patience = self.input_parameters, self._patience()
            settings = parameters.settings_of(told, CONF.kronos)
            nova = retries.reach(settings, patience, clients.nova)
            reached = MigrationContext(
                **vars(patience),
                nova=nova,
                live_migration=LiveMigration(nova.api),
                placement=retries.reach(settings, patience, clients.placement),
                slots=parameters.slots_of(told, settings),
                guest_states=recovery.states_of(
                    self._prometheus,
                    CONF.kronos.guest_state_query,
                    settings.task,
                ),
                exclusions=self._exclusions(),
                notices=notifications.Notices(parameters.facts(told), CONF),
            )
            self._own_run = run.MigrationRun(settings, reached)
        return self._own_run

    def _check_other_half(self) -> None:
        """Whether the move that this one is the answer to was made.

        :raises StaleTask: it was not; Watcher goes on all the same
        :raises TurnUnknown: Watcher's database does not tell
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
                    'it is half of an exchange, and the other half, the '
                    f'move of {required}, is {action.state}',
                )
        raise faults.error(
            Fault.OTHER_HALF,
            f'it is half of an exchange whose other half, {required}, is not '
            'in its plan',
        )
