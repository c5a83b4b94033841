/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the core's calls over the worker's sockets (serve.c). The core's side is core/isolation. */
#ifndef GYRE_CORE_WORKER_SERVE_H
#define GYRE_CORE_WORKER_SERVE_H

/** Answers the core until it closes the control socket. */
void worker_serve(int control);

#endif
