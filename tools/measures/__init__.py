# SPDX-License-Identifier: Apache-2.0
"""Measures of the source tree: walks, imports, names and lines."""
