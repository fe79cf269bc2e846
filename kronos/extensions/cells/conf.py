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
                f'it has neither {UUID} nor {HOST}, so it would tell nothing '
                'of the server that was moved'
            )
        return text.strip()


OPTS = [
    cfg.BoolOpt(
        'cell_keys_kept',
        default=False,
        help='Whether a Nova before 34 keeps the key pair of a server that '
        'goes to another cell, by a backport of the correction of bug '
        '2108974. If not, such servers stay, unless cell_move_lossy is true.',
    ),
    cfg.ListOpt(
        'nova_policy_files',
        default=[],
        help='The policy.yaml of nova-api, or a copy of it, and directories '
        'of such files; later ones override earlier ones. They tell whether '
        'Nova lets servers leave their cell, which no API does. Empty: not '
        'known; then close_source disables no host for servers whose flavor '
        'changes.',
    ),
    cfg.IntOpt(
        'max_concurrent_cell_moves',
        default=2,
        min=1,
        help='Servers of one cell that may be under way to another at a time, '
        'whoever moves them; a host gives at most one and takes at most one.',
    ),
    cfg.FloatOpt(
        'cell_move_timeout',
        default=7200,
        min=1,
        help='Seconds until a server that moves to another cell must be in '
        'VERIFY_RESIZE. Nova cannot abort such a move: after that time it is '
        'told as failed, and what is left of it is looked at.',
    ),
    cfg.FloatOpt(
        'confirm_timeout',
        default=600,
        min=1,
        help='Seconds that the confirmation of a move to another cell may '
        'take, and for which it is asked for again while the source is down.',
    ),
    cfg.FloatOpt(
        'revert_timeout',
        default=3600,
        min=1,
        help='Seconds that taking a move to another cell back may take.',
    ),
    cfg.BoolOpt(
        'cell_recover',
        default=True,
        help='Whether Kronos mends a server that a failed move to another '
        'cell has left in ERROR, powered off or busy, where the API can: by '
        'a reset of its state, a hard reboot, a stop. If false, it only tells '
        'the commands.',
    ),
    cfg.Opt(
        'cell_verify_query',
        type=_VerifyQuery(),
        default='',
        help='PromQL that tells whether a server works after it came to '
        'another cell; {uuid} stands for its uuid and {host} for its new '
        'host. It is true where it gives a series, and no value is 0. If it '
        'is not true throughout cell_verify_seconds, the server is taken '
        'back. Of a server that is stopped only a query without {uuid} is '
        'asked. Empty: only what the APIs tell counts.',
    ),
    cfg.FloatOpt(
        'cell_verify_seconds',
        default=30,
        min=0,
        help='Seconds for which cell_verify_query must be true.',
    ),
]


class CellOpts(extensions.ExtensionOpts):
    """The options of emptying a cell."""

    OPTS: ClassVar = OPTS
