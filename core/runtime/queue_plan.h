/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration asks of a queue's messages besides their payload: header and behaviours.
 */
#ifndef GYRE_CORE_RUNTIME_QUEUE_PLAN_H
#define GYRE_CORE_RUNTIME_QUEUE_PLAN_H

#include "core/config/config.h"
#include "core/ring/header.h"
#include "core/ring/queue.h"

/**
 * The header of the queue of that name (NULL: of one that no section names), as large as its behaviours need
 * it. CONFIG with the section.
 */
gyre_status gyre_queue_plan_header(const struct gyre_config *config, const char *name,
                                   struct gyre_header_plan *plan);
/** The same of all queues that the configuration names, and of the others: what a kernel is compiled for. */
struct gyre_header_plan gyre_queue_plan_all(const struct gyre_config *config);
/** Header and behaviours into the options of the queue `options->name`. */
gyre_status gyre_queue_plan_choose(const struct gyre_config *config, const char *section,
                                   struct gyre_queue_options *options);

#endif
