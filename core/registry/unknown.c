/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the error about a backend's name that no backend has (unknown.h). Users often write a kind of device instead.
 * Then the backend with the nearest name would mislead: `gpu` is one letter away from `cpu`.
 */
#include "core/registry/unknown.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"

enum { DRIVERS_MAX = 16 };

/* Whether `words`, separated by spaces, has the word. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t here = strcspn(at, " ");
        if (here == length && strncasecmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

/* Finds the backends that drive devices of the kind `word`. Returns how many. */
static size_t find_drivers(const struct gyre_config *config, const char *word, const char *const *names,
                           size_t count, const char *drivers[DRIVERS_MAX])
{
    size_t found = 0;
    for (size_t i = 0; i < count && found < DRIVERS_MAX; i++)
        if (has_word(gyre_config_text(config, GYRE_SECTION_BACKEND, names[i], "drives"), word))
            drivers[found++] = names[i];
    return found;
}

gyre_status gyre_backend_unknown(const struct gyre_config *config, const char *name, const char *const *names,
                                 size_t count)
{
    const char *drivers[DRIVERS_MAX];
    char known[512], driving[512], hint[GYRE_TEXT_HINT_SIZE] = "";
    const size_t found = find_drivers(config, name, names, count, drivers);
    gyre_text_list(names, count, known, sizeof known);
    gyre_text_list(drivers, found, driving, sizeof driving);
    if (found > 0)
        return gyre_error_set(
            GYRE_NOT_FOUND,
            "there is no backend '%s': that is a word for devices, which %s drive%s, and backend = auto takes the "
            "best that can start; known: %s",
            name, driving, found == 1 ? "s" : "", known);
    /* no backend drives a GPU: no hint, as it would be `cpu`, which is not meant */
    if (strcasecmp(name, "gpu") != 0)
        gyre_text_hint(name, names, count, hint);
    return gyre_error_set(GYRE_NOT_FOUND, "there is no backend '%s'%s; known: %s", name, hint, known);
}
