# SPDX-License-Identifier: Apache-2.0
"""Writes the C source of the module gyre_kernels._native: build.py OUT.c

The declarations below are those of the public headers that the package uses. The compiler checks each of them
against the headers, because the module includes them. A struct of Gyre that begins with its size grows with Gyre, so it ends
with dots here: its size is what the compiler says.
"""

import sys

import cffi

DECLARATIONS = """
typedef struct gyre_runtime gyre_runtime;
typedef struct gyre_kernel gyre_kernel;
typedef struct gyre_queue gyre_queue;
typedef struct gyre_buffer gyre_buffer;
typedef struct gyre_server gyre_server;
typedef struct gyre_fields gyre_fields;
typedef struct gyre_pipeline gyre_pipeline;
typedef enum { GYRE_OK = 0, ... } gyre_status;
typedef struct gyre_type { const char *name; ...; } gyre_type;
typedef struct gyre_part { uint32_t offset; uint32_t count; } gyre_part;

const char *gyre_version(void);
const char *gyre_error_text(void);
const char *gyre_status_word(gyre_status status);

typedef struct {
    size_t size;
    const char *config_path;
    const char *const *settings;
    const char *backend;
    void (*log)(void *context, int level, const char *text);
    void *log_context;
    ...;
} gyre_open_desc;
gyre_status gyre_open(const gyre_open_desc *desc, gyre_runtime **out);
void gyre_close(gyre_runtime *runtime);
typedef struct { size_t size; char name[32]; char why[1024]; ...; } gyre_backend_choice;
gyre_status gyre_backend_choose(gyre_runtime *runtime, const char *backend, gyre_backend_choice *out);

typedef struct { const char *name; gyre_buffer *buffer; } gyre_binding_name;
typedef struct {
    size_t size;
    const char *source, *kernel, *name, *backend;
    uint32_t device, lanes, blocks;
    int start_inactive;
    const gyre_type *request, *reply;
    const void *state;
    size_t state_size;
    const gyre_binding_name *bindings;
    size_t binding_count;
    ...;
} gyre_launch_desc;
gyre_status gyre_launch(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out);
void gyre_kernel_release(gyre_kernel *kernel);
typedef struct {
    size_t size;
    char name[64], kernel[64], backend[32], device[128];
    int state;
    uint32_t lanes, blocks, queues;
    uint64_t handled, failed, queued, launched_ns;
    uint32_t cache_hit;
    const gyre_type *request, *reply, *state_type;
    int health;
    uint32_t restarts, stalls, relaunches;
    uint64_t checkpoints;
    ...;
} gyre_kernel_info;
const char *gyre_kernel_health_word(int health);
const char *gyre_kernel_state_word(int state);
gyre_queue *gyre_kernel_queue(gyre_kernel *kernel);

typedef struct {
    size_t size;
    const char *name;
    uint64_t capacity;
    ...;
} gyre_queue_desc;
gyre_status gyre_queue_open(gyre_kernel *kernel, const gyre_queue_desc *desc, gyre_queue **out);
void gyre_queue_close(gyre_queue *queue);
typedef struct { size_t size; uint64_t first, offered, lost_bytes, lost_first, lost_end; ...; } gyre_recovered;
gyre_status gyre_queue_recovered(const gyre_queue *queue, gyre_recovered *recovered);
typedef struct {
    uint64_t index;
    int outcome;
    int32_t failure_code;
    uint32_t length;
    char failure_text[44];
} gyre_completion;
typedef struct {
    size_t size;
    uint64_t capacity, request_size, reply_size, region_size, sent, received, rejected, dropped, abandoned;
    uint64_t high_water, send_waits, receive_waits, timed, waited_ns, handled_ns, returned_ns, duplicates;
    uint64_t waiting, dead_letters, dead_letters_lost, spans_moved, spans_bytes;
    ...;
} gyre_queue_stats;

gyre_status gyre_message_put(void *message, size_t size, gyre_part *part, const void *items,
                             size_t item_size, size_t count);

gyre_status gyre_types_load(gyre_runtime *runtime, const char *backend, const char *file);
size_t gyre_types(gyre_runtime *runtime, const gyre_type **out, size_t capacity);

gyre_status gyre_buffer_alloc(gyre_runtime *runtime, const char *backend, uint32_t device, uint64_t size,
                              gyre_buffer **out);
gyre_status gyre_buffer_free(gyre_buffer *buffer);
gyre_status gyre_buffer_upload(gyre_buffer *buffer, uint64_t offset, const void *source, uint64_t size);
gyre_status gyre_buffer_download(const gyre_buffer *buffer, uint64_t offset, void *target, uint64_t size);
gyre_status gyre_buffer_fill(gyre_buffer *buffer, uint64_t offset, uint8_t byte, uint64_t size);
gyre_status gyre_buffer_copy(gyre_buffer *target, uint64_t target_offset, const gyre_buffer *source,
                             uint64_t source_offset, uint64_t size);

typedef struct {
    size_t size;
    void *host;
    uint64_t address, bytes;
    char backend[32];
    uint32_t device;
    ...;
} gyre_buffer_place;
gyre_status gyre_buffer_hold(gyre_buffer *buffer, gyre_buffer_place *out);
void gyre_buffer_let_go(gyre_buffer *buffer);

typedef struct { size_t size; const char *name; ...; } gyre_pipeline_desc;
gyre_status gyre_pipeline_open(gyre_runtime *runtime, const gyre_pipeline_desc *desc, gyre_pipeline **out);
gyre_queue *gyre_pipeline_queue(gyre_pipeline *pipeline);
gyre_status gyre_pipeline_queue_open(gyre_pipeline *pipeline, const char *entry, const gyre_queue_desc *desc,
                                     gyre_queue **out);
gyre_status gyre_pipeline_drain(gyre_pipeline *pipeline, uint64_t deadline_ns, uint64_t *left);
gyre_status gyre_pipeline_close(gyre_pipeline *pipeline, uint64_t deadline_ns);
typedef struct {
    size_t size;
    char name[128], from[64], port[64], to[64], type[64];
    uint64_t type_hash;
    uint32_t most, rings;
    uint64_t capacity, bytes, sent, waiting;
    char topic[64];
    uint32_t slow, is_cut;
    uint64_t missed, room, section, held;
    uint32_t talk;
    char answer[64];
    char key[128];
    ...;
} gyre_link_info;
gyre_status gyre_pipeline_link(const gyre_pipeline *pipeline, size_t index, gyre_link_info *info);

typedef struct {
    size_t size;
    const char *path;
    uint32_t mode, clients_max;
    uint64_t capacity_max;
    uint32_t trusted;
    ...;
} gyre_serve_desc;
gyre_status gyre_serve(gyre_runtime *runtime, const gyre_serve_desc *desc, gyre_server **out);
void gyre_server_close(gyre_server *server);
typedef struct { size_t size; char path[108]; uint32_t attached; uint64_t admitted, refused; ...; } gyre_server_info;
gyre_status gyre_server_info_get(gyre_server *server, gyre_server_info *info);
typedef struct {
    size_t size;
    const char *path;
    uint64_t capacity;
    uint64_t deadline_ns;
    const char *client;
    bool reconnect;
    ...;
} gyre_attach_desc;
gyre_status gyre_attach(const char *name, const gyre_attach_desc *desc, gyre_queue **out);
void gyre_queue_types(const gyre_queue *queue, const gyre_type **request, const gyre_type **reply);

typedef struct {
    size_t size;
    const char *name;
    int kind;
    uint32_t fields, choices;
    uint64_t bytes, alignment, tail, least;
    const gyre_type *items;
    ...;
} gyre_fields_info;
typedef struct {
    size_t size;
    const char *name;
    const gyre_type *type;
    int kind;
    uint32_t dimension_count;
    uint64_t offset, bytes, count;
    uint64_t dimensions[8];
    ...;
} gyre_field_info;
gyre_status gyre_fields_read(const gyre_type *type, gyre_fields **out);
void gyre_fields_release(gyre_fields *fields);
gyre_status gyre_fields_info_get(const gyre_fields *fields, gyre_fields_info *info);
const gyre_type *gyre_fields_choice(const gyre_fields *fields, uint32_t number);
gyre_status gyre_field_get(const gyre_fields *fields, size_t number, gyre_field_info *info);

typedef struct { uint32_t busy, closed; } gyrepy_gate;
int gyrepy_close(gyrepy_gate *gate);
typedef struct { gyre_kernel *kernel; gyrepy_gate gate; } gyrepy_kernel;
int gyrepy_kernel_info(gyrepy_kernel *kernel, gyre_kernel_info *info);
int gyrepy_kernel_state_read(gyrepy_kernel *kernel, void *state, size_t size);
int gyrepy_kernel_key_read(gyrepy_kernel *kernel, const char *key, void *state, size_t size);
int gyrepy_kernel_activate(gyrepy_kernel *kernel, uint64_t deadline_ns);
int gyrepy_kernel_deactivate(gyrepy_kernel *kernel, uint64_t deadline_ns);
int gyrepy_kernel_terminate(gyrepy_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled);
typedef struct { gyre_queue *queue; uint64_t owed; gyrepy_gate gate; uint32_t in_place; } gyrepy_lane;
int gyrepy_send(gyrepy_lane *lane, const void *requests, size_t size, size_t count, size_t *sent,
                uint64_t deadline_ns);
int gyrepy_receive(gyrepy_lane *lane, void *replies, size_t size, size_t count, gyre_completion *completions,
                   size_t *received, uint64_t deadline_ns);
int gyrepy_exchange(gyrepy_lane *lane, const void *request, size_t request_size, void *reply,
                    size_t reply_size, gyre_completion *completion, uint64_t deadline_ns);
int gyrepy_descriptor(gyrepy_lane *lane, int *descriptor);
int gyrepy_stats(gyrepy_lane *lane, gyre_queue_stats *stats);
int gyrepy_fetch(gyrepy_lane *lane, const void *message, size_t size, gyre_part part, size_t item_size,
                 void *items, size_t count);
typedef struct {
    const char *requests;
    size_t request_size;
    char *replies;
    size_t reply_size;
    uint8_t *outcomes;
    size_t count, sent, received, failures, first_failure;
    gyre_completion failure;
} gyrepy_batch;
int gyrepy_batch_run(gyrepy_lane *lane, gyrepy_batch *batch, uint64_t deadline_ns);

extern "Python" void gyrepy_log(void *context, int level, const char *text);
"""


def main() -> None:
    """Emits the module's source."""
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    ffi.set_source("gyre_kernels._native", '#include "batch.h"')
    ffi.emit_c_code(sys.argv[1])


if __name__ == "__main__":
    main()
