# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of plans and weighings; run ``python tools/bench``."""
