# SPDX-License-Identifier: Apache-2.0
"""Other planners, on the same clusters as Kronos."""
