/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumps: copies of the observation file that a process keeps of itself when something went wrong, so that what happened before
 * can be read later, also when the process goes on or has ended. A dump is an observation file whose process is no longer asked.
 */
#ifndef GYRE_CORE_OBSERVATION_OBSERVATION_DUMP_H
#define GYRE_CORE_OBSERVATION_OBSERVATION_DUMP_H

#include <stdbool.h>

#include "core/observation/observation.h"
#include "core/observation/observation_folder.h"

/** In how many folders dumps may lie; the first one in which a file can be made is used. */
enum { GYRE_OBSERVATION_DUMP_FOLDERS = 2 };

/**
 * The folder number `which` for dumps, below GYRE_OBSERVATION_DUMP_FOLDERS: `configured`; where that is "", `gyre` in $XDG_STATE_HOME or
 * in ~/.local/state, then `files`, the folder of observation files. False: there is none.
 */
bool gyre_observation_dump_folder(const char *configured, const char *files, unsigned which,
                                  char path[GYRE_OBSERVATION_PATH_MAX]);
/** Whether that is a dump's name: PID-START-N.dump. */
bool gyre_observation_dump_name(const char *name);

/**
 * Copies the file of this process, and removes the oldest dumps of this user in that folder beyond `keep`. Writes where the dump
 * lies into `path`. After a failure nothing is left there, and the sentence says what to do. Takes the object's lock for a moment;
 * writes up to 6 MB, so not for a thread that somebody waits for.
 */
gyre_status gyre_observation_dump(struct gyre_observation *observation, const char *configured, unsigned keep,
                                  char path[GYRE_OBSERVATION_PATH_MAX]);

#endif
