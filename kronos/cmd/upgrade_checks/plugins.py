# SPDX-License-Identifier: Apache-2.0
"""The checks of plugins: whose their names are, and whether they load."""

import pkgutil
from importlib import metadata, util

from oslo_upgradecheck import upgradecheck

from kronos.cmd import program
from kronos.cmd.checks import watcher, weigher
from kronos.cmd.upgrade_checks.services import APPLIER, ENGINE, LocalServices
from kronos.cmd.upgrade_checks.tally import Tally
from kronos.common.plugins import extensions
from kronos.common.shell_commands import ShellCommand

EFFECTS = {
    'watcher_goals': 'at its next start Watcher treats it as uninstalled '
    'and cancels its audits',
    'watcher_strategies': 'at its next start Watcher treats it as '
    'uninstalled and cancels its audits',
    'watcher_planners': 'every audit of Kronos fails',
    'watcher_actions': 'each of its actions fails',
}
"""What follows if one cannot be loaded."""
WHOLE = (
    f'install {program.PACKAGE}[watcher] with all its dependencies, in the '
    'environment of Watcher'
)


def names() -> upgradecheck.Result:
    """Does another package claim a name of ours?"""
    tally = Tally()
    ours = watcher.entry_points()
    if not ours:
        tally.fail(
            f'the package {program.PACKAGE} has no entry points here, so '
            'Watcher cannot find Kronos',
            'install it with pip in the environment of Watcher',
        )
    elif missing := _unregistered():
        tally.fail(
            f'the metadata of the package {program.PACKAGE} is older than '
            f'its code: the extensions {", ".join(missing)} have no entry '
            'points, so their options and reports are missing',
            'install the package again with pip',
        )
    for entry_point in ours:
        rivals, twins = _others(entry_point)
        name = f'{entry_point.group}:{entry_point.name}'
        if twins:
            tally.warn(
                f'{name} is also provided by {", ".join(twins)}, with the '
                'same class',
                'uninstall the superfluous package',
            )
        if rivals:
            tally.fail(
                f'{name} is also provided by {", ".join(rivals)}: Watcher '
                'loads neither of them, and at its next start may treat the '
                "other's description as a change and cancel audits",
                'uninstall the package that should not be there',
            )
    tally.fine(f'{len(ours)} plugins, and no other package uses their names')
    return tally.result()


def _unregistered() -> list[str]:
    """The extensions of our code that no entry point leads to."""
    spec = util.find_spec(extensions.NAMESPACE)
    folders = (spec and spec.submodule_search_locations) or []
    names = {
        each.name
        for each in pkgutil.iter_modules(folders)
        if util.find_spec(f'{extensions.NAMESPACE}.{each.name}.extension')
    }
    return sorted(names - set(extensions.names()))


def _others(entry_point: metadata.EntryPoint) -> tuple[list[str], list[str]]:
    """Packages that have a plugin of the same group and name.

    :returns: those that have another class, and those that have the same
    """
    rivals, twins = set(), set()
    for other in metadata.entry_points(
        group=entry_point.group, name=entry_point.name
    ):
        dist = other.dist
        name = f'{dist.name} {dist.version}' if dist else 'another package'
        if other.value != entry_point.value:
            rivals.add(name)
        elif dist is None or dist.name != program.PACKAGE:
            twins.add(name)
    return sorted(rivals), sorted(twins)


def load(services: LocalServices) -> upgradecheck.Result:
    """Can each service load what it would load of Kronos?"""
    tally = Tally()
    if services.has_watcher:
        for name, answer in (
            (ENGINE, services.engine),
            (APPLIER, services.applier),
        ):
            if answer.error:
                tally.fail(
                    f'a test process of {name} failed to start: '
                    f'{answer.error}',
                    WHOLE,
                )
            _plugins(name, answer.content.get('plugins', {}), tally)
    else:
        tally.warn(
            'Watcher is not installed here, so its plugins were not loaded',
            f'run "{ShellCommand.STATUS}" on the machines that run {ENGINE} '
            f'and {APPLIER}',
        )
    if services.has_nova:
        _weigher(services, tally)
    return tally.result()


def _plugins(service: str, errors: dict[str, str], tally: Tally) -> None:
    for name, error in errors.items():
        if error:
            effect = EFFECTS[name.partition(':')[0]]
            tally.fail(
                f'{service} cannot load {name}: {error}; {effect}', WHOLE
            )
    good = sum(not error for error in errors.values())
    tally.fine(f'{service} can load {good} plugins')


def _weigher(services: LocalServices, tally: Tally) -> None:
    answer = services.scheduler
    if answer.error:
        tally.fail(
            'nova-scheduler cannot load its weighers, and would fail to '
            f'start: {answer.error}',
            'correct weight_classes in [filter_scheduler], and install '
            f'{program.PACKAGE} in the environment of nova-scheduler',
        )
    elif answer.content.get('is_enabled'):
        tally.fine('nova-scheduler can load the weigher')
    else:
        tally.fine(f'nova-scheduler does not use {weigher.CLASS}')
