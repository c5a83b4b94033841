/* SPDX-License-Identifier: Apache-2.0 */
/* The place in its source of an instruction of a kernel file, by addr2line, which comes with the linker. No state. */
#ifndef GYRE_CPU_PLACE_H
#define GYRE_CPU_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/backend.h"

/**
 * Writes "FILE:LINE" of the call before the return address `at`. Runs a program, so it takes milliseconds. False
 * without addr2line, or when the file has no debug information.
 */
bool cpu_place_ask(const gyre_host *host, const void *at, char *place, size_t size);

/** Reads line `number`, from 1, of a file. False when there is none. The line keeps its newline. */
bool cpu_place_read(const char *path, uint32_t number, char *line, size_t size);

/** The last part of a path. */
const char *cpu_place_short(const char *path);

#endif
