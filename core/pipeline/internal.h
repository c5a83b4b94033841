/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pipeline share: one struct and one file for each thing a run works with. */
#ifndef GYRE_CORE_PIPELINE_INTERNAL_H
#define GYRE_CORE_PIPELINE_INTERNAL_H

#include <pthread.h>

#include "core/base/temporary.h"
#include "core/cache/artifact.h"
#include "core/dispatch/dispatch.h"
#include "core/pipeline/pipeline.h"

enum { GYRE_KERNEL_NAME_SIZE = 64, GYRE_OPTIONS_SIZE = 2048 };

/* ---- settings.c ---- */

enum gyre_check_mode { GYRE_CHECK_AUTO = 0, GYRE_CHECK_ON = 1, GYRE_CHECK_OFF = 2 }; /* as in the table */

/** What the configuration says about compiling; texts live as long as the configuration. */
struct gyre_pipeline_settings {
    enum gyre_check_mode check;
    const char *cache_dir; /* "" keeps nothing */
    uint64_t cache_size, compile_timeout_ns;
    const char *options;          /* of the backend */
    const char *compiler_options; /* those of a backend that has a key for its own compiler's; else "" */
    uint64_t lane_stack;          /* bytes, of a backend that has the key; 0: another */
    bool keep_source;
};

void gyre_pipeline_settings_read(const struct gyre_config *config, const char *backend,
                                 struct gyre_pipeline_settings *settings);

/* ---- source.c ---- */

/** The thing to build: a kernel source with its text, or an artifact. */
struct gyre_source {
    char path[PATH_MAX], folder[PATH_MAX]; /* absolute, links resolved */
    char kernel[GYRE_KERNEL_NAME_SIZE];    /* "" when none is named */
    bool is_artifact;
    char *text; /* of a source; NUL-terminated, without a byte order mark */
    size_t size;
};

/** Finish with gyre_source_finish, also after a failure. */
gyre_status gyre_source_read(const char *name, struct gyre_source *source);
void gyre_source_finish(struct gyre_source *source);

/** included.c: refuses what would be read without end. Part of gyre_source_read. */
gyre_status gyre_source_check_included(const struct gyre_source *source);

/** Whether it is a C identifier of ASCII letters, so that "FILE:NAME", sections and variables can name it. */
bool gyre_is_kernel_name(const char *text);

/* ---- handler.c ---- */

/**
 * What the handlers of a source are known by, whichever backend compiles them: see gyre_build_handler. `headers`:
 * Gyre's own; `options`: all of the compiler's.
 */
uint64_t gyre_handler_hash(const struct gyre_source *source, const char *headers, const char *options);

/* ---- unit.c ---- */

/**
 * The translation unit for a source: the same text for every backend, because each dialect's header defines
 * what the end of a unit needs. NULL without memory; the caller frees it.
 */
char *gyre_unit_text(const struct gyre_source *source);

/* ---- workspace.c ---- */

/** A folder of its own for one run of a compiler. */
struct gyre_workspace {
    struct gyre_temporary folder;
    char unit[PATH_MAX], image[PATH_MAX], dependencies[PATH_MAX];
};

gyre_status gyre_workspace_create(struct gyre_workspace *workspace);
/** Writes the unit. */
gyre_status gyre_workspace_write_unit(const struct gyre_workspace *workspace, const char *text);
/** Removes the folder and all in it. Accepts one that was never created (zeroed). */
void gyre_workspace_remove(struct gyre_workspace *workspace);

/* ---- check.c ---- */

enum gyre_check_verdict {
    GYRE_CHECK_PASSED,
    GYRE_CHECK_REFUSED,    /* a rule of the dialect is broken, no kernel, two of one name */
    GYRE_CHECK_UNPARSED,   /* the parser met an error that a compiler will report as well */
    GYRE_CHECK_UNAVAILABLE /* no checker, or it did not do its work */
};

/** One run of gyre-check in a thread of its own. */
struct gyre_check {
    const struct gyre_source *source;
    const char *headers;
    const char *compiler_options, *options; /* the compiler's, in the order of its command: those of the
                                               preprocessor are the check's too */
    uint64_t lane_stack;                    /* 0: not known */
    uint64_t deadline_ns;
    bool running;
    pthread_t thread;
    /* the result: */
    enum gyre_check_verdict verdict;
    enum gyre_stage stage; /* to which a refusal belongs: discover or check */
    gyre_status status;    /* of everything but PASSED */
    uint32_t kernel_count;
    uint64_t duration_ns;
    char sentence[1024];
    char messages[4096];
};

/** Where the helper program is, or should be. False when it is not installed. */
bool gyre_check_installed(char path[PATH_MAX]);
/** Starts the check; when no thread can be had, it is done at once. */
void gyre_check_start(struct gyre_check *check);
/** Waits for the result. May be called again. */
void gyre_check_join(struct gyre_check *check);
/** Reads what gyre-check wrote into the result. For any text. */
void gyre_check_read(struct gyre_check *check, char *text);

/* ---- build.c ---- */

struct gyre_build {
    struct gyre_dispatch *device;
    gyre_module *module;
    gyre_kernel_record *records;
    size_t count, migrations; /* behind the kernels */
    char kernel[GYRE_KERNEL_NAME_SIZE];
    char file[PATH_MAX];
    uint64_t handler;                /* 0: unknown */
    bool compiled_before;            /* the file is an artifact, with `options` for good */
    char options[GYRE_OPTIONS_SIZE]; /* of the kernel, as the artifact notes them */
    struct gyre_pipeline_report report;
};

gyre_status gyre_build_create(struct gyre_dispatch *device, const struct gyre_source *source,
                              struct gyre_build **out);
/** Stage load: the artifact at `path` becomes the build's module. */
gyre_status gyre_build_load(struct gyre_build *build, const char *path, const struct gyre_artifact *artifact);
/** Stage verify; writes what was found to `text`. */
gyre_status gyre_build_verify(const struct gyre_build *build, char *text, size_t size);

#endif
