/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of `gyre report`, each a JSON document. A part that cannot be made is an object with the sentence of why, "error", so that
 * a report of a broken machine still has the others. None holds a message, or what a secret setting says. No state.
 */
#ifndef GYRE_CLI_DOCTOR_REPORT_PARTS_H
#define GYRE_CLI_DOCTOR_REPORT_PARTS_H

#include <jansson.h>

#include "cli/observed/observed.h"

/** Versions of Gyre and of the system, processors, memory, and when this was. */
json_t *report_system(uint64_t seconds);
/** Every value of the configuration with its origin, and its warnings. */
json_t *report_config(const cli_context *cli);
/** Each backend: its version, and whether it can start, and why not. */
json_t *report_backends(const cli_context *cli);
/** What `gyre doctor` finds; removes nothing. */
json_t *report_doctor(const cli_context *cli);
/** What `gyre stat` shows of every process, and its last events; `code` is that of observed_open. */
json_t *report_processes(const observed_processes *processes, int code);

/** What `gyre stat` shows of each dump that this user may read, and its events. */
json_t *report_dumps(const cli_context *cli);

/** True for a key whose value is not told: it has "password", "secret", "token" or "credential" in its name, and names no file. */
bool report_hides(const char *key);
/** Writes a value without the users and the passwords of its addresses "scheme://user:password@host". */
void report_without_user(const char *value, char *text, size_t size);

#endif
