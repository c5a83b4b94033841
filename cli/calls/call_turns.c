/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two files with a line for each message: kernel, block, entry, number of the request, links behind it, sender (call_turns.h). */
#include "cli/calls/call_turns.h"
#include "cli/calls/call_accesses.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 64, BEFORE = 3, SHOWN = 12, MESSAGES_MAX = 1 << 20, STAGES_SHOWN = 4 };

typedef struct turn {
    char kernel[NAME_SIZE], from[NAME_SIZE]; /* from: the kernel that sent the message; "-": a client */
    uint32_t block, entry, hops;
    uint64_t index;
} turn;

typedef struct turns {
    turn *all;
    size_t count;
} turns;

static turns read_turns(const char *path)
{
    turns read = {.all = NULL};
    size_t room = 0;
    turn one;
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t line_room = 0;
    while (file && read.count < MESSAGES_MAX && getline(&line, &line_room, file) > 0) {
        if (line[0] == '@' ||
            sscanf(line, "%63s %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu32 " %63s", one.kernel, &one.block,
                   &one.entry, &one.index, &one.hops, one.from) != 6)
            continue; /* an access, of which call_accesses tells */
        if (read.count == room) {
            room = room ? 2 * room : 1024;
            turn *more = realloc(read.all, room * sizeof *more);
            if (!more)
                break;
            read.all = more;
        }
        read.all[read.count++] = one;
    }
    free(line);
    if (file)
        fclose(file);
    return read;
}

/* The stage's next message from `at` on; NULL: it handled no more. */
static const turn *next_of(const turns *all, size_t *at, const char *kernel)
{
    while (*at < all->count && strcmp(all->all[*at].kernel, kernel) != 0)
        ++*at;
    return *at < all->count ? &all->all[(*at)++] : NULL;
}

/* The place of the first message of the stage that another request caused. False: both handled the same. */
static bool find_difference(const turns *first, const turns *other, const char *kernel, size_t *place)
{
    size_t at = 0, other_at = 0;
    for (*place = 0;; ++*place) {
        const turn *one = next_of(first, &at, kernel), *two = next_of(other, &other_at, kernel);
        if (!one && !two)
            return false;
        if (!one || !two || one->index != two->index || one->entry != two->entry ||
            strcmp(one->from, two->from) != 0)
            return true;
    }
}

static void write_order(const turns *all, const char *kernel, uint64_t seed, size_t place, FILE *out)
{
    const size_t from = place > BEFORE ? place - BEFORE : 0;
    size_t at = 0, number = 0;
    const turn *one;
    fprintf(out, "gyre: with seed %" PRIu64 " '%s' handled messages of the requests%s", seed, kernel,
            from ? " ..." : "");
    while ((one = next_of(all, &at, kernel)) && number < from + SHOWN)
        if (number++ >= from) {
            fprintf(out, "%s %" PRIu64, number > from + 1 ? "," : "", one->index + 1);
            if (one->from[0] != '-')
                fprintf(out, " (%s)", one->from);
        }
    fputs(one ? " ...\n" : "\n", out);
}

static bool was_seen(const turns *all, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(all->all[i].kernel, all->all[index].kernel) == 0)
            return true;
    return false;
}

void call_turns_tell(const char *first_path, uint64_t first_seed, const char *other_path, uint64_t other_seed,
                     FILE *out)
{
    const turns first = read_turns(first_path), other = read_turns(other_path);
    size_t told = 0, place;
    for (size_t i = 0; i < first.count && told < STAGES_SHOWN; i++) {
        const char *const kernel = first.all[i].kernel;
        if (was_seen(&first, i) || !find_difference(&first, &other, kernel, &place))
            continue;
        write_order(&first, kernel, first_seed, place, out);
        write_order(&other, kernel, other_seed, place, out);
        told++;
    }
    if (!told)
        fprintf(
            out,
            "gyre: with both seeds each kernel handled messages of the same requests in the same order: what "
            "differs is by which link they came, or which of them ran at once\n");
    call_accesses_tell((const char *const[]){first_path, other_path},
                       (const uint64_t[]){first_seed, other_seed}, out);
    free(first.all);
    free(other.all);
}
