/* SPDX-License-Identifier: Apache-2.0 */
/* Opens sockets (listen.h). */
#include "cli/web/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/cli.h"

enum { BACKLOG = 256 };

static int end_with(int descriptor, int code)
{
    if (descriptor >= 0)
        close(descriptor);
    return -code;
}

/* ---- addresses ---- */

/* Splits "[ADDRESS]:PORT", "ADDRESS:PORT" or "PORT". */
static bool split_place(const char *place, char address[WEB_PLACE_MAX], char port[8])
{
    const char *colon = strrchr(place, ':');
    const char *from = place, *end = colon;
    snprintf(address, WEB_PLACE_MAX, "127.0.0.1");
    if (colon && place[0] == '[') {
        from++;
        end--;
        if (end <= from || *end != ']')
            return false;
    }
    if (colon && (end == from || end - from >= WEB_PLACE_MAX))
        return false;
    if (colon)
        snprintf(address, WEB_PLACE_MAX, "%.*s", (int)(end - from), from);
    if (strcmp(address, "localhost") == 0)
        snprintf(address, WEB_PLACE_MAX, "127.0.0.1");
    const char *digits = colon ? colon + 1 : place;
    const size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > 5 || digits[length])
        return false;
    snprintf(port, 8, "%s", digits);
    return true;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
        return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    }
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
    return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
}

static void write_page(int socket, char page[WEB_PLACE_MAX])
{
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    char address[48] = "", port[8] = "";
    getsockname(socket, (struct sockaddr *)&bound, &size);
    getnameinfo((struct sockaddr *)&bound, size, address, sizeof address, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    const bool six = bound.ss_family == AF_INET6;
    snprintf(page, WEB_PLACE_MAX, "http://%s%s%s:%s/", six ? "[" : "", address, six ? "]" : "", port);
}

static int listen_at(const char *place, const struct addrinfo *address, char page[WEB_PLACE_MAX], bool *open)
{
    const int one = 1;
    const int listener = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(listener, address->ai_addr, address->ai_addrlen) != 0 || listen(listener, BACKLOG) != 0) {
        const int error = errno;
        return end_with(listener,
                        cli_error(CLI_FAILED, "cannot listen at %s: %s%s", place, strerror(error),
                                  error == EADDRINUSE ? "; --listen names another port, 0 any" : ""));
    }
    *open = !is_loopback(address->ai_addr);
    write_page(listener, page);
    return listener;
}

int web_listen_address(const char *place, char page[WEB_PLACE_MAX], bool *open)
{
    char address[WEB_PLACE_MAX], port[8] = "";
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    if (!split_place(place, address, port) || strtoul(port, NULL, 10) > 65535 ||
        getaddrinfo(address, port, &wanted, &found) != 0)
        return -cli_error(CLI_USAGE,
                          "--listen: expected a port up to 65535, or ADDRESS:PORT with an address such as "
                          "127.0.0.1 or [::1], found '%s'",
                          place);
    const int listener = listen_at(place, found, page, open);
    freeaddrinfo(found);
    return listener;
}

/* ---- paths ---- */

/* Removes a socket at which nobody listens any more. False: somebody does, or it is no socket. */
static bool remove_left(const struct sockaddr_un *at)
{
    struct stat about;
    if (lstat(at->sun_path, &about) != 0)
        return errno == ENOENT;
    if (!S_ISSOCK(about.st_mode))
        return false;
    const int asker = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool nobody =
        asker >= 0 && connect(asker, (const struct sockaddr *)at, sizeof *at) != 0 && errno == ECONNREFUSED;
    if (asker >= 0)
        close(asker);
    return nobody && unlink(at->sun_path) == 0;
}

int web_listen_path(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!path[0] || strlen(path) >= sizeof at.sun_path)
        return -cli_error(CLI_USAGE, "--socket: expected a path of 1 to %zu bytes, found '%s'",
                          sizeof at.sun_path - 1, path);
    memcpy(at.sun_path, path, strlen(path));
    if (!remove_left(&at))
        return -cli_error(
            CLI_FAILED, "'%s' is there already, and is no socket that a dead server left; name another path",
            path);
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const mode_t before = umask(S_IRWXG | S_IRWXO);
    const bool bound = listener >= 0 && bind(listener, (const struct sockaddr *)&at, sizeof at) == 0;
    const int error = errno;
    umask(before);
    if (bound && listen(listener, BACKLOG) == 0)
        return listener;
    return end_with(
        listener, cli_error(CLI_FAILED, "cannot listen at '%s': %s", path, strerror(bound ? errno : error)));
}
