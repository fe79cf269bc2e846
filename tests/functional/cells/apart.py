# SPDX-License-Identifier: Apache-2.0
"""Watcher's modules beside Nova's: imported, and never used.

Both define options of the same names for the one set of options that a
process has; so here Watcher gets a set of its own.
"""

from unittest import mock

from oslo_config import cfg

with mock.patch.object(cfg, 'CONF', cfg.ConfigOpts()):
    import kronos.watcher_db.lock  # noqa: F401
