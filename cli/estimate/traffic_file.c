/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what was counted (traffic_file.h): a line for each place. */
#include "cli/estimate/traffic_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { PLACES_MAX = 1 << 16, LINE_SIZE = 8192, LANES_MAX = 1024 };

/* Makes room for one more item of `size` bytes. False without memory, or when there are too many. */
static bool grow(void **items, size_t count, size_t size)
{
    if (count >= PLACES_MAX)
        return false;
    if (count & (count - 1) || (count && count < 64))
        return true;
    void *const more = realloc(*items, (count < 64 ? 64 : 2 * count) * size);
    if (more)
        *items = more;
    return more != NULL;
}

static bool read_step(traffic_file *traffic, const char *line)
{
    traffic_step step;
    if (sscanf(line, "step %" SCNu64 " executed %" SCNu64 " issued %" SCNu64, &step.offset, &step.executed,
               &step.issued) != 3 ||
        !grow((void **)&traffic->steps, traffic->step_count, sizeof step))
        return false;
    traffic->steps[traffic->step_count++] = step;
    return true;
}

static bool read_touch(traffic_file *traffic, const char *line)
{
    traffic_touch touch;
    if (sscanf(line,
               "touch %" SCNu64 " sort %" SCNu64 " how %" SCNu64 " size %" SCNu64 " span %" SCNu64
               " executed %" SCNu64 " issued %" SCNu64 " sectors %" SCNu64 " needed %" SCNu64
               " conflicts %" SCNu64 " fresh %" SCNu64,
               &touch.offset, &touch.sort, &touch.how, &touch.size, &touch.span, &touch.executed,
               &touch.issued, &touch.sectors, &touch.needed, &touch.conflicts, &touch.fresh) != 11 ||
        !grow((void **)&traffic->touches, traffic->touch_count, sizeof touch))
        return false;
    traffic->touches[traffic->touch_count++] = touch;
    return true;
}

static bool read_kernel(traffic_file *traffic, const char *line)
{
    return sscanf(line,
                  "kernel %63s form %" SCNu64 " lanes %" SCNu64 " messages %" SCNu64 " groups %" SCNu64
                  " cut %" SCNu64,
                  traffic->kernel, &traffic->form, &traffic->lanes, &traffic->messages, &traffic->groups,
                  &traffic->cut) == 6 &&
           traffic->form >= 1 && traffic->form <= 5 && traffic->lanes >= 1 && traffic->lanes <= LANES_MAX;
}

static bool read_line(traffic_file *traffic, const char *line, size_t number)
{
    if (number == 1)
        return strcmp(line, "gyre-traffic 1") == 0;
    if (strncmp(line, "module ", 7) == 0)
        return (size_t)snprintf(traffic->module, sizeof traffic->module, "%s", line + 7) <
               sizeof traffic->module;
    if (strncmp(line, "kernel ", 7) == 0)
        return read_kernel(traffic, line);
    if (strncmp(line, "step ", 5) == 0)
        return read_step(traffic, line);
    return strncmp(line, "touch ", 6) == 0 && read_touch(traffic, line);
}

int traffic_file_read(traffic_file *traffic, const char *path)
{
    char line[LINE_SIZE];
    size_t number = 0;
    bool right = true;
    *traffic = (traffic_file){.steps = NULL};
    FILE *const file = fopen(path, "re");
    if (!file)
        return cli_error(CLI_FAILED, "the counts '%s' cannot be read: %s", path, strerror(errno));
    while (right && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        right = read_line(traffic, line, ++number);
    }
    fclose(file);
    if (!right)
        return cli_error(CLI_FAILED, "%s:%zu: expected counts of the check traffic, found '%.60s'", path,
                         number, line);
    if (!traffic->messages || !traffic->groups)
        return cli_error(CLI_FAILED, "nothing was counted: no message reached the handler");
    return CLI_OK;
}

void traffic_file_finish(traffic_file *traffic)
{
    free(traffic->steps);
    free(traffic->touches);
    *traffic = (traffic_file){.steps = NULL};
}
