# SPDX-License-Identifier: Apache-2.0
"""Fragments: free CPUs that are too scattered for large servers."""
