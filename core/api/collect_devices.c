/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has devices combine buffers of theirs (gyre/peer.h), where they reach each other and `peers` is true. Small buffers, and those of which one
 * is memory of this process, go through this program (collect_copy.c). Takes no lock but those of the devices.
 */
#include "core/api/collect_devices.h"

#include "core/api/collect_aside.h"
#include "core/base/error.h"
#include "core/device/peers.h"
#include "gyre/waiting.h"

static gyre_runtime *runtime_of(const struct gyre_collecting *all)
{
    return all->parts[0].standing.runtime;
}

static bool reach_each_other(const struct gyre_collecting *all, struct gyre_dispatch *const *devices)
{
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->count; k++)
            if (gyre_peers_reach(runtime_of(all), devices[i], devices[k]) == GYRE_REACH_HOST)
                return false;
    return true;
}

/* The elements as the devices have them. A copy is one of bytes. */
static gyre_combine_desc describe(const struct gyre_collecting *all)
{
    static const gyre_combine_element elements[] = {
        [GYRE_SCALAR_U32] = GYRE_COMBINE_U32, [GYRE_SCALAR_I32] = GYRE_COMBINE_I32,
        [GYRE_SCALAR_U64] = GYRE_COMBINE_U64, [GYRE_SCALAR_I64] = GYRE_COMBINE_I64,
        [GYRE_SCALAR_F32] = GYRE_COMBINE_F32, [GYRE_SCALAR_F64] = GYRE_COMBINE_F64,
    };
    const bool copies = all->kind == GYRE_COLLECTING_COPY;
    return (gyre_combine_desc){.rule = copies ? GYRE_COMBINE_TAKE : (gyre_combine_rule)all->rule,
                               .element = copies ? GYRE_COMBINE_BYTE : elements[all->scalar],
                               .part_count = all->count,
                               .root = copies ? all->root : 0,
                               .offset = all->offset,
                               .byte_count = all->bytes};
}

/* Half of the time that is left: in the other half the bytes go through the host. */
static uint64_t prepare_until(uint64_t deadline_ns)
{
    const uint64_t now = gyre_clock_ns();
    return deadline_ns > now ? now + (deadline_ns - now) / 2 : now;
}

void gyre_collect_devices_prepare(struct gyre_collecting *all)
{
    gyre_combine_part parts[GYRE_COLLECT_PARTS_MAX] = {0};
    all->devices_ready = false;
    if (all->kind == GYRE_COLLECTING_FETCH || all->bytes < GYRE_COLLECT_DEVICES_FROM)
        return;
    for (uint32_t i = 0; i < all->count; i++) {
        all->devices[i] = gyre_standing_device(&all->parts[i].standing);
        parts[i].gets = all->parts[i].gets;
    }
    if (!reach_each_other(all, all->devices))
        return;
    gyre_combine_desc desc = describe(all);
    desc.deadline_ns = prepare_until(all->deadline_ns);
    all->devices_ready = gyre_dispatch_combine(all->devices, &desc, parts, true) == GYRE_OK;
    if (!all->devices_ready)
        gyre_runtime_log(
            runtime_of(all), GYRE_LOG_DEBUG,
            "%s: the devices do not combine by themselves, and the bytes go through the host: %s", all->call,
            gyre_error_text());
    gyre_error_clear();
}

/* A move that came in between may have taken a part to a device that is not ready. */
bool gyre_collect_by_devices(const struct gyre_collecting *all)
{
    if (!all->devices_ready || all->bytes < GYRE_COLLECT_DEVICES_FROM)
        return false;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->parts[i].place || all->parts[i].named.buffer->dispatch != all->devices[i])
            return false;
    return true;
}

bool gyre_collect_devices_room(struct gyre_collecting *all)
{
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++)
        if (all->parts[i].gets)
            status = gyre_collect_aside_take(runtime_of(all), all->parts[i].named.buffer->dispatch,
                                             all->bytes + GYRE_COMBINE_SKEW, &all->parts[i].aside);
    if (status == GYRE_OK)
        return true;
    gyre_runtime_log(
        runtime_of(all), GYRE_LOG_DEBUG,
        "%s: the devices lack room for what the buffers hold, and the bytes go through the host: %s",
        all->call, gyre_error_text());
    gyre_error_clear();
    gyre_collect_devices_end(all);
    return false;
}

gyre_status gyre_collect_devices_write(struct gyre_collecting *all)
{
    struct gyre_dispatch *devices[GYRE_COLLECT_PARTS_MAX];
    gyre_combine_part parts[GYRE_COLLECT_PARTS_MAX] = {0};
    gyre_combine_desc desc = describe(all);
    desc.deadline_ns = all->deadline_ns;
    if (gyre_clock_ns() >= all->deadline_ns)
        return gyre_error_set(GYRE_TIMEOUT, "%s: the time was up before the buffers were combined",
                              all->call);
    for (uint32_t i = 0; i < all->count; i++) {
        const struct gyre_collecting_part *part = &all->parts[i];
        devices[i] = part->named.buffer->dispatch;
        parts[i] = (gyre_combine_part){.memory = part->named.buffer->memory,
                                       .before = part->gets ? gyre_collect_aside_memory(part->aside) : NULL,
                                       .gets = part->gets};
    }
    const gyre_status status = gyre_dispatch_combine(devices, &desc, parts, false);
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++)
        all->parts[i].written = all->parts[i].gets;
    return status == GYRE_OK
               ? GYRE_OK
               : gyre_error_add(status, "%s: buffer '%s' on the devices", all->call, all->buffer);
}

static gyre_status put_back_into(const struct gyre_collecting *all, const struct gyre_collecting_part *part)
{
    const gyre_copy_desc desc = {.size = sizeof desc,
                                 .source = gyre_collect_aside_memory(part->aside),
                                 .source_offset = all->offset % GYRE_COMBINE_SKEW,
                                 .target = part->named.buffer->memory,
                                 .target_offset = all->offset,
                                 .byte_count = all->bytes};
    return gyre_dispatch_memory_copy(part->named.buffer->dispatch, &desc);
}

void gyre_collect_devices_put_back(struct gyre_collecting *all)
{
    gyre_error_hold();
    for (uint32_t i = 0; i < all->count; i++) {
        struct gyre_collecting_part *part = &all->parts[i];
        if (part->written && put_back_into(all, part) != GYRE_OK)
            gyre_runtime_log(
                part->standing.runtime, GYRE_LOG_ERROR,
                "%s failed, and buffer '%s' of kernel '%s' holds its result, because the device copies no bytes any more",
                all->call, all->buffer, part->standing.name);
        part->written = false;
    }
    gyre_error_let_go();
}

void gyre_collect_devices_end(struct gyre_collecting *all)
{
    gyre_error_hold();
    for (uint32_t i = 0; i < all->count; i++) {
        gyre_collect_aside_give(runtime_of(all), all->parts[i].aside);
        all->parts[i].aside = NULL;
    }
    gyre_error_let_go();
}
