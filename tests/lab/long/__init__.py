# SPDX-License-Identifier: Apache-2.0
"""Scenarios in the lab that take many minutes: ``./tools/test lab --long``."""
