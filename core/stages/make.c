/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a queue and adds the stages that its options ask for. The kernel adds the log and the spans later, when it knows its
 * state and its memory (log.h, spans.h).
 */
#include "core/stages/make.h"

#include <stddef.h>

#include "core/queue/side.h"
#include "core/stages/attendant.h"
#include "core/stages/expiry.h"
#include "core/stages/headers.h"
#include "core/stages/known.h"
#include "core/stages/letters.h"
#include "core/stages/levels.h"
#include "core/stages/seals.h"
#include "core/stages/timing.h"

/* Adds the stages that need the attendant's thread (expiry, levels), and the attendant. A queue has expiry when its headers
 * hold a deadline, whether the configuration or a sender sets it. */
static gyre_status stages_add_timely(gyre_queue *queue, const struct gyre_queue_options *options)
{
    const bool deadlines = options->header_size > offsetof(gyre_header, deadline_ns);
    const bool levels = options->levels > 1;
    const gyre_duty duties[GYRE_DUTIES_MAX] = {deadlines ? gyre_expiry_attend : NULL,
                                               levels ? gyre_levels_attend : NULL};
    gyre_status status = GYRE_OK;
    if (deadlines || levels)
        gyre_queue_expect_threads(queue);
    if (deadlines)
        status = gyre_expiry_create(queue, options->ttl_ns);
    if (status == GYRE_OK && levels)
        status = gyre_levels_create(queue, options);
    if (status == GYRE_OK && (deadlines || levels))
        status = gyre_attendant_create(queue, duties);
    return status;
}

/* Adds the stages that work in the program that sends and receives. */
static gyre_status stages_add(gyre_queue *queue, const struct gyre_queue_options *options)
{
    gyre_status status = GYRE_OK;
    if (options->header_size)
        gyre_headers_create(queue);
    if (options->sealed)
        gyre_seals_create(queue);
    if (options->dead_letters)
        status = gyre_letters_create(queue, options->dead_letters);
    if (status == GYRE_OK && options->dedup)
        status = gyre_known_create(queue, options->dedup);
    return status == GYRE_OK ? stages_add_timely(queue, options) : status;
}

static gyre_status queue_make(const struct gyre_queue_options *options, int descriptor, gyre_queue **out)
{
    gyre_status status = gyre_queue_make(options, descriptor, out);
    if (status == GYRE_OK && options->timed)
        status = gyre_timing_create(*out, options->timed_every);
    if (status == GYRE_OK && !options->lent) /* a client in another program has its stages there */
        status = stages_add(*out, options);
    if (status == GYRE_OK) {
        /* last, so that after a failure the layouts still belong to the caller */
        gyre_queue_own_growth(*out, options);
    } else {
        gyre_queue_destroy(*out);
        *out = NULL;
    }
    return status;
}

gyre_status gyre_queue_create(const struct gyre_queue_options *options, gyre_queue **out)
{
    return queue_make(options, -1, out);
}

gyre_status gyre_queue_create_at(const struct gyre_queue_options *options, int descriptor, gyre_queue **out)
{
    return queue_make(options, descriptor, out);
}
