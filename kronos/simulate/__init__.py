# SPDX-License-Identifier: Apache-2.0
"""The closed loop: what the plans of days do to a recorded load."""
