/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and writes what a cluster keeps in its transport (format.h). Pure functions. */
#include "core/cluster/format.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/transport/transport.h"

/* Whether the messages fill the block from `at` on. */
static bool are_messages_whole(const unsigned char *bytes, size_t size, size_t at, uint32_t count)
{
    struct gyre_cluster_message message;
    for (uint32_t i = 0; i < count; i++) {
        if (size - at < sizeof message)
            return false;
        memcpy(&message, bytes + at, sizeof message);
        if (message.length > GYRE_CLUSTER_MESSAGE_MAX ||
            size - at < gyre_cluster_message_room(message.length))
            return false;
        at += gyre_cluster_message_room(message.length);
    }
    return at == size;
}

static gyre_status begin_walk(const void *block, size_t size, size_t at, uint32_t count, const char *where,
                              struct gyre_cluster_walk *walk)
{
    if (!are_messages_whole(block, size, at, count))
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "%s: expected %u messages of %d bytes at most that fill the block's %zu bytes",
                              where, count, GYRE_CLUSTER_MESSAGE_MAX, size);
    *walk = (struct gyre_cluster_walk){.bytes = block, .size = size, .at = at, .left = count};
    return GYRE_OK;
}

gyre_status gyre_cluster_requests_open(const void *block, size_t size, const char *where,
                                       struct gyre_cluster_requests *out, struct gyre_cluster_walk *walk)
{
    gyre_status status = gyre_block_check(block, size, GYRE_BLOCK_REQUESTS, sizeof *out, where, NULL);
    if (status != GYRE_OK)
        return status;
    memcpy(out, block, sizeof *out);
    if (out->first == 0 || out->first > UINT64_MAX / 2)
        return gyre_error_set(GYRE_INCOMPATIBLE, "%s: expected numbers from 1 on, found %llu", where,
                              (unsigned long long)out->first);
    return begin_walk(block, size, sizeof *out, out->count, where, walk);
}

bool gyre_cluster_requests_come_again(const struct gyre_cluster_requests *head, uint64_t number)
{
    return number && head->first > number + 1 && head->first - (number + 1) <= head->unsettled;
}

gyre_status gyre_cluster_replies_open(const void *block, size_t size, const char *where,
                                      struct gyre_cluster_replies *out, struct gyre_cluster_walk *walk)
{
    gyre_status status = gyre_block_check(block, size, GYRE_BLOCK_REPLIES, sizeof *out, where, NULL);
    if (status != GYRE_OK)
        return status;
    memcpy(out, block, sizeof *out);
    return begin_walk(block, size, sizeof *out, out->count, where, walk);
}

static unsigned char *first_reply(const void *block)
{
    return (unsigned char *)(uintptr_t)block + sizeof(struct gyre_cluster_replies);
}

uint64_t gyre_cluster_replies_settled(const void *block, const struct gyre_cluster_replies *head)
{
    struct gyre_cluster_message first;
    if (!head->count)
        return 0;
    memcpy(&first, first_reply(block), sizeof first);
    return first.number > first.unsettled ? first.number - 1 - first.unsettled : 0;
}

void gyre_cluster_replies_set_unsettled(void *block, uint32_t unsettled)
{
    struct gyre_cluster_message first;
    memcpy(&first, first_reply(block), sizeof first);
    first.unsettled = unsettled;
    memcpy(first_reply(block), &first, sizeof first);
}

gyre_status gyre_cluster_letter_open(const void *block, size_t size, const char *where,
                                     struct gyre_cluster_letter *out, const unsigned char **contents)
{
    const size_t least = offsetof(struct gyre_cluster_letter, at_ns);
    const gyre_status status = gyre_block_check(block, size, GYRE_BLOCK_LETTER, least, where, NULL);
    size_t head = least;
    if (status != GYRE_OK)
        return status;
    *out = (struct gyre_cluster_letter){0};
    memcpy(out, block, least);
    if (size >= sizeof *out && out->length == size - sizeof *out)
        head = sizeof *out;
    memcpy(out, block, head);
    if (out->length != size - head || !gyre_cluster_text_is_name(out->owner, sizeof out->owner, true))
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "the cluster's log '%s': a dead letter says %llu bytes, found %zu", where,
                              (unsigned long long)out->length, size - head);
    if (contents)
        *contents = (const unsigned char *)block + head;
    return GYRE_OK;
}

bool gyre_cluster_walk_next(struct gyre_cluster_walk *walk)
{
    if (walk->left == 0)
        return false;
    walk->left--;
    memcpy(&walk->message, walk->bytes + walk->at, sizeof walk->message);
    walk->contents = walk->bytes + walk->at + sizeof walk->message;
    walk->at += gyre_cluster_message_room(walk->message.length);
    return true;
}

size_t gyre_cluster_message_add(unsigned char *block, size_t at, const struct gyre_cluster_message *message,
                                const void *contents)
{
    const size_t end = at + gyre_cluster_message_room(message->length), filled = at + sizeof *message;
    memcpy(block + at, message, sizeof *message);
    if (message->length)
        memcpy(block + filled, contents, message->length);
    if (filled + message->length < end)
        memset(block + filled + message->length, 0, end - filled - message->length);
    return end;
}

bool gyre_cluster_text_is_name(const char *text, size_t room, bool or_none)
{
    return memchr(text, '\0', room) && ((or_none && !text[0]) || gyre_transport_is_name(text));
}

const char *gyre_cluster_shard_name(char name[GYRE_CLUSTER_NAME_SIZE], const char *what, uint32_t shard)
{
    snprintf(name, GYRE_CLUSTER_NAME_SIZE, "%s.%u", what, shard);
    return name;
}

const char *gyre_cluster_client_name(char name[GYRE_CLUSTER_NAME_SIZE],
                                     const unsigned char client[GYRE_CLIENT_ID_SIZE])
{
    int length = snprintf(name, GYRE_CLUSTER_NAME_SIZE, "out.");
    for (int i = 0; i < GYRE_CLIENT_ID_SIZE; i++)
        length += snprintf(name + length, GYRE_CLUSTER_NAME_SIZE - (size_t)length, "%02x", client[i]);
    return name;
}
