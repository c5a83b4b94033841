/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds Gyre's own files beside the library itself, so that a build tree, an installed tree and a moved installed tree all
 * work without settings.
 *
 * Everything is in one folder, "home": plugins/, plugins.d/ (their drop-ins) and libexec/ (helper programs).
 * It is GYRE_HOME_NAME of the build, usually `gyre`, beside libgyre.so; for a program that contains the core,
 * `../lib/GYRE_HOME_NAME` beside the program, lib being the library folder of the build or of the install; else the folder of
 * the configured prefix. The current directory is never looked at. Threads: any.
 */
#ifndef GYRE_CORE_BASE_PLACES_H
#define GYRE_CORE_BASE_PLACES_H

/** The home folder, absolute. Lives as long as the process. */
const char *gyre_place_home(void);
/** home/libexec: helper programs, which Gyre runs and people do not. */
const char *gyre_place_helpers(void);

#endif
