/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the matrix of devices (core/device/peers.h). One thread. */
#include "cli/views/backends_peers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"
#include "core/api/tools.h"

static const char *device_text(const struct gyre_peer_device *device, char text[96])
{
    snprintf(text, 96, "%s:%u", device->backend, device->ordinal);
    return text;
}

static void add_row(cli_table *table, const struct gyre_peer_matrix *matrix, uint32_t from, uint32_t to)
{
    const struct gyre_peer_figure *figure = &matrix->figures[from][to];
    char source[96], target[96], latency[32] = "-", rate[32] = "-";
    if (figure->latency_ns)
        snprintf(latency, sizeof latency, "%.2f us", (double)figure->latency_ns / 1e3);
    if (figure->bytes_per_second)
        snprintf(rate, sizeof rate, "%.2f GB/s", (double)figure->bytes_per_second / 1e9);
    const char *const cells[] = {device_text(&matrix->devices[from], source),
                                 device_text(&matrix->devices[to], target), gyre_reach_word(figure->reach),
                                 latency, rate};
    cli_table_add(table, cells);
}

static int print_table(const struct gyre_peer_matrix *matrix)
{
    static const char *const headers[] = {"FROM", "TO", "BY", ">64 BYTES", ">16 MIB", NULL};
    cli_table *table = cli_table_create(headers);
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++)
            if (matrix->devices[from].dispatch && matrix->devices[to].dispatch)
                add_row(table, matrix, from, to);
    const int code = cli_table_print(table);
    putchar('\n');
    for (uint32_t i = 0; i < matrix->count; i++) {
        char text[96];
        const struct gyre_peer_device *device = &matrix->devices[i];
        printf("%s: %s%s\n", device_text(device, text),
               device->dispatch ? "" : "cannot be opened: ", device->dispatch ? device->name : device->lack);
    }
    if (matrix->left_out)
        printf("%u more devices are left out\n", matrix->left_out);
    printf("measured: %s\n", matrix->remembered ? "earlier, since the machine was started (--again)" : "now");
    return code;
}

static int print_json(const struct gyre_peer_matrix *matrix)
{
    json_t *devices = json_array(), *pairs = json_array();
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct gyre_peer_device *device = &matrix->devices[i];
        json_array_append_new(devices, cli_json_object("sIss", "backend", device->backend, "device",
                                                       (json_int_t)device->ordinal, "name", device->name,
                                                       "reason", device->dispatch ? NULL : device->lack));
    }
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++) {
            const struct gyre_peer_figure *figure = &matrix->figures[from][to];
            if (matrix->devices[from].dispatch && matrix->devices[to].dispatch)
                json_array_append_new(pairs,
                                      cli_json_object("IIsII", "from", (json_int_t)from, "to", (json_int_t)to,
                                                      "by", gyre_reach_word(figure->reach), "latency_ns",
                                                      (json_int_t)figure->latency_ns, "bytes_per_second",
                                                      (json_int_t)figure->bytes_per_second));
        }
    return cli_print_json(cli_json_object("oobI", "devices", devices, "pairs", pairs, "remembered",
                                          matrix->remembered, "left_out", (json_int_t)matrix->left_out));
}

int backends_peers_print(const cli_context *cli, bool again)
{
    gyre_runtime *runtime = NULL;
    struct gyre_peer_matrix *matrix = NULL;
    gyre_status status = cli_open(cli, &runtime);
    if (status == GYRE_OK)
        status = gyre_peers_measure(runtime, again, &matrix);
    int code = cli_fail_unless_ok(status);
    if (code == CLI_OK)
        code = cli->json ? print_json(matrix) : print_table(matrix);
    free(matrix);
    gyre_close(runtime);
    return code;
}
