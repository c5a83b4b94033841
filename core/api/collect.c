/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives (gyre/collect.h): the kernels are made to stand, their bytes are read and combined, and only when the result is whole it is
 * written; checkpoints with the result count for all kernels at one moment (core/kernel/standing.h). A failure before that moment puts
 * back what was before. What the end of a worker process, or another thread, interrupted begins anew until the deadline.
 */
#include "gyre/collect.h"

#include <string.h>
#include <time.h>

#include "core/api/collect_copy.h"
#include "core/api/collect_devices.h"
#include "core/api/collect_parts.h"
#include "core/api/collect_room.h"
#include "core/base/error.h"
#include "gyre/waiting.h"

#define RETRY_NS UINT64_C(200000)

/* ---- memory ---- */

static gyre_runtime *runtime_of(const struct gyre_collecting *all)
{
    return all->parts[0].standing.runtime;
}

static size_t whole_lines(uint64_t bytes)
{
    return (size_t)((bytes + 63) & ~UINT64_C(63));
}

/* Room for what the parts on devices have, and for the result; of a fetch, the caller's. */
static gyre_status make_room(struct gyre_collecting *all)
{
    const size_t each = whole_lines(all->bytes), result = all->in_place ? GYRE_COLLECT_CHUNK : each;
    size_t size = all->kind == GYRE_COLLECTING_REDUCE ? result : 0, at = size;
    for (uint32_t i = 0; i < all->count; i++)
        size += all->parts[i].place ? 0 : each;
    if (all->kind != GYRE_COLLECTING_FETCH && size) {
        const gyre_status status = gyre_collect_room_take(runtime_of(all), size, &all->room);
        if (status != GYRE_OK)
            return status;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        struct gyre_collecting_part *part = &all->parts[i];
        part->before = part->place                          ? NULL
                       : all->kind == GYRE_COLLECTING_FETCH ? all->items + i * all->bytes
                                                            : gyre_collect_room_bytes(all->room) + at;
        at += part->place ? 0 : each;
    }
    const struct gyre_collecting_part *root = &all->parts[all->root];
    if (all->kind == GYRE_COLLECTING_REDUCE)
        all->result = gyre_collect_room_bytes(all->room);
    if (all->kind == GYRE_COLLECTING_COPY)
        all->result = root->place ? root->place : root->before;
    return GYRE_OK;
}

static void free_room(struct gyre_collecting *all)
{
    gyre_collect_room_give(runtime_of(all), all->room);
    all->room = NULL;
}

/* ---- one attempt ---- */

static gyre_status stand_all(const struct gyre_collecting *all, const struct gyre_standing **failed)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++) {
        *failed = all->order[i];
        status = gyre_standing_order(all->order[i], all->deadline_ns);
    }
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++) {
        *failed = all->order[i];
        status = gyre_standing_await(all->order[i], all->deadline_ns);
    }
    return status == GYRE_OK ? GYRE_OK : gyre_error_add(status, "%s", all->call);
}

static void end_all(const struct gyre_collecting *all)
{
    for (uint32_t i = all->count; i-- > 0;)
        gyre_standing_end(all->order[i]);
}

static gyre_status let_count(struct gyre_collecting *all)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++)
        if (all->parts[i].gets)
            status = gyre_standing_draw(&all->parts[i].standing, NULL, GYRE_FOREVER);
    return status == GYRE_OK ? gyre_standings_count(all->order, all->count) : status;
}

/*
 * Writes the result and lets it count for all that get it. What is in this process is written behind that, because nothing brings it
 * back. A checkpoint that is being stored is waited for even beyond the deadline: it ends by itself.
 */
static gyre_status write_and_count(struct gyre_collecting *all)
{
    gyre_status status = gyre_collect_write(all);
    if (status == GYRE_OK)
        status = let_count(all);
    if (status == GYRE_OK)
        gyre_collect_store(all);
    else
        gyre_collect_put_back(all);
    return status;
}

static gyre_status work_by_devices(struct gyre_collecting *all)
{
    gyre_status status = gyre_collect_devices_write(all);
    if (status == GYRE_OK) {
        status = let_count(all);
        if (status != GYRE_OK)
            gyre_collect_devices_put_back(all);
    }
    gyre_collect_devices_end(all);
    return status;
}

/* A fetch gets exactly the bytes that its caller has room for. */
static gyre_status check_items(const struct gyre_collecting *all)
{
    if (all->kind != GYRE_COLLECTING_FETCH ||
        (all->items_size / all->count == all->bytes && all->items_size % all->count == 0))
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID, "%s: expected room for %u times %llu bytes, found room for %zu bytes",
                          all->call, all->count, (unsigned long long)all->bytes, all->items_size);
}

static gyre_status work(struct gyre_collecting *all)
{
    gyre_status status = gyre_collect_find(all);
    if (status == GYRE_OK)
        status = check_items(all); /* a change may have made the buffers longer */
    if (status == GYRE_OK && gyre_collect_by_devices(all) && gyre_collect_devices_room(all))
        return work_by_devices(all);
    if (status == GYRE_OK)
        status = make_room(all);
    if (status == GYRE_OK)
        status = gyre_collect_read(all);
    if (status == GYRE_OK && all->kind != GYRE_COLLECTING_FETCH)
        status = write_and_count(all);
    free_room(all);
    return status;
}

/* ---- attempts ---- */

/* Whether any of the kernels is the reason to begin anew. A failure of a transfer does not say whose it is. */
static bool may_retry(const struct gyre_collecting *all, const struct gyre_standing *failed,
                      gyre_status status)
{
    if (failed)
        return gyre_standing_may_retry(failed, status);
    for (uint32_t i = 0; i < all->count; i++)
        if (gyre_standing_may_retry(&all->parts[i].standing, status))
            return true;
    return false;
}

static gyre_status attempt(struct gyre_collecting *all, bool *again)
{
    const struct gyre_standing *failed = NULL;
    gyre_status status = stand_all(all, &failed);
    if (status == GYRE_OK) {
        failed = NULL;
        status = work(all);
    }
    gyre_error_hold();
    end_all(all);
    *again = status != GYRE_OK && may_retry(all, failed, status);
    gyre_error_let_go();
    return status;
}

static gyre_status try_until_done(struct gyre_collecting *all)
{
    bool again = false;
    for (;;) {
        const gyre_status status = attempt(all, &again);
        if (!again)
            return status;
        if (gyre_clock_ns() >= all->deadline_ns)
            return gyre_error_add(GYRE_TIMEOUT, "%s: no moment came that all kernels reached in time",
                                  all->call);
        nanosleep(&(struct timespec){0, RETRY_NS}, NULL);
    }
}

static gyre_status check_root(const struct gyre_collecting *all, uint32_t root)
{
    if (root < all->count)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID, "%s: expected a root from 0 to %u, found %u", all->call,
                          all->count - 1, root);
}

static gyre_status begin(struct gyre_collecting *all, const gyre_collect_desc *desc)
{
    gyre_collect_desc given = {.size = sizeof given};
    if (!desc || desc->size < sizeof desc->size)
        return GYRE_ARGUMENTS(all->call, GYRE_SIZED(desc));
    memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    const gyre_status status = gyre_collect_take(&given, all);
    return status == GYRE_OK ? gyre_collect_check(all) : status;
}

/* `status`: that of the beginning. */
static gyre_status finish(struct gyre_collecting *all, gyre_status status)
{
    if (status == GYRE_OK) {
        gyre_collect_devices_prepare(all);
        status = try_until_done(all);
    }
    gyre_collect_leave(all);
    return status;
}

/* ---- the calls ---- */

static gyre_status reduce(struct gyre_collecting *all, const gyre_collect_desc *desc, gyre_collect_rule rule,
                          uint32_t root)
{
    if (rule != GYRE_COLLECT_SUM && rule != GYRE_COLLECT_MIN && rule != GYRE_COLLECT_MAX)
        return gyre_error_set(GYRE_INVALID, "%s: expected a rule from %d to %d, found %d", all->call,
                              GYRE_COLLECT_SUM, GYRE_COLLECT_MAX, (int)rule);
    all->kind = GYRE_COLLECTING_REDUCE;
    all->rule = (enum gyre_fold_rule)rule;
    gyre_status status = begin(all, desc);
    if (status == GYRE_OK && root != UINT32_MAX)
        status = check_root(all, root);
    for (uint32_t i = 0; i < all->count; i++)
        all->parts[i].gets = root == UINT32_MAX || i == root;
    return finish(all, status);
}

gyre_status gyre_all_reduce(const gyre_collect_desc *desc, gyre_collect_rule rule, uint64_t deadline_ns)
{
    struct gyre_collecting all = {.call = "gyre_all_reduce", .deadline_ns = deadline_ns};
    return reduce(&all, desc, rule, UINT32_MAX);
}

gyre_status gyre_reduce(const gyre_collect_desc *desc, gyre_collect_rule rule, uint32_t root,
                        uint64_t deadline_ns)
{
    struct gyre_collecting all = {.call = "gyre_reduce", .deadline_ns = deadline_ns};
    if (root == UINT32_MAX)
        return gyre_error_set(GYRE_INVALID, "gyre_reduce: expected a root that is one of the parts, found %u",
                              root);
    return reduce(&all, desc, rule, root);
}

gyre_status gyre_broadcast(const gyre_collect_desc *desc, uint32_t root, uint64_t deadline_ns)
{
    struct gyre_collecting all = {
        .call = "gyre_broadcast", .kind = GYRE_COLLECTING_COPY, .root = root, .deadline_ns = deadline_ns};
    gyre_status status = begin(&all, desc);
    if (status == GYRE_OK)
        status = check_root(&all, root);
    for (uint32_t i = 0; i < all.count; i++)
        all.parts[i].gets = i != root;
    return finish(&all, status);
}

gyre_status gyre_gather(const gyre_collect_desc *desc, void *items, size_t size, uint64_t deadline_ns)
{
    struct gyre_collecting all = {.call = "gyre_gather",
                                  .kind = GYRE_COLLECTING_FETCH,
                                  .items = items,
                                  .items_size = size,
                                  .deadline_ns = deadline_ns};
    if (!items)
        return GYRE_ARGUMENTS("gyre_gather", {"items", items});
    gyre_status status = begin(&all, desc);
    if (status == GYRE_OK)
        status = check_items(&all);
    return finish(&all, status);
}
