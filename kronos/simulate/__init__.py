# SPDX-License-Identifier: Apache-2.0
"""The closed loop: what plans do over days of load."""
