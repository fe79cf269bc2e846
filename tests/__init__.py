# SPDX-License-Identifier: Apache-2.0
"""The tests of Kronos; SIGUSR1 shows where one of their processes waits."""

import faulthandler
import signal

faulthandler.register(signal.SIGUSR1)
