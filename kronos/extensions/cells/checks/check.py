# SPDX-License-Identifier: Apache-2.0
"""The checks of moves between cells: could a cell be emptied?

For ``--cells``: the cell of each host, and what such moves depend on.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kronos.cmd.checks.cached_clients import OnceNova
from kronos.cmd.checks.findings import Findings
from kronos.cmd.credentials import Access
from kronos.extensions.cells.checks import (
    api_needs,
    cell_map,
    nova_options,
    nova_policy,
)
from kronos.snapshots.cells import CellSource


@dataclass
class NovaFiles:
    """Files of Nova's services, and directories of them."""

    options: Sequence[str] = field(default_factory=list)
    policy: Sequence[str] = field(default_factory=list)


def check(
    files: NovaFiles,
    access: Access | None,
    nova: OnceNova | None,
    kronos: Any,
    findings: Findings,
) -> dict[str, Any]:
    """Look at all of it that can be looked at.

    :param access: None: nothing is asked
    :param nova: None: it does not answer
    :param kronos: the group ``[kronos]``
    :returns: what was found, for the report
    """
    source = CellSource(kronos.cell_source)
    hosts, needs = [], []
    if access is not None and nova is not None:
        hosts = cell_map.check(nova, source, kronos.hypervisor_types, findings)
        needs = api_needs.check(access, nova, kronos, findings)
    needs.append(
        nova_policy.check(files.policy or kronos.nova_policy_files, findings)
    )
    needs += nova_options.check(files.options, kronos, findings)
    return {
        'source': source.value,
        'hosts': hosts,
        'needs': [asdict(need) for need in needs],
    }
