# SPDX-License-Identifier: Apache-2.0
"""The part of a recovery in a recording: what failed, as far as is known."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from kronos.common.masking import masked
from kronos.engine.settings import Settings
from kronos.engine.types import Instance, PastRestart
from kronos.extensions.recovery import failures, restarts
from kronos.extensions.recovery.extension import RECOVERY, Recovery
from kronos.extensions.recovery.failures import NOT_ASKED, Failures
from kronos.extensions.recovery.readings import failures as readings
from kronos.recordings.anonymize import vocabulary
from kronos.recordings.anonymize.extra_specs import Specs
from kronos.recordings.anonymize.vocabulary import allowed
from kronos.recordings.parts import Keys, RecordingPart
from kronos.recordings.safe_files import Folder
from kronos.snapshots.cloud import CloudInventory

GUESTS = frozenset({'', restarts.RUNNING, restarts.OFF})
STOPPERS = frozenset(
    {'', restarts.BY_NOVA, restarts.BY_KRONOS, restarts.BY_USER}
)


class RecoveryRecording(RecordingPart):
    """Whether an audit recovers, and why nobody knows what."""

    mode: ClassVar = 'recover'
    keeps_beside: ClassVar = True
    meta: ClassVar[Keys] = {'failures_unknown': (str | None, None)}
    """Why ``host_fault_query`` and ``server_fault_query`` were not answered;
    '' if they were, None: nobody asked them."""
    settings: ClassVar[Keys] = {'recover': (bool, False)}
    phrases: ClassVar = (NOT_ASKED, readings.OF_HOSTS, readings.OF_SERVERS)
    metadata: ClassVar[Mapping[str, tuple[str, ...]]] = {
        restarts.OPT_OUT: ('true', 'false')
    }

    def meta_values(self, gathered: CloudInventory) -> dict[str, Any]:
        unknown = failures.why_unknown(gathered.beside)
        return {'failures_unknown': None if unknown == NOT_ASKED else unknown}

    def settings_values(self, settings: Settings) -> dict[str, Any]:
        return {'recover': settings.extension.name == RECOVERY.name}

    def extension(self, row: Any) -> Recovery | None:
        return RECOVERY if row.recover else None

    def read(
        self, folder: Folder, meta: Any, gathered: CloudInventory
    ) -> None:
        if meta.failures_unknown is not None:
            gathered.beside[failures.NAME] = Failures(meta.failures_unknown)

    def anonymous_fields(self, instance: Instance) -> dict[str, Any]:
        return {
            'failure': allowed(
                instance.failure, readings.KINDS, readings.UNKNOWN
            ),
            'guest': allowed(instance.guest, GUESTS),
            'stopped_by': allowed(instance.stopped_by, STOPPERS),
            'restarts': [_restart(restart) for restart in instance.restarts],
        }

    def redact(self, gathered: CloudInventory) -> None:
        _reword(gathered, masked)

    def anonymous(self, gathered: CloudInventory, specs: Specs) -> None:
        _reword(
            gathered, lambda text: vocabulary.own_words(text, self.phrases)
        )


def _reword(gathered: CloudInventory, reword: Callable[[str], str]) -> None:
    if failures.NAME in gathered.beside:
        unknown = reword(failures.why_unknown(gathered.beside))
        gathered.beside[failures.NAME] = Failures(unknown)


def _restart(restart: PastRestart) -> PastRestart:
    """Whether a request is known matters, and not which it is."""
    return replace(
        restart,
        state=allowed(restart.state, vocabulary.ACTION_STATES),
        stop=restart.stop and 'req',
        migrate=restart.migrate and 'req',
    )
