/* SPDX-License-Identifier: Apache-2.0 */
/* What a program and its worker processes agree on, besides the messages (core/parcel). */
#ifndef GYRE_CORE_ISOLATION_WORKER_H
#define GYRE_CORE_ISOLATION_WORKER_H

/** The program, in gyre_place_helpers(). */
#define GYRE_WORKER_PROGRAM "gyre-worker"
/** How one that stands by shows in the list of processes. */
#define GYRE_STANDBY_NAME "gyre-standby"
/** Where the worker finds its socket. */
enum { GYRE_WORKER_SOCKET = 3 };
/** Its exit code when the device died and the process lives on. */
enum { GYRE_WORKER_DEVICE_DIED = 71 };

#endif
