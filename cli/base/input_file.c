/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and reads files and pipes without blocking, so that a pipe without a writer leads to an error sentence and not to a
 * hanging command. Only poll() waits, and it has a limit.
 */
#include "cli/base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/base/memory_left.h"
#include "gyre/waiting.h"

enum { FIRST_SIZE = 64 * 1024 };

/* ---- opening ------------------------------------------------------------------------------------------ */

int input_file_open(input_file *file, const char *what, const char *path)
{
    struct stat info;
    *file = (input_file){.what = what, .path = path};
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor < 0 || fstat(file->descriptor, &info) != 0)
        return cli_error(CLI_FAILED, "%s file '%s': %s", what, path, strerror(errno));
    file->is_pipe = S_ISFIFO(info.st_mode);
    if (!file->is_pipe && !S_ISREG(info.st_mode))
        return cli_error(CLI_FAILED, "%s file '%s': expected a regular file or a pipe, found something else",
                         what, path);
    file->size = file->is_pipe ? 0 : (uint64_t)info.st_size;
    return CLI_OK;
}

void input_file_close(input_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

/* True for a pipe with a name, which may never have had a writer. A shell's pipe (`<(...)` or `|`) had a writer, which may be
 * gone. */
static bool has_name(const input_file *file)
{
    struct statfs system;
    return fstatfs(file->descriptor, &system) != 0 || system.f_type != PIPEFS_MAGIC;
}

static int refuse_without_writer(const input_file *file)
{
    return cli_error(CLI_FAILED,
                     "%s file '%s': expected a pipe that somebody writes, found one that nobody has open for "
                     "writing; start its writer first, or name a regular file",
                     file->what, file->path);
}

static int refuse_silence(const input_file *file, const input_wait *wait)
{
    return cli_error(CLI_TIMEOUT,
                     "%s file '%s': expected the next bytes of the pipe, or its end, within %" PRIu64
                     " ms%s%s%s, found neither; look at its writer, or %s",
                     file->what, file->path, wait->ms, wait->option ? " (" : "",
                     wait->option ? wait->option : "", wait->option ? ")" : "",
                     wait->option ? "give it longer" : "have it write a regular file first");
}

/* Waits until the pipe has bytes to read, or ends. */
static int await_bytes(const input_file *file, const input_wait *wait)
{
    const uint64_t end_ns = gyre_clock_ns() + wait->ms * 1000000;
    struct pollfd pipe = {.fd = file->descriptor, .events = POLLIN};
    for (;;) {
        const uint64_t now_ns = gyre_clock_ns(),
                       left_ms = end_ns > now_ns ? (end_ns - now_ns + 999999) / 1000000 : 0;
        const int ready = poll(&pipe, 1, wait->ms == 0 ? -1 : left_ms < INT_MAX ? (int)left_ms : INT_MAX);
        if (ready > 0)
            return CLI_OK;
        if (ready < 0 && errno != EINTR)
            return cli_error(CLI_FAILED, "%s file '%s': %s", file->what, file->path, strerror(errno));
        if (ready == 0 && left_ms < INT_MAX)
            return refuse_silence(file, wait);
    }
}

/* Makes the memory larger, from half of `room` at least. */
static int make_room(const input_file *file, uint64_t room, char **bytes)
{
    char label[512];
    snprintf(label, sizeof label, "%s file '%s', a pipe,", file->what, file->path);
    const gyre_status status = gyre_memory_left_check(label, room / 2, "more memory", "name a regular file");
    if (status != GYRE_OK)
        return cli_fail_unless_ok(status);
    char *larger = realloc(*bytes, room);
    if (!larger)
        return cli_error(CLI_FAILED, "%s file '%s': no memory for its %" PRIu64 " bytes", file->what,
                         file->path, room);
    *bytes = larger;
    return CLI_OK;
}

/* Reads the bytes that are there, up to `room`; *got is 0 at the end. Sets *written when the pipe has or had a writer. */
static int read_some(const input_file *file, const input_wait *wait, char *bytes, size_t room, size_t *got,
                     bool *written)
{
    ssize_t count;
    int code = CLI_OK;
    while (code == CLI_OK && (count = read(file->descriptor, bytes, room)) < 0) {
        *written = *written || errno == EAGAIN;
        if (errno == EAGAIN)
            code = await_bytes(file, wait);
        else if (errno != EINTR)
            code = cli_error(CLI_FAILED, "%s file '%s': %s", file->what, file->path, strerror(errno));
    }
    *got = code == CLI_OK ? (size_t)count : 0;
    *written = *written || *got > 0;
    return code;
}

int input_file_read(const input_file *file, uint64_t most, const input_wait *wait, char **bytes,
                    uint64_t *size)
{
    uint64_t room = file->size ? file->size + 1 : FIRST_SIZE, used = 0; /* one more finds the end */
    room = room < most ? room : most;
    char *text = NULL;
    size_t got = 1;
    bool written = false;
    int code = make_room(file, room, &text);
    while (code == CLI_OK && got > 0 && used < most) {
        if (used == room) {
            room = room <= most / 2 ? 2 * room : most;
            code = make_room(file, room, &text);
        }
        if (code == CLI_OK)
            code = read_some(file, wait, text + used, room - used, &got, &written);
        used += code == CLI_OK ? got : 0;
    }
    if (code == CLI_OK && file->is_pipe && !written && has_name(file))
        code = refuse_without_writer(file);
    if (code == CLI_OK) {
        *bytes = text;
        *size = used;
        text = NULL;
    }
    free(text);
    return code;
}
