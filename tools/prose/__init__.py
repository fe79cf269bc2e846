# SPDX-License-Identifier: Apache-2.0
"""Measures of prose: documents, messages of the program, release notes."""
