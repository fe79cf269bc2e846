# SPDX-License-Identifier: Apache-2.0
"""The calm of a cloud: days and weeks of plans in the closed loop."""
