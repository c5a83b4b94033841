/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program unloads the library after it closed a server. No thread of a connection may be inside the library then. The
 * program's own pthread_mutex_unlock holds such a thread up when it has given its last lock back.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gyre/attach.h"
#include "gyre/gyre.h"

enum { ROUNDS = 5, HELD_UP_US = 50000 };

static bool holds_up;
static pthread_t program;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *);
    if (!__atomic_load_n(&real, __ATOMIC_ACQUIRE)) {
        int (*found)(pthread_mutex_t *) = NULL;
        *(void **)&found = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
        __atomic_store_n(&real, found, __ATOMIC_RELEASE);
    }
    const int result = __atomic_load_n(&real, __ATOMIC_ACQUIRE)(mutex);
    if (__atomic_load_n(&holds_up, __ATOMIC_ACQUIRE) && !pthread_equal(pthread_self(), program))
        usleep(HELD_UP_US);
    return result;
}

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "required: %s\n", what);
    exit(EXIT_FAILURE);
}

/* A client that connects and says nothing. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    require(client >= 0 && connect(client, (const struct sockaddr *)&address, sizeof address) == 0,
            "a connection to the server");
    return client;
}

static void *function_of(void *library, const char *name)
{
    void *function = dlsym(library, name);
    require(function != NULL, name);
    return function;
}

#define FUNCTION(library, name)                                                                              \
    __typeof__(&(name)) name##_loaded;                                                                       \
    *(void **)&name##_loaded = function_of(library, #name)

static void load_serve_and_unload(const char *path)
{
    void *library = dlopen(GYRE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, "the library");
    FUNCTION(library, gyre_open);
    FUNCTION(library, gyre_close);
    FUNCTION(library, gyre_serve);
    FUNCTION(library, gyre_server_close);
    const gyre_serve_desc desc = {.size = sizeof desc, .path = path};
    gyre_runtime *runtime = NULL;
    gyre_server *server = NULL;
    require(gyre_open_loaded(NULL, &runtime) == GYRE_OK, "a runtime");
    require(gyre_serve_loaded(runtime, &desc, &server) == GYRE_OK, "a server");
    const int first = connect_to(path), second = connect_to(path);
    usleep(HELD_UP_US);
    __atomic_store_n(&holds_up, true, __ATOMIC_RELEASE);
    gyre_server_close_loaded(server);
    gyre_close_loaded(runtime);
    require(dlclose(library) == 0 && !dlopen(GYRE_LIBRARY, RTLD_NOW | RTLD_NOLOAD),
            "the library is unloaded");
    usleep(4 * HELD_UP_US);
    __atomic_store_n(&holds_up, false, __ATOMIC_RELEASE);
    close(first);
    close(second);
}

int main(void)
{
    char path[64];
    program = pthread_self();
    snprintf(path, sizeof path, "/tmp/gyre-unload-%ld.sock", (long)getpid());
    for (int round = 0; round < ROUNDS; round++)
        load_serve_and_unload(path);
    return EXIT_SUCCESS;
}
