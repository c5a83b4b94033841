/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device buffers of `gyre call` and `gyre serve`: filled from files, bound by name or named by messages,
 * written back to files. One thread.
 */
#ifndef GYRE_CLI_CALL_BUFFERS_H
#define GYRE_CLI_CALL_BUFFERS_H

#include "cli/cli.h"
#include "cli/input_file.h"

typedef struct call_buffers {
    size_t count, bound_count;   /* the buffers that the kernel binds come first */
    gyre_binding_name *bindings; /* for gyre_launch_desc */
    char **names;
} call_buffers;

/**
 * Takes the names out of two lists of "NAME=FILE" or "NAME=zeros:BYTES": `bound`, the buffers that the kernel binds, and `named`,
 * the buffers that only its messages name. Returns an exit code and has said why when it is not CLI_OK. Finish with
 * call_buffers_finish in every case.
 */
int call_buffers_name(call_buffers *buffers, const cli_context *cli, const cli_list *bound,
                      const cli_list *named);

/**
 * Makes the buffers of the same lists, with the files' contents. A file may be a pipe; `wait` says how long its writer may write
 * nothing. Before a pipe is read, the kernel, the first operand, is built and has to declare every name that is bound. Returns an
 * exit code and has said why when it is not CLI_OK.
 */
int call_buffers_load(call_buffers *buffers, const cli_context *cli, gyre_runtime *runtime, uint32_t device,
                      const input_wait *wait, const cli_list *bound, const cli_list *named);

/** A message_json_names.resolve; the context is a call_buffers. */
gyre_status call_buffers_resolve(const void *context, const char *name, uint64_t offset, uint64_t size,
                                 gyre_handle *out);

/** Checks that each "NAME=FILE" of `specs` names a buffer. Returns an exit code. */
int call_buffers_check_outputs(const call_buffers *buffers, const cli_context *cli, const cli_list *specs);

/** Writes buffers to the files of `specs`, checked before. Returns an exit code. */
int call_buffers_save(const call_buffers *buffers, const cli_list *specs);

/** Frees names and table; the buffers themselves belong to the runtime. */
void call_buffers_finish(call_buffers *buffers);

#endif
