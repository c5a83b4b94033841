/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the message types and the wire form of a queue with those of its kernel (queue_types.h). The comparison of two
 * types is core/types/compare.h. Takes no lock: the caller builds the kernel, so no other thread sees it.
 */
#include "core/plan/queue_types.h"

#include "core/base/error.h"
#include "core/types/compare.h"

static const char *const WIRES[] = {"none", "memorypack", "memorypack_framed"};

/* The layout that a caller's type is compared with: the message inside a packet (encoded bytes), else the type itself. */
static const gyre_layout *meant_layout(const gyre_layout *layout)
{
    return layout->shape == GYRE_SHAPE_PACKET ? layout->choices[0] : layout;
}

/* Prepares the conversion between the kernel's type and the caller's type when one of them has fields appended: the size
 * is enough for types without tails, types with tails need both layouts. */
static gyre_status take_growth(const gyre_type *kernels, gyre_layout **callers, uint32_t *size,
                               struct gyre_queue_growth *growth)
{
    if ((*callers)->tail == 0) {
        *size = (uint32_t)(*callers)->size;
        return GYRE_OK;
    }
    gyre_status status = gyre_layout_create_message(kernels, GYRE_MESSAGE_MAX, &growth->kernels);
    if (status != GYRE_OK)
        return status;
    growth->callers = *callers;
    *callers = NULL;
    return GYRE_OK;
}

/* Whether one of the two types has fields appended. In a protocol (a message of one of several types) the kernel must also
 * have every type that the caller has, because otherwise a request might find no handler. */
static bool either_extends(const gyre_layout *kernels, const gyre_layout *callers)
{
    return gyre_layout_extends(kernels, callers) ||
           (gyre_layout_extends(callers, kernels) && callers->choice_count <= kernels->choice_count);
}

/* *size: the size of the caller's type when one of the two types has fields appended and neither has a tail, else 0. */
static gyre_status check_caller(const gyre_layout *kernels, const gyre_type *type, uint32_t *size,
                                struct gyre_queue_growth *growth)
{
    gyre_layout *callers = NULL;
    *size = 0;
    if (!type)
        return GYRE_OK;
    gyre_status status = gyre_layout_create(type, GYRE_MESSAGE_MAX, &callers);
    if (status == GYRE_OK && either_extends(kernels, callers))
        status = take_growth(kernels->type, &callers, size, growth);
    else if (status == GYRE_OK)
        status = gyre_layout_compare(meant_layout(kernels), "the kernel", callers, "the caller");
    gyre_layout_destroy(callers);
    return status;
}

gyre_status gyre_queue_check_caller(const gyre_type *kernels, const gyre_type *callers, uint32_t *size,
                                    struct gyre_queue_growth *growth)
{
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_create_message(kernels, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK)
        status = check_caller(layout, callers, size, growth);
    gyre_layout_destroy(layout);
    return status;
}

static gyre_status blame_wire(const struct gyre_config *config, const char *section, gyre_status status)
{
    return gyre_config_blame(config, GYRE_SECTION_QUEUE, section, "wire", status);
}

uint32_t gyre_kernel_wire(const struct gyre_config *config, const char *name)
{
    return (uint32_t)gyre_config_int(config, GYRE_SECTION_QUEUE, name, "wire");
}

/* A kernel is compiled for the wire form of its first queue, so its other queues must have the same wire form. */
gyre_status gyre_queue_check_wire(const struct gyre_config *config, const char *kernel, const char *section,
                                  const gyre_layout *request, struct gyre_queue_options *options)
{
    const bool is_wired = request->shape == GYRE_SHAPE_PACKET;
    const uint32_t configured = gyre_kernel_wire(config, kernel), wire = is_wired ? configured : 0;
    if (is_wired && configured == 0) { /* its file says so itself */
        options->wire = 1;
        return GYRE_OK;
    }
    if (options->wire == wire && (options->wire != 0) == is_wired)
        return GYRE_OK;
    if (configured != 0 && !is_wired)
        return blame_wire(
            config, kernel,
            gyre_error_set(
                GYRE_CONFIG,
                "kernel '%s' has no wire form, which queue '%s' is configured for (wire = %s): its "
                "file declares it for several types or with ports, or was compiled before",
                kernel, kernel, WIRES[configured]));
    return blame_wire(
        config, section,
        gyre_error_set(
            GYRE_CONFIG,
            "queue '%s' has wire = %s, and kernel '%s' was compiled for wire = %s: set the same in "
            "[queue.%s], which its first queue goes by",
            options->name, WIRES[options->wire], kernel, WIRES[wire], kernel));
}

gyre_status gyre_queue_choose_types(const struct gyre_config *config, const struct gyre_queue_site *site,
                                    const gyre_queue_desc *desc, const char *section,
                                    struct gyre_queue_options *options)
{
    gyre_layout *request = NULL, *reply = NULL;
    gyre_status status = gyre_layout_create_message(site->record->request, GYRE_MESSAGE_MAX, &request);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(site->record->reply, GYRE_MESSAGE_MAX, &reply);
    if (status == GYRE_OK && !site->migrates)
        status = gyre_queue_check_wire(config, site->kernel, section, request, options);
    if (status == GYRE_OK)
        status =
            check_caller(request, desc->request, &options->caller_request_size, &options->request_growth);
    if (status == GYRE_OK)
        status = check_caller(reply, desc->reply, &options->caller_reply_size, &options->reply_growth);
    if (status == GYRE_OK) {
        options->request_least = request->tail ? (uint32_t)request->least : 0;
        options->reply_least = reply->tail ? (uint32_t)reply->least : 0;
        options->reply_room = (uint32_t)reply->room;
        options->request_type = (uint32_t)meant_layout(request)->hash;
    }
    gyre_layout_destroy(request);
    gyre_layout_destroy(reply);
    return status;
}
