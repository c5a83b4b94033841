/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the pipeline that ranks pages, for its kernels and for programs. */
#ifndef PAGERANK_H
#define PAGERANK_H

#include <gyre/message.h>

enum { PAGES = 5, LINKS = 9 };

/* The ranks of all pages, after so many rounds. */
#define RANKS(FIELD) FIELD(u32, round) FIELD(f64, rank[5])
GYRE_MESSAGE(ranks, RANKS)

/* What one page gives to another one. */
#define SHARE(FIELD) FIELD(u32, round) FIELD(u32, page) FIELD(f64, rank)
GYRE_MESSAGE(share, SHARE)

#endif
