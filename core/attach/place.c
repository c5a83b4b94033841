/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, makes and removes the Unix socket at which servers and clients meet (meeting.h). The socket's file mode says
 * which users may connect. Lock: a file beside the socket, held while a server puts its socket there or removes it.
 * Must not trust a folder below /tmp that is not this user's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "gyre/lack.h"
#include "gyre/waiting.h"

enum {
    BACKLOG = 64,
    KNOCK_MS = 1000,
    LOCK_MS = 1500,
    LOCK_NAP_NS = 2000000,
    DYING_MS = 1000,
    DYING_NAP_NS = 5000000
};

#define LONGEST_NS UINT64_C(1000000000) /* the longest single wait */

static gyre_status check_folder(const char *folder)
{
    struct stat about;
    if (lstat(folder, &about) != 0)
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "nobody serves: there is no folder %s, which a server makes; start `gyre serve`, or name "
            "another socket",
            folder);
    if (!S_ISDIR(about.st_mode) || about.st_uid != geteuid() || (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return gyre_error_set(GYRE_UNAVAILABLE,
                              "%s must be a folder of this user that nobody else can enter; "
                              "remove it, set XDG_RUNTIME_DIR, or name a socket",
                              folder);
    return GYRE_OK;
}

/* Names this user's folder below /tmp, for a session that has no folder. */
static void name_own_folder(char folder[GYRE_PLACE_MAX])
{
    snprintf(folder, GYRE_PLACE_MAX, "/tmp/gyre-%u", (unsigned)geteuid());
}

static gyre_status cannot_make(const char *folder)
{
    return gyre_error_set(gyre_lack_status(errno, GYRE_UNAVAILABLE), "cannot make %s: %s", folder,
                          strerror(errno));
}

/* Finds the socket's path in the session's folder (XDG_RUNTIME_DIR), else in this user's folder below /tmp. */
static gyre_status find_own(bool make, char *path, size_t size)
{
    const char *session = getenv("XDG_RUNTIME_DIR");
    char folder[GYRE_PLACE_MAX];
    int length;
    if (session && session[0] == '/') {
        length = snprintf(path, size, "%s/gyre.sock", session);
    } else {
        name_own_folder(folder);
        if (make && mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
            return cannot_make(folder);
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
        return gyre_error_set(GYRE_INVALID,
                              "a socket's path has at most %d characters, found %zu: %s; name a shorter one",
                              GYRE_PLACE_MAX - 1, strlen(given), given);
    snprintf(path, GYRE_PLACE_MAX, "%s", given);
    return GYRE_OK;
}

static gyre_status cannot_serve(const char *path, int error)
{
    return gyre_error_set(GYRE_UNAVAILABLE, "cannot serve at %s: %s; name another place in gyre.socket", path,
                          strerror(error));
}

static gyre_status no_socket(const char *path)
{
    return gyre_error_set(GYRE_INVALID, "%s is a file and no socket: name another path", path);
}

/* Returns 0, or the errno that keeps this user from putting a file into that folder. */
static int lacks_access(const char *folder)
{
    char itself[GYRE_PLACE_MAX + sizeof "/."];
    snprintf(itself, sizeof itself, "%s/.", folder);
    return faccessat(AT_FDCWD, itself, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* Turns the error about a missing folder of this user into OK, because the first server makes the folder. */
static gyre_status could_make_own(gyre_status status)
{
    char folder[GYRE_PLACE_MAX];
    struct stat about;
    name_own_folder(folder);
    if (status != GYRE_UNAVAILABLE || lstat(folder, &about) == 0)
        return status;
    gyre_error_clear();
    errno = lacks_access("/tmp");
    return errno == 0 ? GYRE_OK : cannot_make(folder);
}

gyre_status gyre_place_could_serve(const char *given)
{
    char path[GYRE_PLACE_MAX], folder[GYRE_PLACE_MAX];
    struct stat about;
    const gyre_status status = gyre_place_find(given, false, path);
    if (status != GYRE_OK)
        return could_make_own(status);
    if (lstat(path, &about) == 0)
        return S_ISSOCK(about.st_mode) ? GYRE_OK : no_socket(path);
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    const int error = lacks_access(folder);
    return error == 0 ? GYRE_OK : cannot_serve(path, error);
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

gyre_status gyre_place_socket(int *out)
{
    *out = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return *out >= 0 ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no socket: %s", strerror(errno));
}

static void limit_wait(int socket, uint64_t deadline_ns)
{
    const uint64_t now = gyre_clock_ns();
    const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    const uint64_t wait_us = (left < LONGEST_NS ? left : LONGEST_NS) / 1000 + 1; /* 0 would be for ever */
    const struct timeval wait = {(time_t)(wait_us / 1000000), (suseconds_t)(wait_us % 1000000)};
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
}

/* Connects. Returns 0 or an errno: ECONNREFUSED when no server listens there, EAGAIN when a server let no client in. */
static int connect_until(int socket, const char *path, uint64_t deadline_ns)
{
    const struct sockaddr_un address = address_of(path);
    int error;
    do {
        limit_wait(socket, deadline_ns);
        error = connect(socket, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    } while ((error == EINTR || error == EAGAIN) && gyre_clock_ns() < deadline_ns);
    return error == EINTR ? EAGAIN : error; /* signals that kept coming */
}

/* " (seen from '/home/me')" for a relative path, else "". */
static const char *seen_from(const char *path, char *text, size_t size)
{
    char folder[GYRE_PLACE_MAX];
    text[0] = '\0';
    if (path[0] != '/' && getcwd(folder, sizeof folder))
        snprintf(text, size, " (seen from '%s')", folder);
    return text;
}

/* Sets the error of a path at which no program listens as a server of Gyre does. */
static gyre_status nobody_serves(const char *path, int error)
{
    char from[GYRE_PLACE_MAX + 32];
    struct stat about;
    const bool found = stat(path, &about) == 0;
    if (found && S_ISDIR(about.st_mode))
        return gyre_error_set(GYRE_INVALID, "%s is a folder: name the socket of a server in it", path);
    if (found && !S_ISSOCK(about.st_mode))
        return no_socket(path);
    if (error == EPROTOTYPE)
        return gyre_error_set(GYRE_INVALID,
                              "%s is a socket of another program than `gyre serve`: name another path", path);
    return gyre_error_set(GYRE_UNAVAILABLE,
                          "nobody serves at %s%s: %s; start `gyre serve`, or name another socket", path,
                          seen_from(path, from, sizeof from), strerror(error));
}

gyre_status gyre_place_connect(const char *path, uint64_t deadline_ns, int socket)
{
    const int error = connect_until(socket, path, deadline_ns);
    if (error == 0)
        return GYRE_OK;
    if (error == EAGAIN)
        return gyre_error_set(GYRE_TIMEOUT, "the server at %s takes nobody in: is it stopped?", path);
    if (error == EACCES || error == EPERM)
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "this user may not attach at %s: %s; gyre.socket_access of its server says who may", path,
            strerror(error));
    return nobody_serves(path, error);
}

/*
 * Tries a connection and closes it. Returns what connect_until returns, or the errno that kept this program from
 * trying.
 */
static int knock(const char *path)
{
    int socket = -1;
    gyre_error_hold();
    gyre_status status = gyre_place_socket(&socket);
    gyre_error_let_go();
    if (status != GYRE_OK)
        return EMFILE;
    int error = connect_until(socket, path, gyre_in_ms(KNOCK_MS));
    close(socket);
    return error;
}

bool gyre_place_is_dead(const char *path)
{
    return knock(path) == ECONNREFUSED;
}

/*
 * A server holds this lock from its look at a dead server's socket until it listens in its place. Without it, two
 * servers could do so at once, and one would remove the other's socket. The lock is on a file beside the socket, and
 * ends with its holder. The folder itself cannot be locked for this, because other programs may lock it.
 */
struct place_lock {
    int file; /* -1: the lock cannot be had, or another process holds it too long; then the caller goes on without */
    char path[GYRE_PLACE_MAX + sizeof ".lock"];
};

/* Whether the lock's file is still at its path: a file that its last holder removed locks nothing. */
static bool is_named(int file, const char *path)
{
    struct stat held, named;
    return fstat(file, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

static struct place_lock lock_place(const char *path)
{
    struct place_lock lock = {.file = -1};
    const uint64_t until = gyre_in_ms(LOCK_MS);
    snprintf(lock.path, sizeof lock.path, "%s.lock", path);
    do {
        lock.file = open(lock.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
        if (lock.file < 0 || (flock(lock.file, LOCK_EX | LOCK_NB) == 0 && is_named(lock.file, lock.path)))
            return lock;
        close(lock.file);
        lock.file = -1;
        nanosleep(&(struct timespec){0, LOCK_NAP_NS}, NULL);
    } while (gyre_clock_ns() < until);
    return lock;
}

static void unlock_place(const struct place_lock *lock)
{
    if (lock->file < 0)
        return;
    unlink(lock->path);
    close(lock->file);
}

/* Removes the socket of a server that died. *served: a server listens there. */
static gyre_status remove_dead(const char *path, bool *served)
{
    struct stat about;
    *served = false;
    if (lstat(path, &about) != 0)
        return GYRE_OK;
    if (!S_ISSOCK(about.st_mode))
        return no_socket(path);
    int error = knock(path);
    *served = error == 0 || error == EAGAIN;
    if (*served)
        return gyre_error_set(GYRE_INVALID, "a server is there already: %s; name another socket", path);
    if (error != ECONNREFUSED && error != ENOENT)
        return gyre_error_set(GYRE_UNAVAILABLE,
                              "whether somebody serves at %s cannot be seen: %s; name another socket", path,
                              strerror(error));
    if (unlink(path) != 0 && errno != ENOENT)
        return gyre_error_set(GYRE_UNAVAILABLE, "cannot replace %s, which a server left: %s", path,
                              strerror(errno));
    return GYRE_OK;
}

/*
 * Gives the socket its path and listens. Sets the mode first, so that the socket is never open to more users than
 * that.
 */
static gyre_status name_socket(int listener, const char *path, uint32_t mode)
{
    const struct sockaddr_un address = address_of(path);
    bool named = fchmod(listener, (mode_t)mode) == 0 &&
                 bind(listener, (const struct sockaddr *)&address, sizeof address) == 0;
    if (named && chmod(path, (mode_t)mode) == 0 &&
        listen(listener, BACKLOG) == 0) /* chmod: what umask took away */
        return GYRE_OK;
    gyre_status status = cannot_serve(path, errno);
    if (named)
        unlink(path);
    return status;
}

/* Tries once to listen. *served: another server listens there. */
static gyre_status try_listen(const char *path, uint32_t mode, int *out, bool *served)
{
    const struct place_lock lock = lock_place(path);
    *out = -1;
    gyre_status status = remove_dead(path, served);
    if (status == GYRE_OK)
        status = gyre_place_socket(out);
    if (status == GYRE_OK)
        status = name_socket(*out, path, mode);
    if (status != GYRE_OK && *out >= 0) {
        close(*out);
        *out = -1;
    }
    unlock_place(&lock);
    return status;
}

/*
 * Whether the server at `path` hangs up before until_ns. The socket of a server that was killed stays until Linux has
 * freed the server's memory, and hangs up only then. One connection is enough to see this.
 */
static bool hangs_up(const char *path, uint64_t until_ns)
{
    struct pollfd wait = {.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), .events = POLLRDHUP};
    bool over = false;
    if (wait.fd < 0)
        return false;
    if (connect_until(wait.fd, path, until_ns) != 0) {
        over = gyre_clock_ns() < until_ns; /* it is gone already */
        nanosleep(&(struct timespec){0, LOCK_NAP_NS}, NULL);
    }
    for (uint64_t now = gyre_clock_ns(); !over && now < until_ns; now = gyre_clock_ns())
        over = poll(&wait, 1, (int)((until_ns - now) / 1000000) + 1) > 0;
    close(wait.fd);
    return over;
}

gyre_status gyre_place_listen(const char *path, uint32_t mode, int *out)
{
    const uint64_t until = gyre_in_ms(DYING_MS);
    bool served;
    gyre_status status = try_listen(path, mode, out, &served);
    while (served && gyre_clock_ns() < until && hangs_up(path, until)) {
        gyre_error_clear();
        status = try_listen(path, mode, out, &served);
    }
    return status;
}

bool gyre_place_remove_dead(const char *path)
{
    const struct place_lock lock = lock_place(path);
    const bool removed = gyre_place_is_dead(path) && unlink(path) == 0;
    unlock_place(&lock);
    return removed;
}

void gyre_place_leave(const char *path, int listener)
{
    shutdown(listener, SHUT_RDWR); /* a forked child may have a copy */
    close(listener);
    gyre_place_remove_dead(path);
}
