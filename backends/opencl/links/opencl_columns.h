/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which cell of an epoch a message lies. Where blocks of the kernel share the messages of a link by key, each block has a column
 * of cells, which it handles from the first to the last: cell c is one of block c mod blocks (opencl_shape.c). So messages of a key
 * are handled by one block, in their order. A column that is shorter than another one has cells without a message behind its
 * own, which no handler sees. Without keys the cells are filled in the order of the messages.
 */
#ifndef GYRE_OPENCL_COLUMNS_H
#define GYRE_OPENCL_COLUMNS_H

#include "backends/opencl/epochs/opencl_linked.h"

/** Whether keys decide by the present table which block handles a message. */
bool opencl_columns_are_needed(const gyre_resident *resident);
/** Begins an epoch of `most` messages at most. Returns how many cells it may have. */
uint32_t opencl_columns_begin(const gyre_resident *resident, uint32_t most);
/**
 * Finds the cell of the next message (links.next). `ring`: where it comes from; NULL: from a queue. False when the epoch has no cell
 * for it.
 */
bool opencl_columns_find(const gyre_resident *resident, const gyre_link_ring *ring, const void *message);
/** The same for a message whose block is known. */
bool opencl_columns_find_in(const gyre_resident *resident, uint32_t block);
/** How many cells the epoch has left for messages that any block may handle. */
uint32_t opencl_columns_left(const gyre_resident *resident);
/** The cell is filled. */
void opencl_columns_take(const gyre_resident *resident);
/** Ends an epoch: no more messages come. */
void opencl_columns_end(const gyre_resident *resident);

#endif
