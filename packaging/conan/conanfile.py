# SPDX-License-Identifier: Apache-2.0
# Untried. In a checkout: conan create packaging/conan
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class GyreConan(ConanFile):
    name = "gyre"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Message handlers in C that stay resident on a device and answer from rings in shared memory"
    settings = "os", "arch", "compiler", "build_type"
    package_type = "shared-library"
    requires = "inih/58", "jansson/2.14", "xxhash/0.8.2"
    generators = "PkgConfigDeps"

    def export_sources(self):
        checkout = os.path.join(self.recipe_folder, "..", "..")
        for part in ("CMakeLists.txt", "LICENSE", "*.md"):
            copy(self, part, checkout, self.export_sources_folder, keep_path=False)
        for folder in ("backends", "cli", "cmake", "core", "docs", "examples", "include", "plugins.d", "tools"):
            copy(self, "*", os.path.join(checkout, folder), os.path.join(self.export_sources_folder, folder))

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["GYRE_TESTS"] = False
        toolchain.variables["GYRE_PYTHON"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["gyre"]
        self.cpp_info.set_property("cmake_file_name", "gyre")
        self.cpp_info.set_property("cmake_target_name", "gyre::gyre")
        self.cpp_info.set_property("pkg_config_name", "gyre")
