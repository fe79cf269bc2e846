# SPDX-License-Identifier: Apache-2.0
"""Moves between two cells of Nova's own harness, which comes before all else.

In a process of their own: what carries a move out imports Watcher, which
native threads of Nova do not bear.
"""

import nova.tests.functional  # noqa: F401
