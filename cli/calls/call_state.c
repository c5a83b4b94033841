/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the state that a kernel begins with (call_state.h). */
#include "cli/calls/call_state.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { STATE_FILE_MAX = 64 * 1024 * 1024 };

static int read_state_file(const char *path, const input_wait *pipes, char **text, size_t *length)
{
    input_file file;
    uint64_t size = 0;
    int code = input_file_open(&file, "state", path);
    if (code == CLI_OK)
        code = input_file_read(&file, STATE_FILE_MAX + 1, pipes, text, &size);
    if (code == CLI_OK && size > STATE_FILE_MAX)
        code = cli_error(CLI_FAILED, "state file '%s' is longer than %d bytes", path, STATE_FILE_MAX);
    input_file_close(&file);
    *length = (size_t)size;
    return code;
}

int call_state_text(const char *state, const input_wait *pipes, char **text, size_t *length)
{
    *text = NULL;
    if (state[0] == '@')
        return read_state_file(state + 1, pipes, text, length);
    *length = strlen(state);
    *text = strdup(state);
    return *text ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}
