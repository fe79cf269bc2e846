# SPDX-License-Identifier: Apache-2.0
"""A lab with two cells: a cloud beside which another one runs."""
