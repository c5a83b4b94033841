/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A temporary folder that stands for the places of configuration files, and a load that sees only it.
 *
 * One per test process. Paths in texts: "$" stands for the folder.
 */
#ifndef GYRE_TESTS_CONFIG_SANDBOX_H
#define GYRE_TESTS_CONFIG_SANDBOX_H

#include "core/config/config.h"

/** Fixtures. */
void sandbox_make(void);
void sandbox_remove(void);

/** The text with every "$" replaced by the folder; valid until the fourth next call. */
const char *sandbox_text(const char *text);
/** Writes a file, making its folders: sandbox_write("etc/gyre.ini", "[gyre]\n..."). */
void sandbox_write(const char *path, const char *text);
/** Makes a link. */
void sandbox_link(const char *target, const char *path);

/** Adds "NAME=value" to the environment of the loads. */
void sandbox_setenv(const char *variable);
/**
 * Loads with etc/, home/.config/gyre/ and lib/ of the sandbox. Lists are NULL-terminated or NULL.
 * The configuration lives until the next load or the sandbox's end.
 */
gyre_status sandbox_load(const char *config_path, const char *const *command_line, const char *const *api,
                         const struct gyre_config **out);
/** Loads with none of them and fails the test when that fails. */
const struct gyre_config *sandbox_config(void);

#endif
