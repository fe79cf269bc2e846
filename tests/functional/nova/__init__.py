# SPDX-License-Identifier: Apache-2.0
"""Tests with Nova's own harness, which chooses before all else how to run.

By native threads or by eventlet: OS_NOVA_DISABLE_EVENTLET_PATCHING tells.
"""

import nova.tests.functional  # noqa: F401
