# SPDX-License-Identifier: Apache-2.0
"""Watcher's own harness comes first: it chooses how its services run."""

import watcher.tests.functional  # noqa: F401
