# SPDX-License-Identifier: Apache-2.0
"""Is every option of Kronos valid, and if not, which one, where and why?"""

import math
import re
from collections.abc import Iterator
from typing import Any

from oslo_config import cfg

from kronos.common import config, exceptions

# oslo.config tells the place only within its text.
_PLACE = re.compile(r"detail='([^']+)'\) is not valid")


def require_valid(conf: Any) -> None:
    """Read every option of Kronos, so that a bad one is found at once (A15).

    :param conf: a configuration with the options of Kronos
    :raises ConfigurationError: names the first bad option, its file and
        its rule; never its value where that may hold a secret
    """
    for fault in faults(conf):
        # Without the chain: its texts hold the value.
        raise exceptions.ConfigurationError(reason=fault) from None


def faults(conf: Any) -> Iterator[str]:
    """Every bad option, as :func:`require_valid` tells one."""
    for group, opts in config.list_opts():
        for opt in opts:
            try:
                value = conf[group][opt.dest]
                # To oslo.config "nan" is a number within all limits.
                if isinstance(value, float) and not math.isfinite(value):
                    raise ValueError(f'{value:g} is not a finite number')
            except (cfg.Error, ValueError) as error:
                yield (
                    f'[{group}] {opt.name}{_place(error)}: {_rule(opt, error)}'
                )


def told(error: cfg.Error) -> str:
    """What may be told of an error of any option, be it a secret or not.

    It is not known which option failed, so no text may hold its value.
    """
    if isinstance(error, cfg.ConfigSourceValueError):
        name = re.match(r'Value for option (\S+)', str(error))
        if name:
            return f'option {name[1]}{_place(error)} is not valid'
    if isinstance(error, cfg.NoSuchOptError | cfg.NoSuchGroupError):
        return str(error)
    return f'{type(error).__name__} of oslo.config'


def _place(error: Exception) -> str:
    found = _PLACE.search(str(error))
    return f' in {found[1]}' if found else ''


def _rule(opt: Any, error: Exception) -> str:
    if isinstance(opt, cfg.URIOpt):
        # It may hold a user and a password.
        return f'it must be a URL: {" or ".join(opt.type.schemes)}'
    if opt.secret:
        return 'its value is not valid'
    return re.sub(r'^Value for option .*? is not valid: ', '', str(error))
