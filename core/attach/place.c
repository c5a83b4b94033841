/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where servers and clients meet: a Unix socket in the file system, whose mode says who may come. No locks.
 * Must not trust a folder below /tmp that is not this user's own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/error.h"

enum { BACKLOG = 64 };

static gyre_status check_folder(const char *folder)
{
    struct stat about;
    if (lstat(folder, &about) != 0)
        return gyre_error_set(GYRE_UNAVAILABLE, "nobody serves: there is no folder %s", folder);
    if (!S_ISDIR(about.st_mode) || about.st_uid != geteuid() || (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return gyre_error_set(GYRE_UNAVAILABLE,
                              "%s must be a folder of this user that nobody else can enter; "
                              "remove it, set XDG_RUNTIME_DIR, or name a socket",
                              folder);
    return GYRE_OK;
}

/* In the folder of the session, or, where there is none, in one of the user's own below /tmp. */
static gyre_status find_own(bool make, char *path, size_t size)
{
    const char *session = getenv("XDG_RUNTIME_DIR");
    char folder[GYRE_PLACE_MAX];
    int length;
    if (session && session[0] == '/') {
        length = snprintf(path, size, "%s/gyre.sock", session);
    } else {
        snprintf(folder, sizeof folder, "/tmp/gyre-%u", (unsigned)geteuid());
        if (make && mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
            return gyre_error_set(GYRE_UNAVAILABLE, "cannot make %s: %s", folder, strerror(errno));
        gyre_status status = check_folder(folder);
        if (status != GYRE_OK)
            return status;
        length = snprintf(path, size, "%s/gyre.sock", folder);
    }
    return length > 0 && (size_t)length < size
               ? GYRE_OK
               : gyre_error_set(GYRE_INVALID, "XDG_RUNTIME_DIR is too long: %s", session);
}

gyre_status gyre_place_find(const char *given, bool make, char path[GYRE_PLACE_MAX])
{
    if (!given || !given[0])
        return find_own(make, path, GYRE_PLACE_MAX);
    if (strlen(given) >= GYRE_PLACE_MAX)
        return gyre_error_set(GYRE_INVALID, "a socket's path has at most %d characters, found %zu: %s",
                              GYRE_PLACE_MAX - 1, strlen(given), given);
    snprintf(path, GYRE_PLACE_MAX, "%s", given);
    return GYRE_OK;
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

static gyre_status open_socket(int *out)
{
    *out = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return *out >= 0 ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no socket: %s", strerror(errno));
}

gyre_status gyre_place_connect(const char *path, int *out)
{
    const struct sockaddr_un address = address_of(path);
    gyre_status status = open_socket(out);
    if (status != GYRE_OK)
        return status;
    if (connect(*out, (const struct sockaddr *)&address, sizeof address) == 0)
        return GYRE_OK;
    int error = errno;
    close(*out);
    *out = -1;
    if (error == EACCES || error == EPERM)
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "this user may not attach at %s: %s; gyre.socket_access of its server says who may", path,
            strerror(error));
    return gyre_error_set(GYRE_UNAVAILABLE,
                          "nobody serves at %s: %s; start `gyre serve`, or name another socket", path,
                          strerror(error));
}

/* A socket that nobody listens on any more was left by a server that died. */
static gyre_status remove_dead(const char *path)
{
    struct stat about;
    int living;
    if (lstat(path, &about) != 0)
        return GYRE_OK;
    if (!S_ISSOCK(about.st_mode))
        return gyre_error_set(GYRE_INVALID, "%s is no socket: name another path", path);
    gyre_error_hold();
    gyre_status status = gyre_place_connect(path, &living);
    gyre_error_let_go();
    if (status == GYRE_OK) {
        close(living);
        return gyre_error_set(GYRE_INVALID, "a server is there already: %s; name another socket", path);
    }
    if (unlink(path) != 0 && errno != ENOENT)
        return gyre_error_set(GYRE_UNAVAILABLE, "cannot replace %s, which a server left: %s", path,
                              strerror(errno));
    return GYRE_OK;
}

/* The mode is set before the socket has a name, so that it is never open to more than that. */
static gyre_status name_socket(int listener, const char *path, uint32_t mode)
{
    const struct sockaddr_un address = address_of(path);
    bool named = fchmod(listener, (mode_t)mode) == 0 &&
                 bind(listener, (const struct sockaddr *)&address, sizeof address) == 0;
    if (named && chmod(path, (mode_t)mode) == 0 &&
        listen(listener, BACKLOG) == 0) /* chmod: what umask took away */
        return GYRE_OK;
    gyre_status status = gyre_error_set(
        GYRE_UNAVAILABLE, "cannot serve at %s: %s; name another place in gyre.socket", path, strerror(errno));
    if (named)
        unlink(path);
    return status;
}

gyre_status gyre_place_listen(const char *path, uint32_t mode, int *out)
{
    *out = -1;
    gyre_status status = remove_dead(path);
    if (status == GYRE_OK)
        status = open_socket(out);
    if (status == GYRE_OK)
        status = name_socket(*out, path, mode);
    if (status != GYRE_OK && *out >= 0) {
        close(*out);
        *out = -1;
    }
    return status;
}
