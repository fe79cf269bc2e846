# SPDX-License-Identifier: Apache-2.0
"""Watcher's own harness comes first: it chooses how its services run."""

import tests.watcher_tests  # noqa: F401
