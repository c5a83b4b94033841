/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers that overwrite what their worker shares with the program. Only for the CPU backend and with check = off:
 * they look for that memory in /proc/self/maps. A request scribbles once, whatever becomes of the worker: a file in
 * the folder $CRASH_FOLDER says that it did.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gyre/kernel.h>
#include "scribble.h"

static int is_first(u64 number)
{
    char path[512];
    const char *folder = getenv("CRASH_FOLDER");
    snprintf(path, sizeof path, "%s/%llu", folder ? folder : "/nowhere", (unsigned long long)number);
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    return file >= 0;
}

static u64 next(u64 *random)
{
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return *random * 0x2545f4914f6cdd1du;
}

/* Values that a reader has most trouble with, beside any. */
static u64 worst(u64 old, u64 *random)
{
    const u64 any = next(random);
    switch (any >> 32 & 15) {
    case 0:
        return 0;
    case 1:
        return ~(u64)0;
    case 2:
        return (u64)1 << 63;
    case 3:
        return ((u64)1 << 63) - 1;
    case 4:
        return 0xffffffffu;
    case 5:
        return (u64)0xffffffffu << 32;
    case 6:
        return old + 1;
    case 7:
        return old - 1;
    case 8:
        return old ^ (u64)1 << (any & 63);
    case 9:
        return any & 255;
    case 10:
        return (any & 0xffff) << 32 | (any >> 16 & 0xffff);
    case 11:
        return old + 4096;
    case 12:
        return old << 1;
    default:
        return any;
    }
}

/* One pattern over all of it. */
static void fill(unsigned char *first, size_t size, u64 *random)
{
    const u64 pattern = next(random) >> 32 & 3;
    for (size_t at = 0; at + 8 <= size; at += 8) {
        const u64 word = pattern == 0   ? 0
                         : pattern == 1 ? ~(u64)0
                         : pattern == 2 ? next(random)
                                        : next(random) >> 60;
        memcpy(first + at, &word, sizeof word);
    }
}

static void scatter(unsigned char *first, size_t size, u64 *random)
{
    for (int i = 0; i < 400; i++) {
        u64 word;
        /* the first pages hold what is not a message */
        const size_t reach = next(random) >> 32 & 1 && size > 8192 ? 8192 : size;
        unsigned char *place = first + (next(random) >> 16) % (reach / 8) * 8;
        memcpy(&word, place, sizeof word);
        word = worst(word, random);
        memcpy(place, &word, sizeof word);
    }
}

struct area {
    unsigned char *first;
    size_t size;
};

/* The memory that the worker shares with the program; of `only_control` the control regions alone. */
static int find_areas(struct area *areas, int most, int only_control)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && count < most && fgets(line, sizeof line, maps)) {
        unsigned long first, end;
        const char *name = strstr(line, "/memfd:gyre");
        if (!name || (only_control && !strstr(name, "control region")) ||
            sscanf(line, "%lx-%lx rw-s", &first, &end) != 2)
            continue;
        areas[count].first = (unsigned char *)first;
        areas[count++].size = end - first;
    }
    if (maps)
        fclose(maps);
    return count;
}

static void scribble_areas(const scribble_request *request, u64 *random)
{
    struct area areas[64];
    const int count = find_areas(areas, 64, request->how == SCRIBBLE_CONTROL);
    const int rounds = request->how == SCRIBBLE_WORDS ? 20 : 1;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++) {
            if (request->how == SCRIBBLE_WORDS || (request->how == SCRIBBLE_CONTROL && next(random) >> 63))
                scatter(areas[i].first, areas[i].size, random);
            else
                fill(areas[i].first, areas[i].size, random);
        }
        usleep(200); /* the program looks meanwhile */
    }
}

static u64 word_at(const unsigned char *place)
{
    u64 word;
    memcpy(&word, place, sizeof word);
    return word;
}

/* The slot of this request's reply, of one line: those of the two requests before it are answered. NULL: it is not there. */
static unsigned char *find_reply(const struct area *area, u64 sequence)
{
    for (size_t at = 128; at + 64 * 64 < area->size; at += 64) {
        unsigned char *slot = area->first + at;
        if (word_at(slot - 128) == sequence - 2 && word_at(slot - 64) == sequence - 1 &&
            word_at(slot) != sequence)
            return slot;
    }
    return NULL;
}

/* As if requests behind this one were answered, which nobody sent. */
static void complete_ahead(const scribble_request *request)
{
    struct area areas[64];
    const int count = find_areas(areas, 64, 0);
    const u64 sequence = word_at((const unsigned char *)request - 16);
    for (int i = 0; i < count; i++) {
        unsigned char *slot = find_reply(&areas[i], sequence);
        for (u64 k = 1; slot && k < 48; k++) {
            const u32 length = sizeof(scribble_reply), outcome = 1;
            const u64 later = sequence + k;
            memcpy(slot + 64 * k + 8, &length, sizeof length);
            memcpy(slot + 64 * k + 12, &outcome, sizeof outcome);
            memcpy(slot + 64 * k, &later, sizeof later);
        }
    }
}

/* As if this request were answered, at a length that no reply has. Stays inside the handler until the test lets it go on. */
static void complete_wrongly(const scribble_request *request)
{
    struct area areas[64];
    char path[512];
    const char *folder = getenv("CRASH_FOLDER");
    const int count = find_areas(areas, 64, 0);
    const u64 sequence = word_at((const unsigned char *)request - 16);
    for (int i = 0; i < count; i++) {
        unsigned char *slot = find_reply(&areas[i], sequence);
        const u32 length = 1 << 20, outcome = 1;
        if (!slot)
            continue;
        memcpy(slot + 8, &length, sizeof length);
        memcpy(slot + 12, &outcome, sizeof outcome);
        __atomic_store_n((u64 *)slot, sequence, __ATOMIC_RELEASE);
    }
    snprintf(path, sizeof path, "%s/go_on", folder ? folder : "/nowhere");
    while (access(path, F_OK) != 0)
        usleep(1000);
}

static void scribble(const scribble_request *from, void *reply)
{
    const scribble_request request = *from;
    u64 random = request.seed | 1;
    const size_t size = (size_t)request.kilobytes * 1024;
    unsigned char *at = reply;
    if (request.how == SCRIBBLE_BEYOND)
        fill(at, size, &random);
    else if (request.how == SCRIBBLE_BEFORE)
        fill(at - size, size, &random);
    else if (request.how == SCRIBBLE_AHEAD)
        complete_ahead(from);
    else if (request.how == SCRIBBLE_LENGTH)
        complete_wrongly(from);
    else
        scribble_areas(&request, &random);
    if (request.then == SCRIBBLE_EXIT)
        _exit(3);
    for (u64 turns = 0; request.then == SCRIBBLE_LOOP && turns < 100; turns++)
        usleep(1000);
}

/* Stateless: the reply is a function of the request. */
GYRE_KERNEL(scribbler, scribble_request, scribble_reply)
{
    if (request->how != SCRIBBLE_NOT && is_first(request->number))
        scribble(request, reply);
    reply->number = request->number;
    reply->check = request->number * 0x9e3779b97f4a7c15u;
    return GYRE_REPLY;
}

GYRE_ACTOR(scribbling_actor, scribble_request, scribble_reply, scribble_state)
{
    state->count++;
    if (request->how != SCRIBBLE_NOT && is_first(request->number))
        scribble(request, reply);
    reply->number = request->number;
    reply->check = request->number * 0x9e3779b97f4a7c15u;
    return GYRE_REPLY;
}

/* Replies at length. */
GYRE_KERNEL(scribbling_chat, scribble_request, scribble_chat)
{
    if (request->how != SCRIBBLE_NOT && is_first(request->number))
        scribble(request, reply);
    reply->number = request->number;
    reply->words = gyre_new(gyre, u64, reply, 300);
    u64 *words = gyre_writable(u64, reply, reply->words);
    for (u32 i = 0; i < reply->words.count; i++)
        words[i] = request->number * 0x9e3779b97f4a7c15u + i;
    return GYRE_REPLY;
}

/* Stands before a scribbler in a pipeline. */
#define PASSED_PORTS(PORT) PORT(scribble_request, on, 1)
GYRE_PORTS(passed_ports, PASSED_PORTS)
GYRE_KERNEL_TO(passes, scribble_request, gyre_none, passed_ports)
{
    scribble_request *on = gyre_emit(gyre, on);
    *on = *request;
    return GYRE_NO_REPLY;
}
