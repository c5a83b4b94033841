# SPDX-License-Identifier: Apache-2.0
# Untried: nix-build packaging/nix
{ pkgs ? import <nixpkgs> { } }:
pkgs.stdenv.mkDerivation {
  pname = "gyre";
  version = "0.1.0";
  src = pkgs.lib.cleanSource ../..;
  nativeBuildInputs = with pkgs; [ cmake ninja pkg-config ];
  buildInputs = with pkgs; [ inih jansson xxHash hwloc libclang opencl-headers ];
  cmakeFlags = [ "-DGYRE_TESTS=OFF" "-DGYRE_PYTHON=OFF" ];
  meta = {
    description = "Message handlers in C that stay resident on a device and answer from rings in shared memory";
    license = pkgs.lib.licenses.asl20;
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "gyre";
  };
}
