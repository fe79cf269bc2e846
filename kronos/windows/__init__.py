# SPDX-License-Identifier: Apache-2.0
"""Maintenance windows: the times at which servers may be moved.

The room reads no clock: the time is an argument everywhere.
"""
