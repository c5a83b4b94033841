/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the kernel that a client names, and the section of the configuration that its queue gets. When the server
 * does not have a kernel or section of that name, the error lists the names that it has.
 *
 * Takes no lock. The session visits the kernel, so that the kernel is not freed meanwhile.
 */
#include "core/attach/session_kernel.h"

#include <string.h>

#include "core/api/spread.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/kernel/visit.h"
#include "core/links/lend.h"
#include "core/recovery/supervisor.h"

enum { NAMES_MAX = 64, PIPELINES_MAX = 8 };

static bool names_one(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static gyre_status no_such_kernel(const struct gyre_session *session, const char *name)
{
    gyre_kernel *kernels[NAMES_MAX];
    char pipelines[PIPELINES_MAX][GYRE_PIPELINE_NAME_MAX];
    const char *names[PIPELINES_MAX + NAMES_MAX];
    const size_t open = gyre_pipelines_name(session->server->runtime, pipelines, PIPELINES_MAX);
    size_t count = gyre_kernels_visit_some(session->server->runtime, kernels, NAMES_MAX);
    count = count < NAMES_MAX ? count : NAMES_MAX;
    for (size_t i = 0; i < open; i++)
        names[i] = pipelines[i];
    for (size_t i = 0; i < count; i++)
        names[open + i] = kernels[i]->name;
    char list[256], hint[GYRE_TEXT_HINT_SIZE];
    const bool is_pipeline = names_one(name, names, open);
    gyre_text_list(names + (is_pipeline ? open : 0), count + (is_pipeline ? 0 : open), list, sizeof list);
    if (is_pipeline)
        gyre_error_set(GYRE_NOT_FOUND, "'%s' is a pipeline of the server; expected a kernel: %s", name, list);
    else
        gyre_error_set(GYRE_NOT_FOUND, "the server has no kernel%s '%s'%s%s%s",
                       open ? " and no pipeline" : "", name, count ? "; it has: " : ", and no other", list,
                       gyre_text_hint(name, names, open + count, hint));
    for (size_t i = 0; i < count; i++)
        gyre_kernel_leave(kernels[i]);
    return GYRE_NOT_FOUND;
}

gyre_status gyre_session_visit(struct gyre_session *session, const char *kernel)
{
    session->kernel = gyre_kernel_visit(session->server->runtime, kernel);
    return session->kernel ? GYRE_OK : no_such_kernel(session, kernel);
}

/* Refuses a queue that the server does not configure: it would get the settings of all other queues instead. */
static gyre_status check_queue_section(const struct gyre_session *session, const char *section)
{
    const struct gyre_config *config = session->server->runtime->config;
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_QUEUE, &count);
    char list[256], hint[GYRE_TEXT_HINT_SIZE];
    if (gyre_config_has_section(config, GYRE_SECTION_QUEUE, section))
        return GYRE_OK;
    gyre_text_list(names, count, list, sizeof list);
    return gyre_error_set(
        GYRE_NOT_FOUND,
        "the server has no section [queue.%s]%s%s; '%s' alone takes the kernel's own settings%s", section,
        count ? "; it has: " : ", and no other", list, session->kernel->name,
        gyre_text_hint(section, names, count, hint));
}

bool gyre_session_find_pipeline(struct gyre_session *session, struct gyre_attach_request *request,
                                const char **entry)
{
    char *slash = strchr(request->name, '/');
    if (slash)
        *slash = '\0';
    session->pipeline = gyre_pipeline_visit(session->server->runtime, request->name);
    *entry = slash ? slash + 1 : NULL;
    if (!session->pipeline && slash)
        *slash = '/';
    return session->pipeline != NULL;
}

gyre_status gyre_session_check_wishes(const struct gyre_session *session,
                                      const struct gyre_attach_request *request)
{
    if (request->desc.capacity <= session->server->capacity_max)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "a client may ask for at most %llu slots here (gyre.client_capacity_max of the server), found %llu: ask "
        "for fewer, or raise that",
        (unsigned long long)session->server->capacity_max, (unsigned long long)request->desc.capacity);
}

/* Visits the kernel of that name, or of one on several devices the part of this client. */
static gyre_status visit_served(struct gyre_session *session, const char *name)
{
    char part[GYRE_SPREAD_PART_NAME];
    const gyre_status status = gyre_spread_turn(session->server->runtime, name, session->client, part);
    if (status != GYRE_OK && status != GYRE_NOT_FOUND)
        return status;
    return gyre_session_visit(session, status == GYRE_OK ? part : name);
}

gyre_status gyre_session_find_kernel(struct gyre_session *session, struct gyre_attach_request *request,
                                     const char **section)
{
    char *slash = strchr(request->name, '/');
    if (slash)
        *slash = '\0';
    *section = slash ? slash + 1 : request->name;
    gyre_status status = visit_served(session, request->name);
    if (status != GYRE_OK)
        return status;
    status = gyre_supervisor_check_gone(session->kernel);
    session->gone = status != GYRE_OK;
    if (status == GYRE_OK)
        status = gyre_session_check_wishes(session, request);
    if (status != GYRE_OK)
        return status;
    return slash && strcmp(*section, request->name) != 0 ? check_queue_section(session, *section) : GYRE_OK;
}
