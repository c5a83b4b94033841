/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says in sentences why a kernel or a queue does not do what somebody expects of it: rules over what its process counts. No
 * state.
 */
#ifndef GYRE_CLI_OBSERVED_WHY_H
#define GYRE_CLI_OBSERVED_WHY_H

#include "cli/observed/rates.h"

/**
 * Writes paragraphs about the kernels named `name`, about those with a queue of that name, and about pipelines of that name; NULL: about
 * all. Processes that live come first. Returns how many.
 */
size_t why_tell(FILE *out, const rates_table *table, const char *name);
/**
 * Writes paragraphs about the pipelines of that name, NULL: of any, in processes that live or in the others, with their links and the
 * kernels between them. Returns how many (why_pipeline.c).
 */
size_t why_tell_pipelines(FILE *out, const rates_table *table, const char *name, bool living);
/** Writes the paragraph about the kernel in row `kernel`. Returns how many of its sentences are about something that is wrong. */
unsigned why_tell_kernel(FILE *out, const rates_table *table, size_t kernel);

#endif
