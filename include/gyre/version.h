/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of Gyre that a file is compiled with. Applications include it through gyre.h, plugins through backend.h;
 * the build reads the three numbers here. Stability: as gyre.h and backend.h.
 */
#ifndef GYRE_VERSION_H
#define GYRE_VERSION_H

#define GYRE_VERSION_MAJOR 0
#define GYRE_VERSION_MINOR 1
#define GYRE_VERSION_PATCH 0

/** The version as a text: "0.1.0". */
#define GYRE_VERSION_TEXT GYRE_VERSION_TEXT_(GYRE_VERSION_MAJOR, GYRE_VERSION_MINOR, GYRE_VERSION_PATCH)

/* The first macro expands its arguments; the second makes a text of them. */
#define GYRE_VERSION_TEXT_(major, minor, patch)   GYRE_VERSION_JOINED_(major, minor, patch)
#define GYRE_VERSION_JOINED_(major, minor, patch) #major "." #minor "." #patch

#endif
