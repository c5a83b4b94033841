/* SPDX-License-Identifier: Apache-2.0 */
/* Names and numbers that a program and its worker processes agree on, besides the messages (core/parcel). */
#ifndef GYRE_CORE_ISOLATION_WORKER_H
#define GYRE_CORE_ISOLATION_WORKER_H

/** The name of the worker program, in gyre_place_helpers(). */
#define GYRE_WORKER_PROGRAM "gyre-worker"
/** The name of a worker that stands by in the list of processes. */
#define GYRE_STANDBY_NAME "gyre-standby"
/** The descriptor at which the worker finds its socket. */
enum { GYRE_WORKER_SOCKET = 3 };
/** The exit code of a worker whose device died and left the process alive. */
enum { GYRE_WORKER_DEVICE_DIED = 71 };

#endif
