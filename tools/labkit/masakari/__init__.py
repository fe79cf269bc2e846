# SPDX-License-Identifier: Apache-2.0
"""Masakari beside the lab."""
