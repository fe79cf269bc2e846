# SPDX-License-Identifier: Apache-2.0
"""Recordings to try Kronos on; README.rst says what each of them shows."""
