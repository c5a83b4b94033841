/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device buffers of `gyre call` and `gyre serve`. Fills them from files, binds them to names of a kernel or lets messages
 * name them, and writes them back to files. One thread.
 */
#ifndef GYRE_CLI_CALLS_CALL_BUFFERS_H
#define GYRE_CLI_CALLS_CALL_BUFFERS_H

#include "cli/cli.h"
#include "cli/base/input_file.h"

typedef struct call_buffers {
    size_t count, bound_count;   /* the buffers that the kernel binds come first */
    gyre_binding_name *bindings; /* the bound buffers, as gyre_launch_desc wants them */
    char **names;
} call_buffers;

/**
 * Takes the names out of two lists of "NAME=FILE" or "NAME=zeros:BYTES". `bound` lists the buffers that the kernel binds,
 * `named` the buffers that only messages name. Returns an exit code; prints why when it is not CLI_OK. Call call_buffers_finish
 * in every case.
 */
int call_buffers_name(call_buffers *buffers, const cli_context *cli, const cli_list *bound,
                      const cli_list *named);

/**
 * Makes the buffers of the lists of call_buffers_name, with the contents of their files. A file may be a pipe; `wait` says how
 * long its writer may write nothing. Before a pipe is read, the kernel (the first operand) is built, and has to declare every
 * name in `bound`. Returns an exit code; prints why when it is not CLI_OK.
 */
int call_buffers_load(call_buffers *buffers, const cli_context *cli, gyre_runtime *runtime, uint32_t device,
                      const input_wait *wait, const cli_list *bound, const cli_list *named);

/** Finds a buffer by its name, for message_json_names.resolve. `context` is a call_buffers. */
gyre_status call_buffers_resolve(const void *context, const char *name, uint64_t offset, uint64_t size,
                                 gyre_handle *out);

/** Checks that each "NAME=FILE" of `specs` names a buffer. Returns an exit code. */
int call_buffers_check_outputs(const call_buffers *buffers, const cli_context *cli, const cli_list *specs);

/** Writes buffers to the files of `specs`, which call_buffers_check_outputs has checked. Returns an exit code. */
int call_buffers_save(const call_buffers *buffers, const cli_list *specs);

/** Frees names and table; the buffers themselves belong to the runtime. */
void call_buffers_finish(call_buffers *buffers);

#endif
