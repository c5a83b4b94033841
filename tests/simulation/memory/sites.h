/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutants of the code under test, without compiling it again: each place at which it changes, orders or wakes something can do less than is
 * written there. hooks.c asks at each operation, by the address behind the call.
 */
#ifndef GYRE_SIMULATION_SITES_H
#define GYRE_SIMULATION_SITES_H

#include <stdbool.h>
#include <stddef.h>

enum site_kind { SITE_LOAD, SITE_STORE, SITE_CHANGE, SITE_SWAP, SITE_FENCE, SITE_WAKE };

/** The order of the operation: that which is written there, or RELAXED in a mutant. */
int sites_order(const void *at, enum site_kind kind, int order);
/** Whether the operation is left out. */
bool sites_leave_out(const void *at, enum site_kind kind);
/** Whether the operation, a read and a write in one, is done as two. */
bool sites_tear(const void *at, enum site_kind kind);

/** How many mutants the places have that were seen so far; they are numbered from 0 on. */
unsigned sites_count_mutants(void);
/** Makes one of them. */
void sites_mutate(unsigned number);
/** Where it is, and what it does. */
const void *sites_at(unsigned number);
void sites_describe(unsigned number, char *text, size_t size);

#endif
