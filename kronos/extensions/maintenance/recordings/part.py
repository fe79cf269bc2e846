# SPDX-License-Identifier: Apache-2.0
"""The part of maintenance in a recording: reasons of hosts, and its mode."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from kronos.common import exceptions
from kronos.common.names import near_names
from kronos.extensions.maintenance import (
    closing_reason,
    maintenance,
    maintenance_parameters,
)
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.recordings.parts import RecordingPart
from kronos.snapshots.cloud import CloudInventory

NO_AUDIT = '00000000-0000-0000-0000-000000000000'
"""Instead of the audit that closed a host: no plan depends on it."""
NOT_QUERIED = (
    'the recording does not contain which hosts are done: none is taken to be'
)


class MaintenanceRecording(RecordingPart):
    """What a run is planned by, in a recording that may be anonymous."""

    mode: ClassVar[str] = 'maintain'
    phrases: ClassVar = (maintenance.TO_DO, maintenance.MAINTAINED)

    def disabled_reason(
        self, reason: str, rename: Callable[[str], str]
    ) -> str | None:
        """Run, step and time stay: by them a run goes on."""
        own = closing_reason.parsed(reason)
        if own is None:
            return None
        return str(replace(own, run=rename(own.run), audit=NO_AUDIT))

    def replayed(
        self, parameters: Mapping[str, Any], gathered: CloudInventory
    ) -> Maintenance:
        """A run that somebody thinks of; without its queries.

        :raises ConfigurationError: also for a host that is not recorded
        """
        spec = maintenance_parameters.parse(dict(parameters))
        hosts = gathered.cloud.hosts
        for name in spec.hosts:
            if name not in hosts:
                hint = near_names.of_cloud(name, sorted(hosts))
                raise exceptions.ConfigurationError(
                    f'--parameter hosts: the recording has no host "{name}"; '
                    f'{hint}'
                )
        if maintenance.NAME not in gathered.beside:
            gathered.beside[maintenance.NAME] = RunView()
            gathered.warnings.append(NOT_QUERIED)
        return spec
