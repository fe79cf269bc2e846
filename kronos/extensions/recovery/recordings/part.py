# SPDX-License-Identifier: Apache-2.0
"""The part of a recovery in a recording: what failed, as far as is known."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from kronos.engine.settings import Settings
from kronos.engine.types import Instance, PastRestart
from kronos.extensions.recovery import restarts
from kronos.extensions.recovery.extension import RECOVERY, Recovery
from kronos.recordings.anonymize import vocabulary
from kronos.recordings.anonymize.extra_specs import Specs
from kronos.recordings.anonymize.vocabulary import allowed
from kronos.recordings.parts import Keys, RecordingPart
from kronos.recordings.safe_files import Folder
from kronos.snapshots import failures
from kronos.snapshots.cloud import NOT_ASKED, CloudInventory

GUESTS = frozenset({'', restarts.RUNNING, restarts.OFF})
STOPPERS = frozenset(
    {'', restarts.BY_NOVA, restarts.BY_KRONOS, restarts.BY_USER}
)


class RecoveryRecording(RecordingPart):
    """Whether an audit recovers, and why nobody knows what."""

    mode: ClassVar = 'recover'
    meta: ClassVar[Keys] = {'failures_unknown': (str | None, None)}
    """Why ``host_fault_query`` and ``server_fault_query`` were not answered;
    '' if they were, None: nobody asked them."""
    settings: ClassVar[Keys] = {'recover': (bool, False)}
    phrases: ClassVar = (NOT_ASKED, failures.OF_HOSTS, failures.OF_SERVERS)
    metadata: ClassVar[Mapping[str, tuple[str, ...]]] = {
        restarts.OPT_OUT: ('true', 'false')
    }

    def meta_values(self, gathered: CloudInventory) -> dict[str, Any]:
        unknown = gathered.failures_unknown
        return {'failures_unknown': None if unknown == NOT_ASKED else unknown}

    def settings_values(self, settings: Settings) -> dict[str, Any]:
        return {'recover': settings.extension.name == RECOVERY.name}

    def extension(self, row: Any) -> Recovery | None:
        return RECOVERY if row.recover else None

    def read(
        self, folder: Folder, meta: Any, gathered: CloudInventory
    ) -> None:
        if meta.failures_unknown is not None:
            gathered.failures_unknown = meta.failures_unknown

    def anonymous_fields(self, instance: Instance) -> dict[str, Any]:
        return {
            'failure': allowed(
                instance.failure, failures.KINDS, failures.UNKNOWN
            ),
            'guest': allowed(instance.guest, GUESTS),
            'stopped_by': allowed(instance.stopped_by, STOPPERS),
            'restarts': [_restart(restart) for restart in instance.restarts],
        }

    def anonymous(self, gathered: CloudInventory, specs: Specs) -> None:
        gathered.failures_unknown = vocabulary.own_words(
            gathered.failures_unknown, self.phrases
        )


def _restart(restart: PastRestart) -> PastRestart:
    """Whether a request is known matters, and not which it is."""
    return replace(
        restart,
        state=allowed(restart.state, vocabulary.ACTION_STATES),
        stop=restart.stop and 'req',
        migrate=restart.migrate and 'req',
    )
