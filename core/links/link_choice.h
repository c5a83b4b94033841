/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links to one of the types that a kernel takes ("KERNEL:TYPE", of a kernel with GYRE_PROTOCOL): the kernel gets the port's messages as
 * clients' messages of that type. Called with the pipeline's lock.
 */
#ifndef GYRE_CORE_LINKS_LINK_CHOICE_H
#define GYRE_CORE_LINKS_LINK_CHOICE_H

#include "core/links/pipeline.h"

/**
 * Finds the type `type` among those that the link's target takes, checks that it is the port's, and sets link->choice. INVALID,
 * INCOMPATIBLE or UNIMPLEMENTED.
 */
gyre_status gyre_link_choice_resolve(const gyre_pipeline *pipeline, const char *type, struct gyre_link *link);

#endif
