# SPDX-License-Identifier: Apache-2.0
"""The check of defaults before an upgrade: what plans differently after it."""

from typing import Any

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from kronos.cmd.checks import policies
from kronos.cmd.checks.findings import Findings
from kronos.cmd.upgrade_checks.configuration import UNREAD, Configuration
from kronos.cmd.upgrade_checks.tally import Tally
from kronos.policies.models import Mode

CHANGED = {
    'return_guard': 21600,
    'instance_cooldown': 900,
    'min_age': 0,
}
"""Options of ``[kronos]`` with another default now, and the one before."""
RELIEF = (
    '{file}: policy {name} relieves hosts above {limit:g}; '
    'relief_threshold: 1 plans as before'
)


def check(configured: Configuration) -> upgradecheck.Result:
    """Name what is left to a default that has changed."""
    tally, conf = Tally(), configured.conf
    if conf is None:
        tally.warn(UNREAD)
        return tally.result()
    changes = [*_options(conf), *_policies(conf.kronos)]
    for text in changes:
        tally.fine(text)
    if not changes:
        tally.fine('all options whose defaults have changed are set')
    return tally.result()


def _options(conf: Any) -> list[str]:
    return [
        f'{option} is {conf.kronos[option]} by default, and was {before}'
        for option, before in CHANGED.items()
        if _is_default(conf, option)
    ]


def _is_default(conf: Any, option: str) -> bool:
    try:
        location = conf.get_location(option, 'kronos').location
    except cfg.Error:
        return False
    return location is cfg.Locations.opt_default


def _policies(kronos: Any) -> list[str]:
    """Those of mode pack that leave it to the default."""
    try:
        sets = policies.check(kronos, Findings())
    except cfg.Error:
        return []
    return [
        RELIEF.format(
            file=policy_set.path,
            name=policy.name,
            limit=policy.relief_threshold,
        )
        for policy_set in sets
        for policy in policy_set.file.enabled
        if policy.mode is Mode.PACK
        and 'relief_threshold' not in policy.model_fields_set
    ]
