/* SPDX-License-Identifier: Apache-2.0 */
/* Speaks to the service manager (notify.h). */
#include "cli/base/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* Copies a variable of the environment and removes it there. The caller frees the copy. NULL: it is not set, or empty. */
static char *take_variable(const char *name)
{
    const char *value = getenv(name);
    char *copy = value && *value ? strdup(value) : NULL;
    unsetenv(name);
    return copy;
}

/* Reads a decimal number from 1 on. 0: the text is none. */
static uint64_t number_of(const char *text)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return end && *end == '\0' && errno == 0 ? number : 0;
}

/* ---- the environment ---- */

/* A path, or after '@' a name in the abstract space of sockets. */
static bool address_of(const char *named, struct sockaddr_un *to, socklen_t *size)
{
    const size_t length = strlen(named);
    memset(to, 0, sizeof *to);
    to->sun_family = AF_UNIX;
    if ((named[0] != '/' && named[0] != '@') || length < 2 || length >= sizeof to->sun_path)
        return false;
    memcpy(to->sun_path, named, length);
    if (named[0] == '@')
        to->sun_path[0] = '\0';
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (named[0] == '/'));
    return true;
}

static void open_socket(notify *manager, const char *named)
{
    if (!address_of(named, &manager->to, &manager->to_size)) {
        cli_error(
            CLI_OK,
            "warning: NOTIFY_SOCKET: expected a path or '@' and a name, of %zu bytes at most, found '%s'; "
            "the service manager hears nothing",
            sizeof manager->to.sun_path - 1, named);
        return;
    }
    manager->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (manager->socket < 0)
        cli_error(CLI_OK, "warning: no socket for the service manager: %s", strerror(errno));
}

/* The watchdog's time, unless it is meant for another process. */
static void take_watchdog(notify *manager)
{
    char *time = take_variable("WATCHDOG_USEC"), *process = take_variable("WATCHDOG_PID");
    const uint64_t microseconds = time ? number_of(time) : 0;
    if (time && (microseconds == 0 || microseconds > UINT64_MAX / 1000))
        cli_error(
            CLI_OK,
            "warning: WATCHDOG_USEC: expected a number of microseconds, found '%s'; no watchdog is told",
            time);
    else if (!process || number_of(process) == (uint64_t)getpid())
        manager->watchdog_ns = 1000 * microseconds;
    free(time);
    free(process);
}

void notify_begin(notify *manager)
{
    char *named = take_variable("NOTIFY_SOCKET");
    *manager = (notify){.socket = -1};
    take_watchdog(manager);
    if (named)
        open_socket(manager, named);
    free(named);
}

void notify_end(notify *manager)
{
    if (manager->socket >= 0)
        close(manager->socket);
    manager->socket = -1;
}

/* ---- telling ---- */

/* A manager that does not read is not waited for: what it misses is told again by the next status or ping. */
void notify_state(notify *manager, const char *state)
{
    if (manager->socket < 0 || sendto(manager->socket, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
                                      (const struct sockaddr *)&manager->to, manager->to_size) >= 0)
        return;
    if (errno != EAGAIN && !manager->failed)
        cli_error(CLI_OK, "warning: the service manager cannot be told '%.40s': %s", state, strerror(errno));
    manager->failed = manager->failed || errno != EAGAIN;
}

void notify_status(notify *manager, const char *format, ...)
{
    char line[sizeof manager->status] = "STATUS=";
    const size_t used = strlen(line);
    va_list values;
    va_start(values, format);
    vsnprintf(line + used, sizeof line - used, format, values);
    va_end(values);
    for (char *at = line + used; *at; at++) /* a line is one state */
        *at = *at == '\n' ? ' ' : *at;
    if (manager->socket < 0 || strcmp(line, manager->status) == 0)
        return;
    memcpy(manager->status, line, sizeof line);
    notify_state(manager, line);
}
