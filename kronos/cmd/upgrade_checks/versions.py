# SPDX-License-Identifier: Apache-2.0
"""The checks of versions: those of Watcher and Nova, here and over there."""

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from kronos.clients.nova import api
from kronos.cmd import credentials, program
from kronos.cmd.checks import cloud
from kronos.cmd.upgrade_checks.configuration import UNREAD, Configuration
from kronos.cmd.upgrade_checks.tally import Tally
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand

SUPPORTED = {'python-watcher': (15, 17), 'nova': (31, 34)}
"""The first release that Kronos works with, and the last that it knows."""
SECONDS = 10.0
"""That Keystone and Nova may be silent."""


def check() -> upgradecheck.Result:
    """Are the Watcher and the Nova of this environment supported?"""
    tally = Tally()
    versions = {name: program.installed(name) for name in SUPPORTED}
    tally.fine(f'{program.PACKAGE} {program.version()}')
    if not any(versions.values()):
        tally.warn(
            'neither Watcher nor Nova is installed in this environment',
            f'run "{ShellCommand.STATUS}" in the environment of each service',
        )
    for name, version in versions.items():
        if version:
            _judge(name, version, tally)
    return tally.result()


def _judge(name: str, version: str, tally: Tally) -> None:
    oldest, newest = SUPPORTED[name]
    major = version.partition('.')[0]
    if not major.isdigit():
        tally.warn(f'{name} {version}: its release is not known')
    elif int(major) < oldest:
        tally.fail(
            f'{name} {version} is too old for this release of Kronos',
            f'upgrade it to {oldest}.0.0 or later',
        )
    elif int(major) > newest:
        tally.warn(
            f'{name} {version} is newer than {newest}, the last release with '
            'which this release of Kronos was tested',
            'check if there is a newer release of Kronos',
        )
    else:
        tally.fine(f'{name} {version}')


def check_nova(
    configured: Configuration, os_cloud: str
) -> upgradecheck.Result:
    """Does the running Nova speak what Kronos asks?

    :param os_cloud: of clouds.yaml; '' if none was named
    """
    tally = Tally()
    if configured.conf is None:
        tally.warn(UNREAD)
        return tally.result()
    try:
        newest = _newest(configured, os_cloud)
    except (exceptions.KronosException, cfg.Error) as error:
        # The text of the latter holds the value.
        is_ours = isinstance(error, exceptions.KronosException)
        tally.warn(
            'Nova could not be queried: '
            f'{error if is_ours else type(error).__name__}',
            'check that Keystone and Nova answer, and that the credentials '
            f'are right; run {ShellCommand.TEST_CONFIG} for details',
        )
        return tally.result()
    _judge_nova(newest, tally)
    return tally.result()


def _newest(configured: Configuration, os_cloud: str) -> tuple[int, int]:
    """:raises KronosException: Keystone or Nova does not tell"""
    group = credentials.GROUP
    if configured.conf[credentials.WATCHER].auth_type and not os_cloud:
        group = credentials.WATCHER
    if configured.conf[group].timeout is None:
        configured.conf.set_override('timeout', SECONDS, group)
    access = credentials.connect(configured.conf, os_cloud, group)
    access.identity()
    kind = exceptions.NovaClientError
    adapter = access.clients.adapter('compute', kind)
    newest = cloud.newest(adapter, kind)
    if newest is None:
        # It tells why.
        api.Api(adapter, max_retries=0, timeout=SECONDS).microversion  # noqa: B018
        raise kind(reason='it reports no microversion')
    return newest


def _judge_nova(newest: tuple[int, int], tally: Tally) -> None:
    version = '.'.join(map(str, newest))
    if newest < api.MINIMUM:
        least = '.'.join(map(str, api.MINIMUM))
        tally.fail(
            f"Nova's newest microversion is {version}; Kronos needs {least}",
            'upgrade Nova',
        )
    lacking = [what for since, what in cloud.GAINS.items() if newest < since]
    if lacking:
        tally.warn(
            f"Nova's newest microversion is {version}: it does not show "
            + ', '.join(lacking),
            'upgrade Nova',
        )
    tally.fine(f"Nova's newest microversion is {version}")
