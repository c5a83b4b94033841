/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs child programs (process.h) by posix_spawn, and watches them through a pidfd and two pipes. No locks, no state between calls.
 * The child is reaped here and nowhere else, so its process group can be killed without racing a reused
 * number. Must not fork: the caller may have threads that hold locks.
 */
#include "core/base/process.h"
#include "core/base/error.h"
#include "core/base/libc.h"
#include "core/base/places.h"
#include "gyre/lack.h"
#include "gyre/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_WITHOUT_PIDFD_MS = 5, GROUP_KILL_GRACE_MS = 2000 };

/* One captured stream of the child: its pipe, its buffer, how many bytes came, and the errno of a read that failed. */
struct stream {
    int read_end, write_end;
    char *text;
    size_t size, length;
    int error;
};

struct child {
    pid_t pid;
    int pidfd;
    struct stream output, errors;
};

static void close_descriptor(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static gyre_status open_stream(struct stream *stream, char *text, size_t size)
{
    int ends[2];
    stream->text = text;
    stream->size = size;
    if (size > 0)
        text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return gyre_error_set(GYRE_EXHAUSTED, "no pipe for a child process: %s%s", strerror(errno),
                              gyre_lack_remedy(errno));
    stream->read_end = ends[0];
    stream->write_end = ends[1];
    fcntl(stream->read_end, F_SETFL, O_NONBLOCK);
    return GYRE_OK;
}

/* Reads what the child has written; closes the stream at its end. Bytes that do not fit the buffer are counted and dropped. */
static void drain(struct stream *stream)
{
    char chunk[4096];
    while (stream->read_end >= 0) {
        ssize_t got = read(stream->read_end, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            stream->error = got < 0 ? errno : 0;
            close_descriptor(&stream->read_end);
            return;
        }
        if (stream->length + 1 < stream->size) {
            size_t room = stream->size - 1 - stream->length;
            size_t take = (size_t)got < room ? (size_t)got : room;
            memcpy(stream->text + stream->length, chunk, take);
            stream->text[stream->length + take] = '\0';
        }
        stream->length += (size_t)got;
    }
}

static int redirect(posix_spawn_file_actions_t *actions, const struct gyre_process_desc *desc,
                    const struct child *child)
{
    int errors_end = desc->errors ? child->errors.write_end : child->output.write_end;
    int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, child->output.write_end, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(actions, errors_end, STDERR_FILENO);
    if (rc == 0)
        rc = gyre_libc_close_from(actions, STDERR_FILENO + 1);
    if (rc == 0 && desc->directory)
        rc = posix_spawn_file_actions_addchdir_np(actions, desc->directory);
    return rc;
}

/*
 * Makes the child's environment from the caller's; NULL without memory. `no_preload` leaves LD_PRELOAD out, because a
 * preloaded library, such as the runtime of a sanitizer, is meant for this program and might end a compiler. A PATH is
 * always set, because a compiler without one would not find its linker.
 */
static char **child_environment(char **environment, bool no_preload)
{
    static char usual_path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    size_t count = 0, kept = 0;
    bool has_path = false;
    while (environment && environment[count]) /* NULL after clearenv() */
        count++;
    char **copy = calloc(count + 2, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        has_path = has_path || strncmp(environment[i], "PATH=", strlen("PATH=")) == 0;
        if (!no_preload || strncmp(environment[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
            copy[kept++] = environment[i];
    }
    if (copy && !has_path)
        copy[kept] = usual_path;
    return copy;
}

static int spawn(const struct gyre_process_desc *desc, struct child *child)
{
    extern char **environ;
    char **environment = child_environment(environ, desc->no_preload);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int rc = redirect(&actions, desc, child);
    if (rc == 0) /* posix_spawn never writes to the arguments; its prototype is older than const */
        rc = posix_spawnp(&child->pid, desc->arguments[0], &actions, &attributes,
                          (char *const *)(uintptr_t)desc->arguments, environment ? environment : environ);
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* One of Gyre's own programs is not there: the library was copied alone, or a program contains it. */
static gyre_status explain_lack_of_helper(const char *program)
{
    return gyre_error_set(
        GYRE_NOT_FOUND,
        "there is no program '%s', which is installed together with the library: install all of Gyre, "
        "or put its folder lib/gyre beside the library; for a program that contains the library, "
        "at ../lib/gyre beside the program",
        program);
}

static gyre_status explain_spawn(const struct gyre_process_desc *desc, int code)
{
    const char *program = desc->arguments[0];
    if (code == ENOENT && desc->directory && access(desc->directory, X_OK) != 0)
        return gyre_error_set(GYRE_NOT_FOUND, "cannot run '%s' in the folder '%s': %s", program,
                              desc->directory, strerror(errno));
    if (code == ENOENT && strncmp(program, gyre_place_helpers(), strlen(gyre_place_helpers())) == 0)
        return explain_lack_of_helper(program);
    if (code == ENOENT)
        return gyre_error_set(GYRE_NOT_FOUND, "there is no program '%s'%s", program,
                              strchr(program, '/') ? "" : " in PATH");
    const gyre_status status = code == EAGAIN ? GYRE_EXHAUSTED : gyre_lack_status(code, GYRE_FAILED);
    return gyre_error_set(status, "cannot start '%s': %s%s", program, strerror(code), gyre_lack_remedy(code));
}

/* How long poll may sleep: until the deadline, but only briefly where nothing tells of the child's end. */
static int poll_timeout(const struct child *child, uint64_t deadline_ns, uint64_t now)
{
    uint64_t left_ms = deadline_ns <= now ? 0 : (deadline_ns - now) / 1000000 + 1;
    uint64_t longest = child->pidfd < 0 ? POLL_WITHOUT_PIDFD_MS : 60000;
    return (int)(left_ms < longest ? left_ms : longest);
}

enum watched { WATCH_FAILED = -1, WATCH_LATE = 0, WATCH_ENDED = 1, WATCH_STOPPED = 2 };

static bool is_readable(const int *descriptor)
{
    struct pollfd wait = {.fd = descriptor ? *descriptor : -1, .events = POLLIN};
    return poll(&wait, 1, 0) > 0;
}

/* Waits until the child is reaped, the deadline passed, `stop` says so, or it turns out that it cannot be waited for. */
static enum watched watch(struct child *child, uint64_t deadline_ns, const int *stop, int *wait_status)
{
    for (;;) {
        pid_t reaped = waitpid(child->pid, wait_status, WNOHANG);
        drain(&child->output);
        drain(&child->errors);
        if (reaped == child->pid)
            return WATCH_ENDED;
        if (reaped < 0 && errno != EINTR)
            return WATCH_FAILED;
        if (is_readable(stop))
            return WATCH_STOPPED;
        uint64_t now = gyre_clock_ns();
        if (now >= deadline_ns)
            return WATCH_LATE;
        struct pollfd waits[] = {{.fd = child->pidfd, .events = POLLIN},
                                 {.fd = child->output.read_end, .events = POLLIN},
                                 {.fd = child->errors.read_end, .events = POLLIN},
                                 {.fd = stop ? *stop : -1, .events = POLLIN}};
        poll(waits, 4, poll_timeout(child, deadline_ns, now));
    }
}

static gyre_status follow(const struct gyre_process_desc *desc, struct child *child,
                          struct gyre_process_end *end)
{
    const char *program = desc->arguments[0];
    int wait_status = 0;
    const enum watched ended = watch(child, desc->deadline_ns, desc->stop, &wait_status);
    if (ended == WATCH_FAILED)
        return gyre_error_set(GYRE_FAILED,
                              "the end of '%s' cannot be seen (%s): this program must not ignore SIGCHLD",
                              program, strerror(errno));
    if (ended != WATCH_ENDED) {
        kill(-child->pid, SIGKILL);
        watch(child, gyre_clock_ns() + GROUP_KILL_GRACE_MS * UINT64_C(1000000), NULL, &wait_status);
        end->signal = SIGKILL;
        if (ended == WATCH_STOPPED)
            return gyre_error_set(GYRE_CLOSED, "'%s' was killed: its caller ends", program);
        return gyre_error_set(GYRE_TIMEOUT, "'%s' was killed: it did not end before its deadline", program);
    }
    end->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    end->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
    const int error = child->output.error ? child->output.error : child->errors.error;
    if (error)
        return gyre_error_set(gyre_lack_status(error, GYRE_FAILED), "what '%s' wrote cannot be read: %s%s",
                              program, strerror(error), gyre_lack_remedy(error));
    return GYRE_OK;
}

gyre_status gyre_process_run(const struct gyre_process_desc *desc, struct gyre_process_end *end)
{
    struct child child = {.pidfd = -1,
                          .output = {.read_end = -1, .write_end = -1},
                          .errors = {.read_end = -1, .write_end = -1}};
    memset(end, 0, sizeof *end);
    gyre_status status = open_stream(&child.output, desc->output, desc->output ? desc->output_size : 0);
    if (status == GYRE_OK && desc->errors)
        status = open_stream(&child.errors, desc->errors, desc->errors_size);
    if (status != GYRE_OK)
        goto done;
    int code = spawn(desc, &child);
    close_descriptor(&child.output.write_end);
    close_descriptor(&child.errors.write_end);
    if (code != 0) {
        status = explain_spawn(desc, code);
        goto done;
    }
    child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
    status = follow(desc, &child, end);
    end->output_length = child.output.length;
done:
    close_descriptor(&child.pidfd);
    close_descriptor(&child.output.read_end);
    close_descriptor(&child.output.write_end);
    close_descriptor(&child.errors.read_end);
    close_descriptor(&child.errors.write_end);
    return status;
}

gyre_status gyre_process_run_program(const gyre_program_desc *desc, int *exit_code)
{
    struct gyre_process_desc inner = {.arguments = desc->arguments,
                                      .directory = desc->directory,
                                      .no_preload = true,
                                      .deadline_ns = desc->deadline_ns,
                                      .output = desc->output,
                                      .output_size = desc->output_size};
    struct gyre_process_end end;
    gyre_status status = gyre_process_run(&inner, &end);
    *exit_code = end.exit_code;
    if (status == GYRE_OK && end.signal != 0)
        return gyre_error_set(GYRE_FAILED, "'%s' was ended by signal %d (%s)", desc->arguments[0], end.signal,
                              strsignal(end.signal));
    return status;
}
