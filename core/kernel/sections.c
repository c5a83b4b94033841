/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells of a section whose name looks mistyped: [kernel.buckt], when a kernel `bucket` is launched that has no section of
 * its own. A section may have any name, so the warning needs a similar name, and never names a section in use. Lock:
 * runtime->lock for `told`, the sections that were warned about.
 */
#include "core/kernel/sections.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/kernel/kernel.h"
#include "core/pipeline/build.h"

/* True when the names first differ in a digit: worker1 and worker2 are two names, not one name with a mistake. */
static bool differ_in_digits(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return isdigit((unsigned char)*a) || isdigit((unsigned char)*b);
}

static bool is_of_build(const struct gyre_build *build, const char *name)
{
    for (size_t i = 0; build && i < gyre_build_count(build); i++)
        if (!strcmp(gyre_build_at(build, i)->name, name))
            return true;
    return false;
}

/* True when a kernel has that name, or is configured to have it: the section is meant for that kernel. */
static bool is_known(gyre_runtime *runtime, enum gyre_section_kind kind, const struct gyre_build *build,
                     const char *name)
{
    return is_of_build(build, name) || gyre_kernel_find(runtime, name) ||
           gyre_config_text(runtime->config, GYRE_SECTION_KERNEL, name, "source")[0] ||
           (kind == GYRE_SECTION_QUEUE &&
            gyre_config_has_section(runtime->config, GYRE_SECTION_KERNEL, name));
}

/* Notes a section, and returns whether it was noted before, so that a section is warned about once although programs launch the
 * same kernel many times. Sections in use are noted as well. */
static bool was_told(gyre_runtime *runtime, const char *section)
{
    bool told = false;
    pthread_mutex_lock(&runtime->lock);
    for (size_t i = 0; i < GYRE_SECTIONS_TOLD && !told; i++) {
        told = runtime->told[i] == section;
        if (!runtime->told[i]) {
            runtime->told[i] = section; /* owned by the configuration, which lives as long */
            break;
        }
    }
    pthread_mutex_unlock(&runtime->lock);
    return told;
}

/* Whether the section itself asks for a journal. */
static bool asks_for_journal(const gyre_runtime *runtime, enum gyre_section_kind kind, const char *section)
{
    const struct gyre_config_value *own =
        kind == GYRE_SECTION_QUEUE ? gyre_config_find(runtime->config, kind, section, "durability") : NULL;
    const struct gyre_config_value *general =
        own ? gyre_config_find(runtime->config, kind, NULL, "durability") : NULL;
    return own && own->number && !(general && general->number);
}

static gyre_status tell_section(gyre_runtime *runtime, enum gyre_section_kind kind, const char *section,
                                const char *name)
{
    const char *word = gyre_section_kind_word(kind),
               *place = gyre_config_place(runtime->config, kind, section);
    place = place ? place : "";
    if (asks_for_journal(runtime, kind, section))
        return gyre_error_set(GYRE_CONFIG,
                              "%s%s[%s.%s] asks for durability = journal and is for no %s that is known, and "
                              "%s '%s' would have no journal; did you mean [%s.%s]?",
                              place, place[0] ? ": " : "", word, section, word, word, name, word, name);
    if (!was_told(runtime, section))
        gyre_runtime_log(runtime, GYRE_LOG_WARNING,
                         "%s%s[%s.%s] is for no %s that is known; did you mean [%s.%s]?", place,
                         place[0] ? ": " : "", word, section, word, word, name);
    return GYRE_OK;
}

/* True when the kernel, queue or shards of that name have a section of their own, so that no section is mistyped. */
static bool has_own(gyre_runtime *runtime, enum gyre_section_kind kind, const char *const *names,
                    size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    if (i < count && kind == GYRE_SECTION_QUEUE)
        was_told(runtime, names[i]);
    return gyre_config_has_section(runtime->config, kind, name); /* `default` is not among the names */
}

gyre_status gyre_sections_look(gyre_runtime *runtime, enum gyre_section_kind kind, const char *name,
                               const struct gyre_build *build)
{
    size_t count, others = 0;
    const char *const *names = gyre_config_names(runtime->config, kind, &count);
    const char **candidates = count && name[0] ? calloc(count, sizeof *candidates) : NULL;
    if (!candidates || has_own(runtime, kind, names, count, name)) {
        free(candidates);
        return GYRE_OK;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_known(runtime, kind, build, names[i]) && !differ_in_digits(names[i], name))
            candidates[others++] = names[i];
    const char *near = gyre_text_nearest(name, candidates, others);
    free(candidates); /* the names are the configuration's */
    return near ? tell_section(runtime, kind, near, name) : GYRE_OK;
}

gyre_status gyre_sections_blame_source(const gyre_kernel *kernel)
{
    return gyre_config_blame(kernel->runtime->config, GYRE_SECTION_KERNEL, kernel->name, "source",
                             GYRE_CONFIG);
}
