/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C compiler of the CPU backend: where it is, its identity, and its output. cpu_compile.c runs it.
 * Private to this folder.
 */
#ifndef GYRE_CPU_COMPILER_H
#define GYRE_CPU_COMPILER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * The options of every compile, placed before the options of the configuration. They are part of the
 * identity.
 */
extern const char cpu_compiler_fixed_options[];

struct gyre_device;

/**
 * Writes the identity, which distinguishes the compiler in use from any other: resolved path, size, time of
 * change, options. "" when there is no compiler.
 */
void cpu_compiler_identity(const struct gyre_device *device, char *text, size_t size);

/** Looks for a program as execvp does. False and an empty path when there is none. Does not resolve links. */
bool cpu_compiler_find(const char *program, char path[PATH_MAX]);

/** Whether the program at that path is a GCC. Follows links. */
bool cpu_compiler_is_gcc(const char *path);

/**
 * Writes the first error in a compiler's output as "FILE:LINE: text", cut to `size`. Without an error: the
 * first line that is not empty.
 */
void cpu_first_error(const char *messages, char *sentence, size_t size);

/**
 * Turns the make rule that -MD writes into a list with one path a line. False when a file cannot be read or
 * written.
 */
bool cpu_dependencies_convert(const char *rule_path, const char *list_path);

#endif
