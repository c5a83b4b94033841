/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the file that the check `traffic` of the backend cpu writes (backends/cpu/check/cpu_traffic.h has its form). Nothing in it is
 * believed: numbers are checked, and a file of another form is refused with its line. No state.
 */
#ifndef GYRE_CLI_ESTIMATE_TRAFFIC_FILE_H
#define GYRE_CLI_ESTIMATE_TRAFFIC_FILE_H

#include <stddef.h>
#include <stdint.h>

/** The begin of code without branches: `offset` in the kernel file. */
typedef struct traffic_step {
    uint64_t offset, executed, issued;
} traffic_step;

/** An access: the call before `offset`. `sort` and `how` are those of gyre/dialect/cpu_watch.h. */
typedef struct traffic_touch {
    uint64_t offset, sort, how, size, span, executed, issued, sectors, needed, conflicts, fresh;
} traffic_touch;

typedef struct traffic_file {
    char module[4096], kernel[64];
    uint64_t form, lanes, messages, groups, cut;
    traffic_step *steps;
    size_t step_count;
    traffic_touch *touches;
    size_t touch_count;
} traffic_file;

/** Returns an exit code; prints why when it is not CLI_OK. Call traffic_file_finish in every case. */
int traffic_file_read(traffic_file *traffic, const char *path);
void traffic_file_finish(traffic_file *traffic);

#endif
