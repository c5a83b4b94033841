/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the code under test, and mutants of them (sites.h). */
#include "sites.h"

#include <stdio.h>
#include <stdlib.h>

#include "machine.h"

enum { SITES = 1024 };

enum mutation { IS_RELAXED, IS_LEFT_OUT, IS_TORN, MUTATIONS };

static struct {
    struct site {
        const void *at;
        enum site_kind kind;
        int order;
    } sites[SITES];
    unsigned count;
    const void *mutant; /* NULL: the code as it is */
    enum mutation mutation;
} table;

static void note(const void *at, enum site_kind kind, int order)
{
    unsigned i = 0;
    while (i < table.count && table.sites[i].at != at)
        i++;
    if (i == SITES)
        abort();
    if (i == table.count)
        table.sites[table.count++] = (struct site){.at = at, .kind = kind};
    if (order > table.sites[i].order)
        table.sites[i].order = order;
}

static bool is_mutant(const void *at, enum mutation mutation)
{
    return table.mutant == at && table.mutation == mutation;
}

int sites_order(const void *at, enum site_kind kind, int order)
{
    if (!table.mutant)
        note(at, kind, order);
    return is_mutant(at, IS_RELAXED) ? RELAXED : order;
}

bool sites_leave_out(const void *at, enum site_kind kind)
{
    if (!table.mutant)
        note(at, kind, RELAXED);
    return is_mutant(at, IS_LEFT_OUT);
}

bool sites_tear(const void *at, enum site_kind kind)
{
    if (!table.mutant)
        note(at, kind, RELAXED);
    return is_mutant(at, IS_TORN);
}

static bool can_be(const struct site *site, enum mutation mutation)
{
    switch (mutation) {
    case IS_RELAXED:
        return site->order != RELAXED;
    case IS_LEFT_OUT:
        return site->kind != SITE_LOAD && site->kind != SITE_SWAP;
    default:
        return site->kind == SITE_CHANGE || site->kind == SITE_SWAP;
    }
}

/* Finds mutant `number`. Returns how many there are when there is no such one. */
static unsigned find(unsigned number, const struct site **site, enum mutation *mutation)
{
    unsigned count = 0;
    for (unsigned i = 0; i < table.count; i++)
        for (unsigned j = 0; j < MUTATIONS; j++) {
            if (!can_be(&table.sites[i], j))
                continue;
            *site = &table.sites[i];
            *mutation = j;
            if (count++ == number)
                return number;
        }
    return count;
}

unsigned sites_count_mutants(void)
{
    const struct site *site;
    enum mutation mutation;
    return find((unsigned)-1, &site, &mutation);
}

void sites_mutate(unsigned number)
{
    const struct site *site;
    find(number, &site, &table.mutation);
    table.mutant = site->at;
}

const void *sites_at(unsigned number)
{
    const struct site *site;
    enum mutation mutation;
    find(number, &site, &mutation);
    return site->at;
}

void sites_describe(unsigned number, char *text, size_t size)
{
    static const char *const orders[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
    static const char *const kinds[] = {"load", "store", "change", "swap", "fence", "wake"};
    const struct site *site;
    enum mutation mutation;
    find(number, &site, &mutation);
    if (mutation == IS_RELAXED)
        snprintf(text, size, "%s %s is relaxed", orders[site->order], kinds[site->kind]);
    else
        snprintf(text, size, "%s is %s", kinds[site->kind], mutation == IS_TORN ? "torn" : "left out");
}
