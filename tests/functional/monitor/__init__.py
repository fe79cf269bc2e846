# SPDX-License-Identifier: Apache-2.0
"""Tests with a real libvirt; the kit of the lab has what they need."""

import sys

from tests import places

if str(places.TOP / 'tools') not in sys.path:
    sys.path.insert(0, str(places.TOP / 'tools'))
