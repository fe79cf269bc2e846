# SPDX-License-Identifier: Apache-2.0
"""The checks of nova.conf: options that moves between cells depend on.

No API tells them. Of the files nothing is shown but these options.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oslo_config import cfg

from kronos.cmd import config_files
from kronos.cmd.checks.findings import Findings
from kronos.common import durations, exceptions
from kronos.extensions.cells.checks import cross_cell_weigher
from kronos.extensions.cells.checks.needs import Need

DEFAULT = 'DEFAULT'
SETTLE_SECONDS = 120.0
"""For so long the action waits at most until Nova's answers agree."""


@dataclass(frozen=True)
class _Option:
    """An option of Nova, as far as it is told here."""

    group: str
    opt: Any
    rule: str
    """Of its values."""

    @property
    def name(self) -> str:
        return f'[{self.group}] {self.opt.name}'


LONG_RPC_TIMEOUT = _Option(
    DEFAULT,
    cfg.IntOpt('long_rpc_timeout', default=1800),
    'a whole number of seconds',
)
CONFIRM_WINDOW = _Option(
    DEFAULT,
    cfg.IntOpt('resize_confirm_window', default=0, min=0),
    'a whole number of seconds, 0 for never',
)
AZ_ATTACH = _Option(
    'cinder',
    cfg.BoolOpt('cross_az_attach', default=True),
    'true or false',
)
MULTIPLIER = _Option(
    cross_cell_weigher.GROUP,
    cfg.FloatOpt(cross_cell_weigher.NAME, default=1000000.0),
    'a number',
)
OPTIONS = (LONG_RPC_TIMEOUT, CONFIRM_WINDOW, AZ_ATTACH, MULTIPLIER)


def check(paths: Sequence[str], kronos: Any, findings: Findings) -> list[Need]:
    """Read them of each service.

    :param paths: each a service's file, or a directory of it
    :param kronos: the group ``[kronos]``
    """
    if not paths:
        findings.note(
            'cells-options-unknown',
            ', '.join(option.name for option in OPTIONS)
            + ' of Nova were not checked, because no API shows them',
            'give the nova.conf of each service with --cell-config',
        )
    return [
        need for path in paths for need in _of_service(path, kronos, findings)
    ]


def _of_service(path: str, kronos: Any, to: Findings) -> list[Need]:
    conf = cfg.ConfigOpts()
    for option in OPTIONS:
        conf.register_opt(option.opt, group=option.group)
    try:
        config_files.read(conf, config_files.paths([path]))
    except exceptions.ConfigurationError as error:
        to.error('config-invalid', str(error), 'correct the file')
        return []
    return [_need(option, conf, path, kronos, to) for option in OPTIONS]


def _need(
    option: _Option, conf: Any, path: str, kronos: Any, to: Findings
) -> Need:
    try:
        value = conf[option.group][option.opt.name]
    except cfg.Error:
        # Its text repeats the value.
        to.error(
            'config-invalid',
            f'{path}: {option.name} is not {option.rule}',
            'correct the value',
        )
        return Need(option.name, 'invalid', path, False)
    if option is LONG_RPC_TIMEOUT:
        return _long_rpc_timeout(value, path, kronos, to)
    if option is CONFIRM_WINDOW:
        return _confirm_window(value, path, kronos, to)
    if option is AZ_ATTACH:
        return _az_attach(value, path, to)
    return cross_cell_weigher.judge(option.name, value, path, to)


def _long_rpc_timeout(
    value: int, path: str, kronos: Any, to: Findings
) -> Need:
    ours = kronos.long_rpc_timeout
    if value != ours:
        effect = (
            'Nova gives up snapshots that Kronos considers short enough'
            if value < ours
            else (
                'Kronos keeps servers in their cell although Nova would wait '
                'for their snapshot'
            )
        )
        to.warning(
            'cells-rpc-timeout',
            f'{path}: {LONG_RPC_TIMEOUT.name} = {value}, and [kronos] '
            f'long_rpc_timeout = {ours:g}: {effect}',
            'set both to one value, that of nova-conductor',
        )
    return Need(LONG_RPC_TIMEOUT.name, str(value), path, value == ours)


def _confirm_window(value: int, path: str, kronos: Any, to: Findings) -> Need:
    needed = kronos.cell_verify_seconds + SETTLE_SECONDS
    if 0 < value <= needed:
        to.error(
            'cells-confirm-window',
            f'{path}: {CONFIRM_WINDOW.name} = {value}: Nova confirms moves '
            'while Kronos still checks them, which may take '
            f'{durations.exact(needed)}; '
            'what is confirmed cannot be taken back',
            f'set it to 0 on every nova-compute, or to more than {needed:g}',
        )
    elif value:
        to.note(
            'cells-confirm-window',
            f'{path}: {CONFIRM_WINDOW.name} = {value}: Nova confirms after '
            'that time what an audit with confirm=manual leaves to you',
            'set it to 0 on every nova-compute if you use confirm=manual',
        )
    is_good = value == 0 or value > needed
    return Need(CONFIRM_WINDOW.name, str(value), path, is_good)


def _az_attach(value: bool, path: str, to: Findings) -> Need:
    if not value:
        to.warning(
            'cells-az-attach',
            f'{path}: {AZ_ATTACH.name} = false: a server with volumes whose '
            'availability zone changes ends in ERROR in the last step of its '
            'move',
            'set it to true while a cell is emptied, unless the cells are in '
            'one zone',
        )
    return Need(AZ_ATTACH.name, str(value).lower(), path, value)
