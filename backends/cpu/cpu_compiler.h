/* SPDX-License-Identifier: Apache-2.0 */
/* The C compiler of the CPU backend: where it is, and what its output says. Private to this folder. */
#ifndef GYRE_CPU_COMPILER_H
#define GYRE_CPU_COMPILER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** What every kernel is compiled with, before the options of the configuration; part of the identity. */
extern const char cpu_compiler_fixed_options[];

struct gyre_device;

/** The compiler in use and what tells it from another: resolved path, size, time of change. "" when there is
 * none. */
void cpu_compiler_identity(const struct gyre_device *device, char *text, size_t size);

/** Looks for a program as execvp does. False and an empty path when there is none. Links are not resolved. */
bool cpu_compiler_find(const char *program, char path[PATH_MAX]);

/** Whether the program at that path is a GCC, whatever link it is called by. */
bool cpu_compiler_is_gcc(const char *path);

/**
 * The first error in a compiler's output as "FILE:LINE: text", cut. Falls back to the first line that says
 * anything.
 */
void cpu_first_error(const char *messages, char *sentence, size_t size);

/** Turns the make rule that -MD writes into one path a line. False when a file cannot be read or written. */
bool cpu_dependencies_convert(const char *rule_path, const char *list_path);

#endif
