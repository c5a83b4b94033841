# SPDX-License-Identifier: Apache-2.0
# Untried. Put it into a repository of your own as packages/gyre/package.py; `spack dev-build gyre@main` in a checkout.
from spack.package import *


class Gyre(CMakePackage):
    """Message handlers in C that stay resident on a device and answer from rings in shared memory."""

    license("Apache-2.0")
    version("main")

    variant("check", default=True, description="Check handlers against the dialect, by libclang")
    variant("opencl", default=True, description="Build the OpenCL backend")
    variant("cuda", default=False, description="Build the CUDA backend")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("inih")
    depends_on("jansson")
    depends_on("xxhash")
    depends_on("hwloc")
    depends_on("llvm+clang", when="+check")
    depends_on("opencl-headers", when="+opencl", type="build")
    depends_on("cuda", when="+cuda")

    def cmake_args(self):
        return [self.define("GYRE_TESTS", False), self.define("GYRE_PYTHON", False)]
