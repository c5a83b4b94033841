/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels and buffers of a collective, and the sentences about those that do not fit together. No lock of its own. */
#include "core/api/collect_parts.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/kernel/visit.h"

/* ---- kernels ---- */

static gyre_kernel *kernel_of(const gyre_collect_desc *desc, uint32_t part)
{
    return desc->spread ? gyre_spread_part(desc->spread, part) : desc->kernels[part];
}

static gyre_status check_count(const struct gyre_collecting *all, uint32_t count)
{
    if (count < 2)
        return gyre_error_set(GYRE_INVALID,
                              "%s needs two kernels or more, found %" PRIu32
                              ": leave the call out where there is one device",
                              all->call, count);
    if (count > GYRE_COLLECT_PARTS_MAX)
        return gyre_error_set(GYRE_INVALID, "%s: expected at most %d kernels, found %" PRIu32, all->call,
                              GYRE_COLLECT_PARTS_MAX, count);
    return GYRE_OK;
}

static gyre_status add_kernel(struct gyre_collecting *all, gyre_kernel *kernel)
{
    if (!kernel)
        return gyre_error_set(GYRE_INVALID, "%s: kernel %" PRIu32 " of the list is NULL", all->call,
                              all->count);
    const struct gyre_standing standing = gyre_standing_of(kernel);
    const gyre_status status = gyre_runtime_check_own(standing.runtime, all->call);
    if (status != GYRE_OK)
        return status;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->parts[i].standing.kernel == kernel)
            return gyre_error_set(GYRE_INVALID, "%s: kernel '%s' is in the list twice", all->call,
                                  standing.name);
    if (all->count > 0 && all->parts[0].standing.runtime != standing.runtime)
        return gyre_error_set(GYRE_INVALID, "%s: kernels '%s' and '%s' are of two runtimes", all->call,
                              all->parts[0].standing.name, standing.name);
    if (!gyre_kernel_visit_this(kernel))
        return gyre_error_set(GYRE_CLOSED, "%s: kernel '%s' is being released", all->call, standing.name);
    all->parts[all->count++].standing = standing;
    return GYRE_OK;
}

/* By address: two collectives that have kernels in common make them stand in one order, and never wait for each other. */
static void put_in_order(struct gyre_collecting *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t at = i;
        for (; at > 0 && (uintptr_t)all->order[at - 1]->kernel > (uintptr_t)all->parts[i].standing.kernel;
             at--)
            all->order[at] = all->order[at - 1];
        all->order[at] = &all->parts[i].standing;
    }
}

gyre_status gyre_collect_take(const gyre_collect_desc *desc, struct gyre_collecting *all)
{
    if (!desc->spread == !desc->kernels)
        return gyre_error_set(GYRE_INVALID, "%s needs either a spread or a list of kernels, found %s",
                              all->call, desc->spread ? "both" : "neither");
    if (!desc->buffer || !desc->buffer[0])
        return gyre_error_set(GYRE_INVALID, "%s needs the name of a buffer", all->call);
    if ((unsigned)desc->element > GYRE_COLLECT_F64)
        return gyre_error_set(GYRE_INVALID, "%s: expected an element from %d to %d, found %d", all->call,
                              GYRE_COLLECT_DECLARED, GYRE_COLLECT_F64, (int)desc->element);
    const uint32_t count = desc->spread ? gyre_spread_count(desc->spread) : desc->kernel_count;
    gyre_status status = check_count(all, count);
    for (uint32_t i = 0; status == GYRE_OK && i < count; i++)
        status = add_kernel(all, kernel_of(desc, i));
    if (status != GYRE_OK)
        return status;
    all->buffer = desc->buffer;
    all->element = desc->element;
    all->first = desc->first;
    all->wanted = desc->count;
    put_in_order(all);
    return GYRE_OK;
}

void gyre_collect_leave(struct gyre_collecting *all)
{
    while (all->count > 0)
        gyre_kernel_leave(all->parts[--all->count].standing.kernel);
}

/* ---- buffers ---- */

static gyre_scalar scalar_of(gyre_collect_element element)
{
    static const gyre_scalar scalars[] = {
        [GYRE_COLLECT_U32] = GYRE_SCALAR_U32, [GYRE_COLLECT_I32] = GYRE_SCALAR_I32,
        [GYRE_COLLECT_U64] = GYRE_SCALAR_U64, [GYRE_COLLECT_I64] = GYRE_SCALAR_I64,
        [GYRE_COLLECT_F32] = GYRE_SCALAR_F32, [GYRE_COLLECT_F64] = GYRE_SCALAR_F64,
    };
    return scalars[element];
}

static const char *element_word(gyre_collect_element element)
{
    static const char *const words[] = {"", "u32", "i32", "u64", "i64", "f32", "f64"};
    return words[element];
}

static gyre_status check_type(const struct gyre_collecting *all, const struct gyre_collecting_part *part)
{
    const struct gyre_collecting_part *first = &all->parts[0];
    if (all->element && part->named.scalar != scalar_of(all->element))
        return gyre_error_set(
            GYRE_INVALID, "%s: expected buffer '%s' with elements of %s, found elements of %s in kernel '%s'",
            all->call, all->buffer, element_word(all->element), part->named.element, part->standing.name);
    if (all->kind == GYRE_COLLECTING_REDUCE && !gyre_fold_size(part->named.scalar))
        return gyre_error_set(
            GYRE_INVALID,
            "%s combines elements of u32, i32, u64, i64, f32 and f64, found buffer '%s' of kernel '%s' with elements of %s",
            all->call, all->buffer, part->standing.name, part->named.element);
    if (part->named.scalar != first->named.scalar || part->named.hash != first->named.hash ||
        part->named.element_size != first->named.element_size)
        return gyre_error_set(
            GYRE_INVALID,
            "%s: buffer '%s' has elements of %s in kernel '%s', and of %s, or of another layout, in kernel '%s'",
            all->call, all->buffer, first->named.element, first->standing.name, part->named.element,
            part->standing.name);
    return GYRE_OK;
}

static gyre_status check_length(const struct gyre_collecting *all, const struct gyre_collecting_part *part)
{
    const struct gyre_collecting_part *first = &all->parts[0];
    const uint64_t elements = part->named.elements;
    if (all->first > elements || all->wanted > elements - all->first)
        return gyre_error_set(GYRE_INVALID,
                              "%s: expected %" PRIu64 " elements from %" PRIu64 " on, found %" PRIu64
                              " in buffer '%s' of kernel '%s'",
                              all->call, all->wanted, all->first, elements, all->buffer, part->standing.name);
    if (!all->wanted && elements != first->named.elements)
        return gyre_error_set(
            GYRE_INVALID,
            "%s: buffer '%s' has %" PRIu64 " elements in kernel '%s' and %" PRIu64
            " in kernel '%s': make them equally long, or say with `count` how many take part",
            all->call, all->buffer, first->named.elements, first->standing.name, elements,
            part->standing.name);
    if (!all->wanted && all->first == elements)
        return gyre_error_set(GYRE_INVALID,
                              "%s: there are no elements from %" PRIu64 " on in buffer '%s' of kernel '%s'",
                              all->call, all->first, all->buffer, part->standing.name);
    return GYRE_OK;
}

static gyre_status check_apart(const struct gyre_collecting *all, uint32_t part)
{
    for (uint32_t i = 0; i < part; i++)
        if (all->parts[i].named.buffer == all->parts[part].named.buffer)
            return gyre_error_set(
                GYRE_INVALID, "%s: kernels '%s' and '%s' have one and the same buffer bound to '%s'",
                all->call, all->parts[i].standing.name, all->parts[part].standing.name, all->buffer);
    return GYRE_OK;
}

/* How the bytes of the parts are reached. A fetch copies each once, and needs no more than that. */
static void find_places(struct gyre_collecting *all)
{
    all->in_place = all->kind != GYRE_COLLECTING_FETCH;
    for (uint32_t i = 0; i < all->count; i++) {
        struct gyre_collecting_part *part = &all->parts[i];
        part->covered = gyre_standing_covers(&part->standing, part->named.buffer);
        part->place = all->kind == GYRE_COLLECTING_FETCH
                          ? NULL
                          : gyre_standing_place(&part->standing, part->named.buffer);
        if (part->place)
            part->place += all->offset;
        else
            all->in_place = false;
    }
}

gyre_status gyre_collect_check(struct gyre_collecting *all)
{
    const struct gyre_named_buffer *named = &all->parts[0].named;
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++) {
        struct gyre_collecting_part *part = &all->parts[i];
        status = gyre_standing_check_journal(&part->standing, all->call);
        if (status == GYRE_OK)
            status = gyre_kernel_named_buffer(part->standing.kernel, all->buffer, all->call, &part->named);
        if (status == GYRE_OK)
            status = check_type(all, part);
        if (status == GYRE_OK)
            status = check_length(all, part);
    }
    if (status != GYRE_OK)
        return status;
    all->scalar = named->scalar;
    all->offset = all->first * named->element_size;
    all->bytes = (all->wanted ? all->wanted : named->elements - all->first) * named->element_size;
    return GYRE_OK;
}

gyre_status gyre_collect_find(struct gyre_collecting *all)
{
    gyre_status status = gyre_collect_check(all);
    for (uint32_t i = 0; status == GYRE_OK && i < all->count; i++)
        status = check_apart(all, i);
    if (status == GYRE_OK)
        find_places(all);
    return status;
}
