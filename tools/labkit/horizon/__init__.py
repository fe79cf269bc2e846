# SPDX-License-Identifier: Apache-2.0
"""Horizon with watcher-dashboard, to look at the lab by."""
