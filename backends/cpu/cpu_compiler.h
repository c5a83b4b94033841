/* SPDX-License-Identifier: Apache-2.0 */
/* The C compiler of the CPU backend: its place, its identity, and its output. Private to this folder. */
#ifndef GYRE_CPU_COMPILER_H
#define GYRE_CPU_COMPILER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** The options of every compile, before those of the configuration; part of the identity. */
extern const char cpu_compiler_fixed_options[];

struct gyre_device;

/** Writes what tells the compiler in use from another: resolved path, size, time of change, options. "" when there is none. */
void cpu_compiler_identity(const struct gyre_device *device, char *text, size_t size);

/** Looks for a program as execvp does. False and an empty path when there is none. Links are not resolved. */
bool cpu_compiler_find(const char *program, char path[PATH_MAX]);

/** Whether the program at that path is a GCC, also when the path is a link. */
bool cpu_compiler_is_gcc(const char *path);

/**
 * Writes the first error in a compiler's output as "FILE:LINE: text", cut. Without one: the first line that says
 * anything.
 */
void cpu_first_error(const char *messages, char *sentence, size_t size);

/** Turns the make rule that -MD writes into one path a line. False when a file cannot be read or written. */
bool cpu_dependencies_convert(const char *rule_path, const char *list_path);

#endif
