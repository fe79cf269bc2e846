# SPDX-License-Identifier: Apache-2.0
"""The versions of hypervisors that let servers move only one way."""

from collections import defaultdict
from collections.abc import Sequence

from kronos.cmd.checks.findings import Findings
from kronos.common import plain_text
from kronos.engine import wording
from kronos.engine.eligibility import hosts
from kronos.engine.settings import Settings
from kronos.engine.types import Snapshot


def check(
    snapshots: Sequence[Snapshot], settings: Settings, findings: Findings
) -> None:
    """Report scopes whose hypervisors have several versions."""
    if not settings.check_hypervisor_version:
        return
    for snapshot in snapshots:
        names: dict[int, list[str]] = defaultdict(list)
        for name, host in sorted(snapshot.hosts.items()):
            if host.hypervisor_version:
                names[host.hypervisor_version].append(plain_text.line(name))
        if len(names) < 2:
            continue
        versions = ', '.join(
            f'{hosts.version_text(version)} on {wording.some(of_version)}'
            for version, of_version in sorted(names.items())
        )
        findings.warning(
            'hypervisor-versions',
            f'the hypervisors of scope {plain_text.line(snapshot.scope)} have '
            f'several versions: {versions}; Nova refuses live migrations to '
            'an older one',
            'upgrade the older hypervisors; until then Kronos moves servers '
            'only to the same version or a newer one',
        )
