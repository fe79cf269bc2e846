# SPDX-License-Identifier: Apache-2.0
"""How fast and how good plans are; ``python tools/bench`` is the door."""
