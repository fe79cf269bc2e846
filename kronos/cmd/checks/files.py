# SPDX-License-Identifier: Apache-2.0
"""The checks of the configuration files."""

from collections.abc import Iterable
from typing import Any

from oslo_config import cfg

from kronos.clients.prometheus import auth
from kronos.cmd import credentials
from kronos.cmd.checks import findings as causes
from kronos.cmd.checks.causes import budgets
from kronos.cmd.checks.findings import Cause, Findings
from kronos.cmd.config_files import Paths
from kronos.common.names import near_names
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
NO_OPTION = 'is no option of Kronos and has no effect'
REMEDY_CONFIG = 'configuration.rst of the documentation lists every option'


def check(conf: Any, where: Paths, findings: Findings) -> bool:
    """Check the options of ``[kronos]`` and ``[kronos_prometheus]``.

    :returns: whether they are valid, so that the rest can be looked at
    """
    if not where.all_files:
        findings.warning(
            'config-none',
            'no configuration file was found; every option has its default',
            'name one with --config-file, such as the watcher.conf that '
            'contains [kronos]',
            key=Cause.FILES,
        )
    faults = list(validation.faults(conf))
    for fault in faults:
        findings.error('config-invalid', fault, 'correct the value')
    if not faults and auth.is_readable(conf.kronos_prometheus):
        findings.warning(
            'prometheus-clear-text',
            '[kronos_prometheus] url is http://, so anybody on the network '
            'path to Prometheus can read the credentials',
            'set url to https://, and cafile if its CA is your own',
        )
    if not faults:
        budgets.check_phases(conf.kronos, findings)
    return not faults


def connections(conf: Any, findings: Findings) -> bool:
    """Tell what the files alone show of the ways to Prometheus and Keystone.

    :returns: whether the options of Prometheus fit together
    """
    faults = auth.contradictions(conf.kronos_prometheus)
    for fault, remedy in faults.items():
        findings.error(
            'prometheus-config',
            f'[{auth.GROUP}] {fault}',
            f'{remedy}, in [{auth.GROUP}]',
            because=[causes.group(auth.GROUP)],
        )
    for group in credentials.GROUPS:
        for fault, remedy in credentials.faults(conf, group).items():
            findings.error(
                'credentials',
                f'[{group}] {fault}',
                f'{remedy}, in [{group}]',
                key=Cause.KEYSTONE,
                because=[causes.group(group)],
            )
    return not faults


def absent(conf: Any, findings: Findings) -> None:
    """Tell which files are not here; they may be where the services run."""
    paths = {
        f'[{auth.GROUP}] {name}': path
        for name, path in auth.unreadable(conf.kronos_prometheus).items()
    }
    for group in credentials.GROUPS:
        paths |= credentials.unreadable(conf, group)
    for option, path in paths.items():
        findings.note(
            'file-absent',
            f'{option}: {path} was not found here, or cannot be read',
            'check that it exists on the machines that run the services',
        )


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
            f'{whose} has other options than the ones tested here: '
            + '; '.join(unlike),
            'the service reads its own file: set the same values there, or '
            'link one kronos.conf into its configuration directory',
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
                text, remedy = old[section, key]
                findings.warning(
                    'option-deprecated',
                    f'{path}: [{section}] {key} {text}',
                    remedy,
                )
    names = {
        group: {name for opt in opts for name in (opt.name, opt.dest)}
        for group, opts in conf_opts.list_opts()
    }
    for section, keys in sections.items():
        if section in names:
            former = {key for group, key in old if group == section}
            for key in sorted(set(keys) - names[section] - former):
                _report(path, section, key, names[section], findings)
        elif section in credentials.GROUPS:
            _of_credentials(path, section, keys, findings)
        elif section in validation.OLD_GROUPS:
            findings.warning(
                'option-unknown',
                *validation.old_group(path, section),
                key=causes.group(validation.OLD_GROUPS[section]),
            )
        elif alike := near_names.near(section, names, cutoff=0.85):
            findings.warning(
                'option-unknown',
                f'{path}: [{section}] {NO_OPTION}',
                near_names.question(alike),
                key=causes.group(alike[0]),
            )


def _of_credentials(
    path: str, section: str, keys: Iterable[str], findings: Findings
) -> None:
    """Tell of names that are nearly an option of keystoneauth.

    Others may be those of a plugin that is not installed here.
    """
    names = credentials.names()
    for key in sorted(set(keys) - names):
        if near_names.near(key, names, cutoff=0.8):
            _report(path, section, key, names, findings)


def _deprecated() -> dict[tuple[str, str], tuple[str, str]]:
    """Group and name to what has become of an option, and what to do."""
    by_name = {}
    for group, opts in conf_opts.list_opts():
        for opt in opts:
            now = f'[{group}] {opt.name}'
            for old in opt.deprecated_opts:
                where = (old.group or group, old.name or opt.name)
                by_name[where] = (
                    f'is now called {now}; a later release will not accept '
                    'the old name',
                    f'write {now} instead',
                )
            if opt.deprecated_for_removal:
                by_name[group, opt.name] = (
                    'will be removed in a later release',
                    opt.deprecated_reason or 'remove it',
                )
    return by_name


def _report(
    path: str,
    section: str,
    name: str,
    names: Iterable[str],
    findings: Findings,
) -> None:
    alike = near_names.near(name, sorted(names))
    findings.warning(
        'option-unknown',
        f'{path}: [{section}] {name} {NO_OPTION}',
        near_names.question(alike) or REMEDY_CONFIG,
        key=_cause(section, alike[0]) if alike else '',
    )


def _cause(section: str, meant: str) -> str:
    """What follows from an option that was not set."""
    of_connection = meant == 'url' or meant in auth.AUTH_OPTIONS
    if section in credentials.GROUPS or of_connection:
        return causes.group(section)
    return causes.option(meant)
