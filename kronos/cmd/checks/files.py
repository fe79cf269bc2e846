# SPDX-License-Identifier: Apache-2.0
"""The checks of the configuration files."""

import difflib
from collections.abc import Iterable
from typing import Any

from oslo_config import cfg

from kronos.clients.prometheus import auth
from kronos.cmd.checks.findings import Findings
from kronos.cmd.config_files import Paths
from kronos.conf import opts as conf_opts
from kronos.conf import validation, weigher

WEIGHER_ALONE = frozenset(opt.name for opt in weigher.OPTS)
BOTH_WEIGH = frozenset(
    {
        'aggregates',
        'host_match',
        'hypervisor_types',
        'min_host_coverage',
        'pack_policies_file',
        'partial_answers',
        'policies_file',
        'require_all_policies',
        'soft_rule_penalty',
        'soft_rules',
    }
)
"""Options of ``[kronos]`` for planning that the weigher follows, too."""
MEND_CONFIG = 'configuration.rst of the documentation lists every option'


def check(conf: Any, where: Paths, findings: Findings) -> bool:
    """Check the options of ``[kronos]`` and ``[kronos_prometheus]``.

    :returns: whether they are valid, so that the rest can be looked at
    """
    if not where.all_files:
        findings.warning(
            'config-none',
            'no configuration file was found; every option has its default',
            'name one with --config-file, such as the watcher.conf that '
            'holds [kronos]',
        )
    faults = list(validation.faults(conf))
    for fault in faults:
        findings.error('config-invalid', fault, 'correct the value')
    if not faults and auth.is_readable(conf.kronos_prometheus):
        findings.warning(
            'prometheus-clear-text',
            '[kronos_prometheus] url is http://, so that anybody on the way '
            'to Prometheus can read the credentials',
            'set url to https://, and cafile if its CA is your own',
        )
    return not faults


def differences(
    ours: Any, theirs: Any, of_nova: bool, findings: Findings
) -> None:
    """Tell where a service has other options than those that are tested.

    :param of_nova: whether nova-scheduler is the service, else Watcher;
        only what both look at counts
    """
    unlike, whose = [], 'nova.conf' if of_nova else 'watcher.conf'
    for group, opts in conf_opts.list_opts():
        for opt in opts:
            weighs = BOTH_WEIGH if of_nova else WEIGHER_ALONE
            if (
                group == conf_opts.KRONOS
                and (opt.name in weighs) is not of_nova
            ):
                continue
            try:
                pair = (ours[group][opt.dest], theirs[group][opt.dest])
            except cfg.Error:
                continue  # told as invalid, with its place
            if pair[0] != pair[1]:
                unlike.append(f'[{group}] {opt.name}{_values(opt, pair)}')
    if unlike:
        findings.warning(
            'config-differs',
            f'{whose} has other options than those tested here: '
            + '; '.join(unlike),
            'the service reads its own file: write the same there, or link '
            'one kronos.conf into its configuration directory',
        )


def _values(opt: Any, pair: tuple[Any, Any]) -> str:
    # A URL may hold a user and a password.
    if opt.secret or isinstance(opt, cfg.URIOpt):
        return ''
    return f' ({pair[1]}, here {pair[0]})'


def unknown(path: str, findings: Findings) -> None:
    """Tell of names that oslo.config would pass over in silence.

    And of those that it takes today, and will not for ever.
    """
    sections: dict[str, dict[str, Any]] = {}
    cfg.ConfigParser(path, sections).parse()
    old = _deprecated()
    for section, keys in sections.items():
        for key in sorted(keys):
            if (section, key) in old:
                text, mend = old[section, key]
                findings.warning(
                    'option-deprecated',
                    f'{path}: [{section}] {key} {text}',
                    mend,
                )
    known = {
        group: {name for opt in opts for name in (opt.name, opt.dest)}
        for group, opts in conf_opts.list_opts()
    }
    for section, keys in sections.items():
        if section in known:
            former = {key for group, key in old if group == section}
            for key in sorted(set(keys) - known[section] - former):
                _tell(
                    path, f'[{section}] {key}', key, known[section], findings
                )
        elif section in validation.OLD_GROUPS:
            findings.warning(
                'option-unknown', *validation.old_group(path, section)
            )
        elif difflib.get_close_matches(section, known, 1, 0.85):
            _tell(path, f'[{section}]', section, known, findings)


def _deprecated() -> dict[tuple[str, str], tuple[str, str]]:
    """Group and name to what has become of an option, and what to do."""
    found = {}
    for group, opts in conf_opts.list_opts():
        for opt in opts:
            now = f'[{group}] {opt.name}'
            for old in opt.deprecated_opts:
                where = (old.group or group, old.name or opt.name)
                found[where] = (
                    f'is {now} today; a later release will not know the old '
                    'name',
                    f'write {now} instead',
                )
            if opt.deprecated_for_removal:
                found[group, opt.name] = (
                    'goes away with a later release',
                    opt.deprecated_reason or 'leave it out',
                )
    return found


def _tell(
    path: str,
    what: str,
    name: str,
    known: Iterable[str],
    findings: Findings,
) -> None:
    alike = difflib.get_close_matches(name, list(known), 1)
    findings.warning(
        'option-unknown',
        f'{path}: {what} is no option of Kronos and has no effect',
        f'did you mean {alike[0]}?' if alike else MEND_CONFIG,
    )
