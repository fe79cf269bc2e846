# SPDX-License-Identifier: Apache-2.0
"""The options of emptying a cell."""

from typing import Any, ClassVar

from oslo_config import cfg, types

from kronos.conf import extensions

UUID, HOST = '{uuid}', '{host}'
"""What stands in ``cell_verify_query`` for the server, and for its host."""


class _VerifyQuery(types.String):  # type: ignore[misc]
    """A query of one server, or none."""

    def __call__(self, value: Any) -> Any:
        text = super().__call__(value)
        if text.strip() and UUID not in text and HOST not in text:
            raise ValueError(
                f'it contains neither {UUID} nor {HOST}, so it does not '
                'measure the server that was moved'
            )
        return text.strip()


OPTS = [
    cfg.BoolOpt(
        'cell_keys_kept',
        default=False,
        help='Whether a Nova before 34 keeps the key pair of a server that '
        'moves to another cell, through a backport of the fix for bug '
        '2108974. If false, such servers stay, unless cell_move_lossy '
        'is true.',
    ),
    cfg.ListOpt(
        'nova_policy_files',
        default=[],
        help='The policy.yaml of nova-api, or a copy of it, and directories '
        'of such files; later ones override earlier ones. From them '
        'Kronos reads whether Nova lets servers leave their cell, which '
        'no API shows. Empty: not known; then close_source disables no '
        'host for servers whose flavor changes.',
    ),
    cfg.IntOpt(
        'max_concurrent_cell_moves',
        default=2,
        min=1,
        help='Largest number of servers of one cell that may move to another '
        'at the same time, whoever moves them; a host sends at most one '
        'and receives at most one.',
    ),
    cfg.FloatOpt(
        'cell_move_timeout',
        default=7200,
        min=1,
        help='Seconds until a server that moves to another cell must be in '
        'VERIFY_RESIZE. Nova cannot abort such a move: after that time '
        'Kronos reports it as failed, and checks what is left of it.',
    ),
    cfg.FloatOpt(
        'confirm_timeout',
        default=600,
        min=1,
        help='Seconds that the confirmation of a move to another cell may '
        'take, and for which Kronos repeats the request while the '
        'source is down.',
    ),
    cfg.FloatOpt(
        'revert_timeout',
        default=3600,
        min=1,
        help='Seconds that the revert of a move to another cell may take.',
    ),
    cfg.BoolOpt(
        'cell_recover',
        default=True,
        help='Whether Kronos repairs a server that a failed move to another '
        'cell has left in ERROR, powered off or busy, if the API can: '
        'by a reset of its state, a hard reboot, a stop. If false, it '
        'only prints the commands.',
    ),
    cfg.Opt(
        'cell_verify_query',
        type=_VerifyQuery(),
        default='',
        help='PromQL that checks whether a server works after its move to '
        'another cell; {uuid} is replaced by its uuid and {host} by its '
        'new host. The check passes if the query returns a series and '
        'no value is 0. If it does not pass throughout '
        'cell_verify_seconds, Kronos moves the server back. For a '
        'stopped server, Kronos runs the query only if it has no '
        '{uuid}. Empty: Kronos checks only the APIs.',
    ),
    cfg.FloatOpt(
        'cell_verify_seconds',
        default=30,
        min=0,
        help='Seconds for which cell_verify_query must pass.',
    ),
]


class CellOpts(extensions.ExtensionOpts):
    """The options of emptying a cell."""

    OPTS: ClassVar = OPTS
