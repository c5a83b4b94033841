/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines of the kernels of keyed_links.gyre.c, whose links are by key. */
#ifndef GYRE_CONFORMANCE_LINK_KEYS_H
#define GYRE_CONFORMANCE_LINK_KEYS_H

#include "conformance.h"

#include <gyre/pipeline.h>

gyre_kernel *link_keys_launch(struct conformance *test, const char *kernel, const char *name,
                              uint32_t blocks);

/** A pipeline of `count` entries, from each of which a link leads to the answer. */
gyre_pipeline *link_keys_join(struct conformance *test, const char *const *entries, const char *answer,
                              const gyre_link_desc *links, size_t count);

/** Requires that the first link of the pipeline is by this key. */
void link_keys_require(const gyre_pipeline *pipeline, const char *key);

#endif
