# SPDX-License-Identifier: Apache-2.0
"""The check of nova-api's policy files: may a server leave its cell?

No API tells it: where it is closed, Nova says that the host of the other cell
could not be found. Of the files nothing is shown but this one rule.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kronos.cmd.checks.findings import Findings
from kronos.common import policy_files, yaml_files
from kronos.common.policy_files import CLOSED, OPEN
from kronos.extensions.cells.cell_drain import POLICY as RULE
from kronos.extensions.cells.checks.needs import Need

REMEDY = (
    f'write "{RULE}": "rule:admin_api" into the policy.yaml of every nova-api'
)


def check(paths: Sequence[str], findings: Findings) -> Need:
    """Read the rule.

    :param paths: files, and directories of them; later ones go before
    """
    if not paths:
        findings.note(
            'cells-policy-unknown',
            f'whether nova-api lets servers leave their cell ({RULE}) was '
            'not checked: no API shows it, and it is closed by default',
            'give the policy.yaml of nova-api with --nova-policy, or set '
            '[kronos] nova_policy_files',
        )
        return Need(RULE, 'unknown', '-', None)
    rules: dict[str, Any] = {}
    where = paths[0]
    for path in policy_files.files(paths):
        try:
            of_file = policy_files.rules(path)
        except policy_files.Invalid as error:
            findings.error('config-invalid', str(error), 'correct the file')
            return Need(RULE, 'unknown', path, None)
        where = path if RULE in of_file else where
        rules |= of_file
    return _judged(rules, where, findings)


def _judged(rules: Mapping[str, Any], where: str, to: Findings) -> Need:
    text = rules.get(RULE, CLOSED)
    if not isinstance(text, str):
        kind = yaml_files.kind(text)
        to.error(
            'config-invalid',
            f'{where}: {RULE}: {kind} instead of a text',
            REMEDY,
        )
        return Need(RULE, 'invalid', where, False)
    text, meant = text.strip(), policy_files.resolved(text.strip(), rules)
    if meant is None:
        to.error(
            'config-invalid', f'{where}: {RULE} is defined by itself', REMEDY
        )
    elif meant == CLOSED:
        why = 'is closed' if RULE in rules else 'is not set, so it is closed'
        to.error(
            'cells-policy',
            f'{where}: {RULE} {why}: Nova refuses every move to another cell '
            'as if the host could not be found',
            REMEDY,
        )
    elif meant in OPEN:
        to.warning(
            'cells-policy-open',
            f'{where}: {RULE} is open to everybody: a resize by a tenant may '
            'leave the cell',
            REMEDY,
        )
    shown = yaml_files.clip(text) or '""'
    return Need(RULE, shown, where, meant not in (None, CLOSED))
