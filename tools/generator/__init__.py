# SPDX-License-Identifier: Apache-2.0
"""Clouds of any size to plan on, made up; ``tools/generate`` is the door."""
