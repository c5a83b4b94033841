/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the folders of observation files (gyre/observe.h), and tells living writers from dead ones. No state, any thread.
 *
 * A folder in /dev/shm may be made by any user, so only a folder of this user that nobody else can write is used there.
 */
#ifndef GYRE_CORE_OBSERVATION_OBSERVATION_FOLDER_H
#define GYRE_CORE_OBSERVATION_OBSERVATION_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GYRE_OBSERVATION_PATH_MAX = 1024, GYRE_OBSERVATION_FOLDERS = 2 };

/**
 * Writes the path of folder number `which`, best first. `configured`: the only folder, number 0; "": the usual ones. False: there
 * is no such folder, or its path is too long.
 */
bool gyre_observation_folder(const char *configured, unsigned which, char path[GYRE_OBSERVATION_PATH_MAX]);

/** Opens such a folder, and makes it first where `make` is set. Its descriptor; -1 with errno. */
int gyre_observation_folder_open(const char *configured, const char *path, bool make);

/** True for PID-START.obs; then *pid and *start are its numbers. */
bool gyre_observation_file_name(const char *name, pid_t *pid, uint64_t *start);

/** When a process started, as /proc/PID/stat says it, and its state there ('T': stopped). False: there is no such process. */
bool gyre_observation_process(pid_t pid, uint64_t *start, char *state);

/** True while the writer of an open observation file lives: nobody else has the lock on it. */
bool gyre_observation_is_written(int file);

/** The path of the file through which readers ask the writer of an observation file for spans: PID-START.trace. False: `file` is no
 * path of an observation file, or too long. */
bool gyre_observation_ask_path(const char *file, char path[GYRE_OBSERVATION_PATH_MAX]);
/** Whether a reader has the lock on such an open file, and the file belongs to this user or to root, and is nothing else besides. */
bool gyre_observation_ask_counts(int file);

#endif
