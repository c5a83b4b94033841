/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives messages of kernels with several types of requests. Such a kernel has a protocol: one message type that
 * holds a value of any of its types. A request of one type is wrapped into a message of the protocol, and a reply is
 * unwrapped likewise. Takes no lock: a type that was found equal is noted by one atomic store.
 */
#include "core/kernel/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/queue/queue.h"
#include "core/queue/take.h"
#include "core/stages/await.h"
#include "core/types/compare.h"

enum { STACK_SIZE = 2048, NAMES_MAX = 256 };

/* The requests or the replies of a protocol. `known` has for each of their types the caller's type that was found equal. */
struct side {
    gyre_layout *layout;
    const gyre_type **known; /* atomic */
};

struct gyre_kernel_types {
    char name[GYRE_NAME_MAX]; /* the kernel's name */
    struct side request, reply;
    uint32_t *names;  /* the kernel's request types, as headers name them */
    uint32_t named;   /* number of `names` */
    uint8_t *queries; /* for each type: its handler is read-only; NULL: no handler is */
};

static gyre_status make_side(const gyre_type *type, struct side *side)
{
    gyre_status status = gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &side->layout);
    if (status != GYRE_OK)
        return status;
    side->known = calloc((size_t)side->layout->choice_count + 1, sizeof(gyre_type *));
    return side->known ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no memory for the types of a kernel");
}

static gyre_status make_names(struct gyre_kernel_types *types)
{
    const gyre_layout *layout = types->request.layout;
    types->named = layout->choice_count;
    types->names = calloc((size_t)layout->choice_count + 1, sizeof *types->names);
    if (!types->names)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the types of a kernel");
    for (uint32_t i = 0; i < layout->choice_count; i++)
        types->names[i] = (uint32_t)layout->choices[i]->hash;
    return GYRE_OK;
}

gyre_status gyre_kernel_types_create(const char *name, const gyre_type *request, const gyre_type *reply,
                                     struct gyre_kernel_types **out)
{
    struct gyre_kernel_types *types = *out = calloc(1, sizeof *types);
    if (!types)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the types of a kernel");
    snprintf(types->name, sizeof types->name, "%s", name);
    gyre_status status = make_side(request, &types->request);
    if (status == GYRE_OK)
        status = make_side(reply, &types->reply);
    return status == GYRE_OK ? make_names(types) : status;
}

/* `queries` has the form "ask;look;". A name that is no type of this kernel belongs to another kernel of the same file. */
gyre_status gyre_kernel_types_mark(struct gyre_kernel_types *types, const char *queries)
{
    const gyre_layout *layout = types->request.layout;
    char name[128];
    if (!queries || !queries[0] || layout->shape != GYRE_SHAPE_CHOICE)
        return GYRE_OK;
    types->queries = calloc(layout->choice_count, 1);
    if (!types->queries)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the types of a kernel");
    for (size_t length; *queries; queries += length + (queries[length] == ';')) {
        length = strcspn(queries, ";");
        snprintf(name, sizeof name, "%.*s", (int)length, queries);
        const uint32_t number = gyre_layout_choice(layout, name);
        if (number)
            types->queries[number - 1] = 1;
    }
    return GYRE_OK;
}

/* The type of one side of a queue: the caller's type if the queue converts messages, else the kernel's type. */
static const gyre_type *type_of_side(const struct gyre_queue_growth *growth, const struct side *kernels)
{
    return growth->callers && growth->callers->shape == GYRE_SHAPE_CHOICE ? growth->callers->type
                                                                          : kernels->layout->type;
}

static void *copy_of(const void *words, size_t size)
{
    void *copy = words ? malloc(size) : NULL;
    return copy ? memcpy(copy, words, size) : NULL;
}

gyre_status gyre_kernel_types_create_grown(const struct gyre_kernel_types *kernels,
                                           const struct gyre_queue_growth *request,
                                           const struct gyre_queue_growth *reply,
                                           struct gyre_kernel_types **out)
{
    const gyre_type *const requests = type_of_side(request, &kernels->request), *const replies = type_of_side(
                                                                                    reply, &kernels->reply);
    *out = NULL;
    if (requests == kernels->request.layout->type && replies == kernels->reply.layout->type)
        return GYRE_OK;
    gyre_status status = gyre_kernel_types_create(kernels->name, requests, replies, out);
    if (status != GYRE_OK)
        return status;
    struct gyre_kernel_types *types = *out;
    free(types->names);
    types->named = kernels->named;
    types->names = copy_of(kernels->names, ((size_t)kernels->named + 1) * sizeof *types->names);
    types->queries = copy_of(kernels->queries, kernels->named);
    return types->names && !types->queries == !kernels->queries
               ? GYRE_OK
               : gyre_error_set(GYRE_EXHAUSTED, "no memory for the types of a kernel");
}

void gyre_kernel_types_name(struct gyre_kernel_types *types, gyre_queue *queue)
{
    const gyre_layout *layout = types->request.layout;
    gyre_view_for(queue)->types = types;
    if (layout->shape != GYRE_SHAPE_CHOICE)
        return;
    struct gyre_queue_choices *choices = gyre_choices_for(queue);
    choices->types = types->names;
    choices->count = types->named;
    choices->queries = types->queries;
}

void gyre_kernel_types_destroy(struct gyre_kernel_types *types)
{
    if (!types)
        return;
    struct side *const sides[] = {&types->request, &types->reply};
    for (size_t i = 0; i < 2; i++) {
        gyre_layout_destroy(sides[i]->layout);
        free(sides[i]->known);
    }
    free(types->names);
    free(types->queries);
    free(types);
}

const gyre_layout *gyre_kernel_request_layout(const gyre_kernel *kernel)
{
    return kernel->types ? kernel->types->request.layout : NULL;
}

static gyre_status no_handler(const struct gyre_kernel_types *types, const char *name)
{
    const gyre_layout *layout = types->request.layout;
    const char *names[NAMES_MAX];
    char list[512], hint[GYRE_TEXT_HINT_SIZE];
    size_t count = layout->choice_count < NAMES_MAX ? layout->choice_count : NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = layout->choices[i]->name;
    if (count == 0)
        return gyre_error_set(GYRE_INVALID,
                              "kernel '%s' has one handler, for '%s': use gyre_send and gyre_call",
                              types->name, layout->name);
    return gyre_error_set(GYRE_INVALID, "kernel '%s' has no handler for type '%s'; it has them for %s%s",
                          types->name, name, gyre_text_list(names, count, list, sizeof list),
                          gyre_text_hint(name, names, count, hint));
}

/* INCOMPATIBLE unless the caller's type equals the protocol's type of that number. A type is compared once, then known by its
 * address. */
static gyre_status check_side_type(const struct side *side, uint32_t number, const gyre_type *type)
{
    gyre_layout *layout = NULL;
    if (__atomic_load_n(&side->known[number - 1], __ATOMIC_RELAXED) == type)
        return GYRE_OK;
    gyre_status status = gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &layout);
    if (status == GYRE_OK)
        status = gyre_layout_compare(side->layout->choices[number - 1], "the kernel", layout, "the caller");
    if (status == GYRE_OK)
        __atomic_store_n(&side->known[number - 1], type, __ATOMIC_RELAXED);
    gyre_layout_destroy(layout);
    return status;
}

static gyre_status find_number(const struct gyre_kernel_types *types, const gyre_type *type, uint32_t *number)
{
    const struct side *side = &types->request;
    for (*number = 1; *number <= side->layout->choice_count; (*number)++)
        if (__atomic_load_n(&side->known[*number - 1], __ATOMIC_RELAXED) == type)
            return GYRE_OK;
    *number = gyre_layout_choice(side->layout, type->name);
    return *number ? check_side_type(side, *number, type) : no_handler(types, type->name);
}

/* Refuses a reply type that no handler of the kernel gives, before the request is sent. */
static gyre_status check_answer_type(const struct gyre_kernel_types *types, const gyre_type *type)
{
    const gyre_layout *layout = types->reply.layout;
    const uint32_t number = gyre_layout_choice(layout, type->name);
    if (number)
        return check_side_type(&types->reply, number, type);
    const char *names[NAMES_MAX];
    char list[512];
    const size_t count = layout->choice_count < NAMES_MAX ? layout->choice_count : NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = layout->choices[i]->name;
    return gyre_error_set(GYRE_INCOMPATIBLE, "kernel '%s' gives no reply of type '%s'; it gives %s",
                          types->name, type->name, gyre_text_list(names, count, list, sizeof list));
}

/* The number of bytes in use of the caller's message. */
static gyre_status measure_request(const gyre_layout *layout, const void *message, size_t size,
                                   uint32_t *used)
{
    *used = (uint32_t)size;
    if (layout->tail && size >= sizeof *used)
        memcpy(used, message, sizeof *used);
    if (layout->tail ? size >= layout->least && *used >= layout->least && *used <= size
                     : size == layout->size)
        return GYRE_OK;
    if (!layout->tail)
        return gyre_error_set(GYRE_INVALID, "a '%s' has %llu bytes, found one of %zu: send one of that type",
                              layout->name, (unsigned long long)layout->size, size);
    return gyre_error_set(
        GYRE_INVALID,
        "a '%s' has %llu to %llu bytes, found one of %zu that uses %u: start one with a tail with gyre_begin",
        layout->name, (unsigned long long)layout->least, (unsigned long long)layout->size, size, *used);
}

/* Writes a message of the protocol from a measured request. */
static void write_message(unsigned char *out, uint32_t number, const void *request, uint32_t used)
{
    const uint32_t whole = used + GYRE_CHOICE_FRONT;
    memcpy(out, &whole, sizeof whole);
    memcpy(out + sizeof whole, &number, sizeof number);
    memcpy(out + GYRE_CHOICE_FRONT, request, used);
}

/* Writes the message of the protocol for a request into `stack` or new memory. The caller frees *out unless it is `stack`. */
static gyre_status wrap_request(const gyre_queue *queue, const gyre_type *type, const void *request,
                                size_t size, unsigned char *stack, unsigned char **out, uint32_t *used)
{
    const struct gyre_kernel_types *types = gyre_view_of(queue)->types;
    uint32_t number = 0;
    *out = NULL;
    gyre_status status = find_number(types, type, &number);
    if (status == GYRE_OK)
        status = measure_request(types->request.layout->choices[number - 1], request, size, used);
    if (status != GYRE_OK)
        return status;
    const uint32_t whole = *used + GYRE_CHOICE_FRONT;
    *out = whole <= STACK_SIZE ? stack : malloc(whole);
    if (!*out)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a request of %u bytes", whole);
    write_message(*out, number, request, *used);
    *used = whole;
    return GYRE_OK;
}

static gyre_status check_given(const gyre_queue *queue, const gyre_type *type, const void *request,
                               const char *call)
{
    if (queue && gyre_view_of(queue)->types && type && type->name && request)
        return GYRE_OK;
    const gyre_status status = GYRE_ARGUMENTS(call, {"queue", queue}, {"type", type}, {"request", request});
    return status != GYRE_OK
               ? status
               : gyre_error_set(GYRE_INVALID, "%s needs a queue of a kernel, and a type that has a name",
                                call);
}

/* Sends one request of type `type`. `header` may be NULL. */
static gyre_status send_one(gyre_queue *queue, const gyre_type *type, const void *request, size_t size,
                            const gyre_header *header, uint64_t *index, uint64_t deadline_ns)
{
    unsigned char stack[STACK_SIZE], *message = NULL;
    uint32_t used = 0;
    gyre_status status = wrap_request(queue, type, request, size, stack, &message, &used);
    if (status == GYRE_OK)
        status = gyre_send_with(queue, message, used, header, index, deadline_ns);
    if (message != stack)
        free(message);
    return status;
}

gyre_status gyre_send_as(gyre_queue *queue, const gyre_type *type, const void *request, size_t size,
                         uint64_t *index, uint64_t deadline_ns)
{
    gyre_status status = check_given(queue, type, request, "gyre_send_as");
    return status == GYRE_OK ? send_one(queue, type, request, size, NULL, index, deadline_ns) : status;
}

gyre_status gyre_send_as_with(gyre_queue *queue, const gyre_type *type, const void *request, size_t size,
                              const gyre_header *header, uint64_t *index, uint64_t deadline_ns)
{
    gyre_status status = check_given(queue, type, request, "gyre_send_as_with");
    return status == GYRE_OK ? send_one(queue, type, request, size, header, index, deadline_ns) : status;
}

gyre_status gyre_send_as_until(gyre_queue *queue, const gyre_type *type, const void *request, size_t size,
                               uint64_t *index, gyre_acknowledgement level, uint64_t deadline_ns)
{
    uint64_t sent = 0;
    gyre_status status = check_given(queue, type, request, "gyre_send_as_until");
    if (status == GYRE_OK)
        status = gyre_queue_can_reach(queue, level);
    if (status == GYRE_OK)
        status = send_one(queue, type, request, size, NULL, &sent, deadline_ns);
    if (index)
        *index = sent;
    return status == GYRE_OK ? gyre_await(queue, sent, level, deadline_ns) : status;
}

/* Requests of one type, and the messages that they become, `stride` bytes apart. */
struct batch {
    const unsigned char *requests;
    const gyre_layout *layout;
    size_t size, count, stride;
    uint32_t number;
};

/* Checks all requests before the first is sent. */
static gyre_status check_batch(const struct batch *batch)
{
    gyre_status status = GYRE_OK;
    uint32_t used;
    for (size_t i = 0; status == GYRE_OK && i < batch->count; i++) {
        status = measure_request(batch->layout, batch->requests + i * batch->size, batch->size, &used);
        if (status != GYRE_OK)
            gyre_error_add(status, "request %zu of a batch", i);
    }
    return status;
}

/* Makes messages of the first `count` requests. The caller frees the memory with free(). NULL without memory. */
static unsigned char *wrap_batch(const struct batch *batch, size_t count)
{
    unsigned char *messages = calloc(count, batch->stride);
    uint32_t used;
    for (size_t i = 0; messages && i < count; i++) {
        const unsigned char *request = batch->requests + i * batch->size;
        if (measure_request(batch->layout, request, batch->size, &used) ==
            GYRE_OK) /* as check_batch found it */
            write_message(messages + i * batch->stride, batch->number, request, used);
    }
    return messages;
}

/* Sends a batch, copying no more requests at once than the queue can hold. */
static gyre_status send_batch(gyre_queue *queue, const struct batch *batch, const gyre_header *headers,
                              size_t *sent, uint64_t deadline_ns)
{
    const size_t count =
        batch->count < gyre_ring_of(queue)->capacity ? batch->count : (size_t)gyre_ring_of(queue)->capacity;
    gyre_status status = check_batch(batch);
    if (status != GYRE_OK || count == 0)
        return status;
    unsigned char *messages = wrap_batch(batch, count);
    if (!messages)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for %zu requests of %zu bytes", count,
                              batch->stride);
    status = gyre_send_batch_with(queue, messages, batch->stride, headers, count, sent, deadline_ns);
    free(messages);
    return status;
}

gyre_status gyre_send_batch_as_with(gyre_queue *queue, const gyre_type *type, const void *requests,
                                    size_t size, const gyre_header *headers, size_t count, size_t *sent,
                                    uint64_t deadline_ns)
{
    struct batch batch = {.requests = requests, .size = size, .count = count};
    gyre_status status = check_given(queue, type, requests, "gyre_send_batch_as");
    if (!sent)
        status = gyre_error_set(GYRE_INVALID, "gyre_send_batch_as needs a place for the number sent");
    else
        *sent = 0;
    if (status == GYRE_OK)
        status = find_number(gyre_view_of(queue)->types, type, &batch.number);
    if (status != GYRE_OK)
        return status;
    const gyre_layout *whole = gyre_view_of(queue)->types->request.layout;
    const size_t wanted = (size + GYRE_CHOICE_FRONT + 7) / 8 * 8;
    batch.layout = whole->choices[batch.number - 1];
    batch.stride = wanted < whole->size ? wanted : (size_t)whole->size;
    return send_batch(queue, &batch, headers, sent, deadline_ns);
}

gyre_status gyre_send_batch_as(gyre_queue *queue, const gyre_type *type, const void *requests, size_t size,
                               size_t count, size_t *sent, uint64_t deadline_ns)
{
    return gyre_send_batch_as_with(queue, type, requests, size, NULL, count, sent, deadline_ns);
}

#undef gyre_reply_as /* the macro that gyre.h puts around the function */

gyre_status gyre_reply_as(const gyre_queue *queue, const void *message, size_t length, const gyre_type *type,
                          void *reply, size_t *size)
{
    uint32_t used = 0, number = 0;
    if (!queue || !gyre_view_of(queue)->types || !message || !type || !type->name || !reply || !size)
        return gyre_error_set(GYRE_INVALID,
                              "gyre_reply_as needs a queue, a reply, a type and room for the answer");
    const struct side *side = &gyre_view_of(queue)->types->reply;
    if (length >= GYRE_CHOICE_FRONT) {
        memcpy(&used, message, sizeof used);
        memcpy(&number, (const unsigned char *)message + sizeof used, sizeof number);
    }
    if (used < GYRE_CHOICE_FRONT || used > length || number == 0 || number > side->layout->choice_count)
        return gyre_error_set(
            GYRE_INVALID, "this is no reply of kernel '%s': %zu bytes that say %u and the type of number %u",
            gyre_view_of(queue)->types->name, length, used, number);
    const gyre_layout *found = side->layout->choices[number - 1];
    if (strcmp(found->name, type->name) != 0)
        return gyre_error_set(GYRE_INCOMPATIBLE, "the reply is a '%s', and a '%s' was expected", found->name,
                              type->name);
    const void *const place = (const unsigned char *)message + GYRE_CHOICE_FRONT;
    memcpy(reply, &place, sizeof place); /* `reply` points to a pointer of any type */
    *size = used - GYRE_CHOICE_FRONT;
    return check_side_type(side, number, type);
}

/* Copies the reply in `message` into the caller's memory. */
static gyre_status unwrap_reply(const gyre_queue *queue, const void *message, const gyre_type *type,
                                void *reply, size_t size, gyre_completion *completion)
{
    const void *found = NULL;
    size_t length = 0;
    gyre_status status = gyre_reply_as(queue, message, completion->length, type, &found, &length);
    if (status != GYRE_OK)
        return status;
    if (length > size)
        return gyre_error_set(GYRE_INVALID,
                              "the reply has %zu bytes and the caller's buffer %zu: pass a larger one",
                              length, size);
    memcpy(reply, found, length);
    completion->length = (uint32_t)length;
    return GYRE_OK;
}

/* The memory that a caller gives for the reply of a call. */
struct answer {
    const gyre_type *type; /* NULL: no reply is expected */
    void *reply;
    size_t size;
    gyre_completion *completion; /* NULL: a failure, or a missing reply, is an error of the call */
    const gyre_header *header;   /* NULL: none */
    gyre_message_info *info;     /* NULL: not asked for */
};

/* Sends `message`, a message of the protocol, waits for its reply, and unwraps the reply into *answer. */
static gyre_status call_wrapped(gyre_queue *queue, const unsigned char *message, uint32_t used,
                                const struct answer *answer, uint64_t deadline_ns)
{
    const size_t room = (size_t)gyre_view_of(queue)->types->reply.layout->size;
    gyre_completion own = {.index = UINT64_MAX};
    unsigned char *reply = malloc(room);
    if (!reply)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a reply of %zu bytes", room);
    gyre_status status =
        gyre_call_with(queue, message, used, answer->header, reply, room, &own, answer->info, deadline_ns);
    const bool answered = status == GYRE_OK;
    if (answered && own.outcome == GYRE_REPLIED && answer->type)
        status = unwrap_reply(queue, reply, answer->type, answer->reply, answer->size, &own);
    if (answered && status != GYRE_OK)
        status = gyre_error_add(status, "the request was handled, and only its reply is refused");
    if (answer->completion)
        *answer->completion = own;
    else if (answered && own.outcome != GYRE_REPLIED && (answer->type || own.outcome != GYRE_NOT_REPLIED))
        status = gyre_queue_tell_outcome(queue, &own);
    free(reply);
    return status;
}

static gyre_status call_one(gyre_queue *queue, const gyre_type *type, const void *request,
                            const struct answer *answer, uint64_t deadline_ns)
{
    unsigned char stack[STACK_SIZE], *message = NULL;
    uint32_t used = 0;
    gyre_status status = check_given(queue, type, request, "gyre_call_as");
    if (status == GYRE_OK && !answer->reply != !answer->type)
        status =
            gyre_error_set(GYRE_INVALID, "gyre_call_as needs room for the reply and its type, or neither");
    if (status == GYRE_OK)
        status = wrap_request(queue, type, request, type->size, stack, &message, &used);
    if (status == GYRE_OK && answer->type)
        status = check_answer_type(gyre_view_of(queue)->types, answer->type);
    if (status == GYRE_OK)
        status = call_wrapped(queue, message, used, answer, deadline_ns);
    else if (answer->completion)
        *answer->completion = (gyre_completion){.index = UINT64_MAX};
    if (message != stack)
        free(message);
    return status;
}

gyre_status gyre_call_as(gyre_queue *queue, const gyre_type *type, const void *request,
                         const gyre_type *reply_type, void *reply, gyre_completion *completion,
                         uint64_t deadline_ns)
{
    const struct answer answer = {reply_type, reply, reply_type ? reply_type->size : 0,
                                  completion, NULL,  NULL};
    return call_one(queue, type, request, &answer, deadline_ns);
}

/* NOLINTNEXTLINE(readability-function-size): what a caller can say of a call */
gyre_status gyre_call_as_with(gyre_queue *queue, const gyre_type *type, const void *request,
                              const gyre_header *header, const gyre_type *reply_type, void *reply,
                              gyre_completion *completion, gyre_message_info *info, uint64_t deadline_ns)
{
    const struct answer answer = {reply_type, reply,  reply_type ? reply_type->size : 0,
                                  completion, header, info};
    return call_one(queue, type, request, &answer, deadline_ns);
}
