# SPDX-License-Identifier: Apache-2.0
"""The checks of files before an upgrade: configuration and policies."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from kronos.cmd import config_files, credentials
from kronos.cmd.checks import files, policies
from kronos.cmd.checks.findings import Findings
from kronos.cmd.config_files import Paths
from kronos.cmd.upgrade_checks.tally import Tally
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand
from kronos.conf import opts

UNREAD = 'the configuration cannot be used: see the check Configuration'


@dataclass
class Configuration:
    """The files of this machine, and what those of Kronos say."""

    own: Paths
    """Where ``[kronos]`` is."""
    others: list[Paths]
    """Of Watcher and Nova, where options of Kronos may be, too."""
    conf: Any = None
    """None: they could not be read."""

    @property
    def all_files(self) -> list[str]:
        every = (self.own, *self.others)
        return [*dict.fromkeys(p for paths in every for p in paths.all_files)]


def check(configured: Configuration) -> upgradecheck.Result:
    """Read the files, and look for options that are not there any more.

    :param configured: its ``conf`` is filled in
    """
    tally, findings = Tally(), Findings()
    for path in unreadable(configured.all_files):
        tally.warn(
            f'this user may not read {path}',
            f'run "{ShellCommand.STATUS}" as the user of the service that '
            'reads this file',
        )
    try:
        for paths in (configured.own, *configured.others):
            if unreadable(paths.all_files):
                continue
            conf = config_files.load(paths, credentials.WATCHER)
            for path in paths.all_files:
                files.unknown(path, findings)
            if paths is configured.own:
                files.check(conf, paths, findings)
                configured.conf = conf
    except exceptions.ConfigurationError as error:
        findings.error('config-invalid', str(error), 'correct the file')
    tally.take(findings)
    tally.fine(f'read: {", ".join(configured.all_files)}')
    return tally.result()


def unreadable(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if not os.access(path, os.R_OK)]


def check_policies(configured: Configuration) -> upgradecheck.Result:
    tally = Tally()
    if configured.conf is None:
        tally.warn(UNREAD)
        return tally.result()
    kronos = configured.conf.kronos
    try:
        path, other = kronos.policies_file, kronos.pack_policies_file
    except cfg.Error:
        path, other = '', None
    if not path:
        tally.warn(UNREAD)
        return tally.result()
    if _is_none_wanted(path, other):
        tally.warn(
            f'there is no {path}, and no option names another policies file',
            'this is right if watcher-applier is the only service on this '
            'host that uses Kronos; else create the file',
        )
        return tally.result()
    findings = Findings()
    for policy_set in policies.check(kronos, findings):
        active = len(policy_set.file.enabled)
        tally.fine(f'{policy_set.path}: {active} policies are enabled')
    tally.take(findings)
    return tally.result()


def _is_none_wanted(path: str, other: str | None) -> bool:
    """Whether nobody chose a policies file, and none is where it would be."""
    default = next(
        option.default
        for option in opts.SCOPE_OPTS
        if option.name == 'policies_file'
    )
    return path == default and not other and not os.path.exists(path)
