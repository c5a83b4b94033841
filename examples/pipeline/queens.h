/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUEENS_H
#define QUEENS_H

#include <gyre/message.h>

#define PUZZLE(FIELD) FIELD(u32, size)
GYRE_MESSAGE(puzzle, PUZZLE)

/* A board with queens in its first `row` rows. In the next one, those columns are threatened whose bit is in one of the others. */
#define BOARD(FIELD) FIELD(u32, size) FIELD(u32, row) FIELD(u32, columns) FIELD(u32, left) FIELD(u32, right)
GYRE_MESSAGE(board, BOARD)

#define SOLUTIONS(FIELD) FIELD(u64, count)
GYRE_MESSAGE(solutions, SOLUTIONS)

#endif
