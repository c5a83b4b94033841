# SPDX-License-Identifier: Apache-2.0
"""The tests of the package: pytest --pyargs gyre_kernels"""
