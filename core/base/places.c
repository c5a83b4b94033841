/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds Gyre's folders (places.h) once per process, under pthread_once. The build compiles two paths in: the home folder of
 * the install, absolute (GYRE_HOME), and its path from the folder of programs (GYRE_HOME_FROM_BIN).
 */
#include "core/base/places.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/libc.h"

static struct {
    pthread_once_t once;
    char home[PATH_MAX], helpers[PATH_MAX];
} places = {.once = PTHREAD_ONCE_INIT};

/* Finds the folder of the shared object or program that contains this code, with links resolved. */
static int own_folder(char folder[PATH_MAX])
{
    const char *object = gyre_libc_object_of((const void *)(uintptr_t)gyre_place_home);
    if (!object)
        return 0;
    const char *file = object[0] ? object : "/proc/self/exe";
    const char *started = object[0] ? NULL : (const char *)getauxval(AT_EXECFN); /* without /proc */
    if (!realpath(file, folder) && (!started || !realpath(started, folder)))
        return 0;
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    return 1;
}

/* Accepts the folder when it holds plugins or their drop-ins. */
static int is_home(const char *folder, const char *below, char home[PATH_MAX])
{
    char candidate[PATH_MAX], probe[PATH_MAX];
    int n = snprintf(candidate, sizeof candidate, "%s/%s", folder, below);
    if (n < 0 || (size_t)n >= sizeof candidate || !realpath(candidate, home))
        return 0;
    n = snprintf(probe, sizeof probe, "%s/plugins", home);
    return n > 0 && (size_t)n < sizeof probe && access(probe, F_OK) == 0;
}

static void below_home(char place[PATH_MAX], const char *name)
{
    int n = snprintf(place, PATH_MAX, "%s/%s", places.home, name);
    if (n < 0 || n >= PATH_MAX)
        place[0] = '\0';
}

static void find_places(void)
{
    char folder[PATH_MAX];
    if (!own_folder(folder) || (!is_home(folder, GYRE_HOME_NAME, places.home) &&
                                !is_home(folder, "../lib/" GYRE_HOME_NAME, places.home) &&
                                !is_home(folder, GYRE_HOME_FROM_BIN, places.home)))
        snprintf(places.home, sizeof places.home, "%s", GYRE_HOME);
    below_home(places.helpers, "libexec");
}

const char *gyre_place_home(void)
{
    pthread_once(&places.once, find_places);
    return places.home;
}

const char *gyre_place_helpers(void)
{
    pthread_once(&places.once, find_places);
    return places.helpers;
}
