# SPDX-License-Identifier: Apache-2.0
"""Tests of what is not code; they install as the tools do."""

import sys

from tests import places

if str(places.TOP / 'tools') not in sys.path:
    sys.path.insert(0, str(places.TOP / 'tools'))
