/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what a GPU would do for the messages of a kernel (cpu_traffic.h). Lanes run one after the other here, so the n-th time
 * that a lane comes to a place stands for the n-th time that its group does: the accesses of a group's lanes are collected by
 * place and number, and counted when the group has ended.
 */
#include "backends/cpu/check/cpu_traffic.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu_resident.h"

enum { GROUP = 32, SECTOR = 32, BANKS = 32, PLACES_MAX = 16384, CELLS_MAX = 1 << 18, LANES_MAX = 1024 };

/* A place in a handler: the begin of code without branches, or an access. */
struct place {
    const void *code;
    uint64_t offset;    /* in the kernel file, which may be unloaded when the counts are written */
    uint32_t sort, how; /* of an access; how is 0 for a step */
    uint64_t size, span;
    uint64_t executed, issued, sectors, fresh, needed, conflicts;
    uint32_t *times; /* for each lane of the groups that run: how often it was here */
};

/* The accesses of a group's lanes at a place, the n-th of each. */
struct cell {
    uint32_t place, group, number, count;
    uint64_t at[GROUP];
};

struct cpu_traffic {
    const char *path;
    char module[PATH_MAX], kernel[64];
    uint32_t form, lanes; /* lanes: that run together, 32 of a lane kernel */
    uint64_t messages, groups, cut;
    uint32_t lane; /* of a lane kernel's message */
    bool running;
    struct place *places;
    uint32_t *place_table; /* number of the place + 1, by hash */
    uint32_t place_count;
    struct cell *cells;
    uint32_t *cell_table; /* the same for cells; emptied with the groups */
    uint32_t cell_count;
};

struct cpu_traffic *cpu_traffic_create(const char *path)
{
    struct cpu_traffic *const traffic = calloc(1, sizeof *traffic);
    if (!traffic)
        return NULL;
    traffic->path = path;
    traffic->places = calloc(PLACES_MAX, sizeof *traffic->places);
    traffic->place_table = calloc(2 * PLACES_MAX, sizeof *traffic->place_table);
    traffic->cells =
        calloc(CELLS_MAX, sizeof *traffic->cells); /* pages that no cell needs are never touched */
    traffic->cell_table = calloc(2 * CELLS_MAX, sizeof *traffic->cell_table);
    if (traffic->places && traffic->place_table && traffic->cells && traffic->cell_table)
        return traffic;
    cpu_traffic_free(traffic);
    return NULL;
}

static void forget_places(struct cpu_traffic *traffic)
{
    for (uint32_t i = 0; traffic->places && i < traffic->place_count; i++)
        free(traffic->places[i].times);
    traffic->place_count = 0;
}

void cpu_traffic_free(struct cpu_traffic *traffic)
{
    if (!traffic)
        return;
    forget_places(traffic);
    free(traffic->places);
    free(traffic->place_table);
    free(traffic->cells);
    free(traffic->cell_table);
    free(traffic);
}

void cpu_traffic_module(struct cpu_traffic *traffic, const char *path)
{
    forget_places(traffic);
    memset(traffic->place_table, 0, 2 * PLACES_MAX * sizeof *traffic->place_table);
    memset(traffic->cell_table, 0, 2 * CELLS_MAX * sizeof *traffic->cell_table);
    traffic->cell_count = 0;
    traffic->messages = traffic->groups = traffic->cut = 0;
    traffic->kernel[0] = '\0';
    snprintf(traffic->module, sizeof traffic->module, "%s", path);
}

/* ---- places and cells ---- */

static uint64_t mix(uint64_t number)
{
    number *= UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 29;
}

static uint64_t offset_of(const void *code)
{
    Dl_info file;
    if (!dladdr(code, &file))
        return 0;
    return (uint64_t)((const char *)code - (const char *)file.dli_fbase);
}

/* The place; NULL: there are too many, or no memory. */
static struct place *find_place(struct cpu_traffic *traffic, const void *code, uint32_t sort, uint32_t how)
{
    uint64_t at = mix((uint64_t)(uintptr_t)code * 64 + sort * 8 + how);
    for (;; at++) {
        uint32_t *const entry = &traffic->place_table[at % (2 * PLACES_MAX)];
        struct place *place = *entry ? &traffic->places[*entry - 1] : NULL;
        if (place && place->code == code && place->sort == sort && place->how == how)
            return place;
        if (place)
            continue;
        if (traffic->place_count == PLACES_MAX)
            return NULL;
        place = &traffic->places[traffic->place_count];
        *place = (struct place){.code = code, .offset = offset_of(code), .sort = sort, .how = how};
        place->times = calloc(LANES_MAX, sizeof *place->times);
        if (!place->times)
            return NULL;
        *entry = ++traffic->place_count;
        return place;
    }
}

static struct cell *find_cell(struct cpu_traffic *traffic, uint32_t place, uint32_t group, uint32_t number)
{
    uint64_t at = mix(mix((uint64_t)place << 32 | number) + group);
    for (;; at++) {
        uint32_t *const entry = &traffic->cell_table[at % (2 * CELLS_MAX)];
        struct cell *cell = *entry ? &traffic->cells[*entry - 1] : NULL;
        if (cell && cell->place == place && cell->group == group && cell->number == number)
            return cell;
        if (cell)
            continue;
        if (traffic->cell_count == CELLS_MAX)
            return NULL;
        cell = &traffic->cells[traffic->cell_count];
        cell->place = place;
        cell->group = group;
        cell->number = number;
        cell->count = 0;
        *entry = ++traffic->cell_count;
        return cell;
    }
}

/* ---- what lanes do ---- */

void cpu_traffic_step(struct cpu_traffic *traffic, uint32_t lane, const void *code)
{
    if (!traffic->running)
        return;
    struct place *const place = find_place(traffic, code, 0, 0);
    const uint32_t own = gyre_form_shares(traffic->form) ? lane : traffic->lane;
    if (place && own < LANES_MAX)
        place->times[own]++;
}

static uint64_t sectors_of(uint64_t at, uint64_t size)
{
    return (at + size - 1) / SECTOR - at / SECTOR + 1;
}

void cpu_traffic_touch(struct cpu_traffic *traffic, uint32_t lane, const struct cpu_traffic_touch *touch)
{
    if (!traffic->running || !touch->size)
        return;
    struct place *const place = find_place(traffic, touch->code, touch->range->sort, touch->how);
    const uint32_t own = gyre_form_shares(traffic->form) ? lane : traffic->lane;
    if (!place || own >= LANES_MAX)
        return;
    const uint64_t at = (uint64_t)(uintptr_t)touch->at,
                   span = (uint64_t)(touch->range->end - touch->range->from);
    place->size = touch->size;
    place->span = span > place->span ? span : place->span;
    struct cell *const cell =
        find_cell(traffic, (uint32_t)(place - traffic->places), own / GROUP, place->times[own]++);
    if (cell && cell->count < GROUP) {
        cell->at[cell->count++] = at;
        return;
    }
    traffic->cut++;
    place->executed++;
    place->issued++;
    place->fresh += sectors_of(at, touch->size);
    place->sectors += sectors_of(at, touch->size);
    place->needed += (touch->size + SECTOR - 1) / SECTOR;
}

/* ---- the end of a group ---- */

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static bool has_sector(const struct cell *cell, uint64_t size, uint64_t sector)
{
    for (uint32_t i = 0; cell && i < cell->count; i++)
        if (sector >= cell->at[i] / SECTOR && sector <= (cell->at[i] + size - 1) / SECTOR)
            return true;
    return false;
}

/* Sectors that the group did not touch the time before at this place: the first cache has the others. */
static void count_fresh(struct cpu_traffic *traffic, const struct cell *cell, struct place *place)
{
    const struct cell *const before =
        cell->number ? find_cell(traffic, cell->place, cell->group, cell->number - 1) : NULL;
    uint64_t next = 0;
    for (uint32_t i = 0; i < cell->count; i++)
        for (uint64_t sector = cell->at[i] / SECTOR; sector <= (cell->at[i] + place->size - 1) / SECTOR;
             sector++) {
            place->fresh += sector >= next && !has_sector(before, place->size, sector);
            next = sector >= next ? sector + 1 : next;
        }
}

/* Sectors that the group's accesses lie in, of addresses in order; and how many their different bytes would fill. */
static void count_sectors(const struct cell *cell, struct place *place)
{
    uint64_t next = 0, bytes = 0, end = 0;
    for (uint32_t i = 0; i < cell->count; i++) {
        const uint64_t from = cell->at[i], until = from + place->size;
        const uint64_t first = from / SECTOR, last = (until - 1) / SECTOR;
        place->sectors += last + 1 - (first > next ? first : next < last + 1 ? next : last + 1);
        next = last + 1 > next ? last + 1 : next;
        bytes += until - (from > end ? from : end < until ? end : until);
        end = until > end ? until : end;
    }
    place->needed += (bytes + SECTOR - 1) / SECTOR;
}

/* How many more turns the banks of the scratch need because different words of one bank are touched at once. */
static void count_conflicts(const struct cell *cell, struct place *place)
{
    uint32_t words[BANKS] = {0}, most = 1;
    uint64_t latest = UINT64_MAX;
    for (uint32_t i = 0; i < cell->count; i++) {
        const uint64_t word = cell->at[i] / 4;
        if (word == latest)
            continue;
        latest = word;
        if (++words[word % BANKS] > most)
            most = words[word % BANKS];
    }
    place->conflicts += most - 1;
}

static void count_cell(struct cpu_traffic *traffic, struct cell *cell)
{
    struct place *const place = &traffic->places[cell->place];
    place->issued++;
    place->executed += cell->count;
    qsort(cell->at, cell->count, sizeof cell->at[0], compare_addresses);
    count_sectors(cell, place);
    count_fresh(traffic, cell, place);
    if (place->sort == GYRE_SORT_SCRATCH && !(place->how & GYRE_TOUCH_ATOMIC))
        count_conflicts(cell, place);
}

/* A group runs a place as often as the lane that is there most often. */
static void count_steps(const struct cpu_traffic *traffic, struct place *place)
{
    for (uint32_t first = 0; first < traffic->lanes; first += GROUP) {
        uint32_t most = 0;
        for (uint32_t i = first; i < traffic->lanes && i < first + GROUP; i++) {
            place->executed += place->times[i];
            most = place->times[i] > most ? place->times[i] : most;
        }
        place->issued += most;
    }
}

static void end_groups(struct cpu_traffic *traffic)
{
    for (uint32_t i = 0; i < traffic->cell_count; i++)
        count_cell(traffic, &traffic->cells[i]);
    for (uint32_t i = 0; i < traffic->place_count; i++) {
        struct place *const place = &traffic->places[i];
        if (!place->how)
            count_steps(traffic, place);
        memset(place->times, 0, traffic->lanes * sizeof *place->times);
    }
    if (traffic->cell_count)
        memset(traffic->cell_table, 0, 2 * CELLS_MAX * sizeof *traffic->cell_table);
    traffic->cell_count = 0;
    traffic->groups += (traffic->lanes + GROUP - 1) / GROUP;
}

/* ---- messages ---- */

void cpu_traffic_begin(struct cpu_traffic *traffic, const struct cpu_worker *worker)
{
    const struct gyre_resident *const resident = worker->resident;
    if (!traffic->messages) {
        snprintf(traffic->kernel, sizeof traffic->kernel, "%s", resident->kernel->name);
        traffic->form = resident->kernel->form;
        traffic->lanes = gyre_form_shares(traffic->form)   ? resident->lanes
                         : traffic->form == GYRE_FORM_LANE ? GROUP
                                                           : 1;
        traffic->lane = 0;
    }
    traffic->running = strcmp(traffic->kernel, resident->kernel->name) == 0;
    traffic->messages += traffic->running;
}

void cpu_traffic_end(struct cpu_traffic *traffic)
{
    if (!traffic->running)
        return;
    traffic->running = false;
    if (traffic->form != GYRE_FORM_LANE || ++traffic->lane == GROUP) {
        end_groups(traffic);
        traffic->lane = 0;
    }
}

/* ---- the file ---- */

static void write_place(const struct place *place, FILE *file)
{
    const uint64_t offset = place->offset;
    if (!place->how)
        fprintf(file, "step %" PRIu64 " executed %" PRIu64 " issued %" PRIu64 "\n", offset, place->executed,
                place->issued);
    else
        fprintf(file,
                "touch %" PRIu64 " sort %u how %u size %" PRIu64 " span %" PRIu64 " executed %" PRIu64
                " issued %" PRIu64 " sectors %" PRIu64 " needed %" PRIu64 " conflicts %" PRIu64
                " fresh %" PRIu64 "\n",
                offset, place->sort, place->how, place->size, place->span, place->executed, place->issued,
                place->sectors, place->needed, place->conflicts, place->fresh);
}

bool cpu_traffic_write(struct cpu_traffic *traffic)
{
    FILE *const file = fopen(traffic->path, "we");
    if (!file)
        return false;
    if (traffic->form == GYRE_FORM_LANE && traffic->lane) {
        end_groups(traffic);
        traffic->lane = 0;
    }
    fprintf(file, "gyre-traffic 1\nmodule %s\n", traffic->module);
    fprintf(file, "kernel %s form %u lanes %u messages %" PRIu64 " groups %" PRIu64 " cut %" PRIu64 "\n",
            traffic->kernel[0] ? traffic->kernel : "-", traffic->form, traffic->lanes, traffic->messages,
            traffic->groups, traffic->cut);
    for (uint32_t i = 0; i < traffic->place_count; i++)
        write_place(&traffic->places[i], file);
    const bool written = !ferror(file);
    return fclose(file) == 0 && written;
}
