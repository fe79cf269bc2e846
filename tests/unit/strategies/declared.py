# SPDX-License-Identifier: Apache-2.0
"""What an audit of a strategy plans by, where all is as it comes."""

from typing import Any

from oslo_config import cfg

from kronos.conf import opts
from kronos.engine.settings import Settings
from kronos.strategies import audit, base


def kronos(**changed: Any) -> Any:
    """The group ``[kronos]``."""
    conf = cfg.ConfigOpts()
    opts.register_opts(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    for name, value in changed.items():
        conf.set_override(name, value, opts.KRONOS)
    return conf.kronos


def settings(
    strategy: type[base.KronosStrategy],
    asked: dict[str, Any],
    **changed: Any,
) -> Settings:
    """Those of an audit.

    :param asked: its parameters
    :param changed: options of ``[kronos]``
    """
    return audit.make_settings(
        strategy.PLAN_MODE,
        strategy.parse(asked),
        kronos(**changed),
    )
