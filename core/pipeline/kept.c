/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes compiled kernels from the cache or from an artifact (a file compiled before), and puts them there: makes the
 * cache's key and an artifact's note, and checks whether an artifact fits the device. Takes no lock: each run owns
 * what it works with.
 */
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/pipeline/run.h"
#include "core/pipeline/unit.h"
#include "gyre/backend.h"
#include "gyre/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)

/* Part of the cache's key. Raise the last number when the meaning of the generated unit or of the note changes. */
static const char producer[] =
    GYRE_VERSION_TEXT " abi " TEXT(GYRE_ABI_MAJOR) "." TEXT(GYRE_ABI_MINOR) " pipeline 1";

static struct gyre_cache_part text_part(const char *text)
{
    return (struct gyre_cache_part){text, strlen(text)};
}

/* The path of the source that a compiled kernel is listed under. */
static const char *known_as(const struct gyre_run *run)
{
    return run->desc->written_for ? run->desc->written_for : run->source.path;
}

static void make_key(struct gyre_run *run)
{
    const struct gyre_dispatch *device = run->desc->device;
    const gyre_device_info *info = gyre_dispatch_device_info(device);
    const struct gyre_cache_part parts[] = {text_part(producer),
                                            text_part(gyre_dispatch_backend(device)),
                                            text_part(gyre_dispatch_build(device)),
                                            text_part(info->architecture),
                                            text_part(info->compiler),
                                            text_part(run->headers),
                                            text_part(run->options),
                                            text_part(known_as(run)),
                                            text_part(run->checked ? "checked" : "unchecked"),
                                            {run->source.text, run->source.size}};
    gyre_cache_key(parts, sizeof parts / sizeof parts[0], run->key);
}

/*
 * The kernel's options for the note. A compiled file that is written out once more keeps the options that it was
 * compiled with.
 */
static const char *options_noted(struct gyre_run *run)
{
    if (!run->source.is_artifact)
        return run->desc->options ? run->desc->options : "";
    gyre_artifact_note(&run->artifact, "options", run->options, sizeof run->options);
    return run->options;
}

/* A name in a note ends at a newline, so a name that holds a newline is cut. Only people read the name. */
static char *make_note(struct gyre_run *run)
{
    const gyre_device_info *info = gyre_dispatch_device_info(run->desc->device);
    char *text = NULL;
    size_t size = 0;
    FILE *note = open_memstream(&text, &size);
    if (!note)
        return NULL;
    fprintf(note,
            "backend %s\narchitecture %s\ncompiler %s\nabi %d\ngyre %s\nsource %s\nchecked %s\n"
            "handler %016llx\noptions %s\n",
            gyre_dispatch_backend(run->desc->device), info->architecture, info->compiler, GYRE_ABI_MAJOR,
            producer, known_as(run), run->checked ? "yes" : "no", (unsigned long long)run->handler,
            options_noted(run));
    if (fclose(note) == 0)
        return text;
    free(text);
    return NULL;
}

static void warn_unkept(struct gyre_run *run)
{
    if (run->cache.trouble[0])
        snprintf(run->report.warning, sizeof run->report.warning, "compiled kernels are not kept: %s",
                 run->cache.trouble);
}

void gyre_run_open_cache(struct gyre_run *run)
{
    char program[PATH_MAX];
    run->checked = run->settings.check != GYRE_CHECK_OFF && gyre_check_installed(program);
    gyre_cache_open(&run->cache, run->settings.cache_dir, run->settings.cache_size);
    warn_unkept(run);
    if (run->cache.usable)
        make_key(run);
}

static void tell_reused(struct gyre_run *run, const char *from)
{
    char checked[8];
    gyre_artifact_note(&run->artifact, "checked", checked, sizeof checked);
    gyre_run_tell(run, GYRE_STAGE_CHECK, GYRE_STAGE_CACHED, "%s",
                  strcmp(checked, "yes") == 0 ? "passed when it was compiled"
                                              : "not made when it was compiled");
    gyre_run_tell(run, GYRE_STAGE_GENERATE, GYRE_STAGE_CACHED, "not needed");
    gyre_run_tell(run, GYRE_STAGE_COMPILE, GYRE_STAGE_CACHED, "%s: %zu bytes", from,
                  run->artifact.image_size);
}

/* Writes the generated unit beside the cache's entry, under the entry's name and ".c", for debuggers and readers. */
static void keep_unit(const struct gyre_run *run)
{
    char path[PATH_MAX + 4], *text = NULL;
    snprintf(path, sizeof path, "%s.c", run->artifact_path);
    if (!run->settings.keep_source || access(path, F_OK) == 0)
        return;
    text = gyre_unit_text(&run->source);
    FILE *file = text ? fopen(path, "we") : NULL;
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    free(text);
}

bool gyre_run_find(struct gyre_run *run)
{
    uint64_t start = gyre_clock_ns();
    run->report.cache_hit = gyre_cache_find(&run->cache, run->key, run->artifact_path, &run->artifact);
    if (!run->report.cache_hit)
        return false;
    memcpy(run->report.artifact, run->artifact_path, sizeof run->report.artifact);
    keep_unit(run);
    tell_reused(run, "from the cache");
    run->report.stages[GYRE_STAGE_COMPILE].duration_ns = gyre_clock_ns() - start;
    return true;
}

void gyre_run_keep(struct gyre_run *run)
{
    char path[PATH_MAX], *note = make_note(run);
    struct gyre_cache_item item = {.key = run->key,
                                   .image = run->artifact.map,
                                   .image_size = run->artifact.image_size,
                                   .note = note,
                                   .dependencies = run->workspace.dependencies,
                                   .unit = run->workspace.unit,
                                   .started = run->started};
    bool unjudged = run->checked && run->check.verdict != GYRE_CHECK_PASSED;
    if (note && !unjudged && gyre_cache_store(&run->cache, &item, path)) {
        memcpy(run->artifact_path, path, sizeof path);
        memcpy(run->report.artifact, path, sizeof path);
        keep_unit(run);
    }
    warn_unkept(run);
    free(note);
}

/* ---- artifacts ---- */

static gyre_status compare_note(const struct gyre_run *run, const char *key, const char *mine,
                                const char *what)
{
    char found[256];
    const char *path = run->source.path;
    if (!gyre_artifact_note(&run->artifact, key, found, sizeof found))
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "'%s' does not say for which %s it was compiled: compile it again", path, what);
    if (strcmp(found, mine) != 0)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "'%s' was compiled for the %s '%s'; here it is '%s': compile it again for that",
                              path, what, found, mine);
    return GYRE_OK;
}

gyre_status gyre_run_take_artifact(struct gyre_run *run)
{
    uint64_t start = gyre_clock_ns();
    const gyre_device_info *info = gyre_dispatch_device_info(run->desc->device);
    gyre_status status = gyre_artifact_open(run->source.path, &run->artifact);
    if (status == GYRE_OK)
        status = compare_note(run, "abi", TEXT(GYRE_ABI_MAJOR), "ABI version");
    if (status == GYRE_OK)
        status = compare_note(run, "backend", gyre_dispatch_backend(run->desc->device), "backend");
    if (status == GYRE_OK)
        status = compare_note(run, "architecture", info->architecture, "architecture");
    if (status != GYRE_OK)
        return gyre_run_settle(run, GYRE_STAGE_DISCOVER, start, status);
    char handler[32];
    if (gyre_artifact_note(&run->artifact, "handler", handler, sizeof handler))
        run->handler = strtoull(handler, NULL, 16);
    memcpy(run->artifact_path, run->source.path, sizeof run->artifact_path);
    memcpy(run->report.artifact, run->source.path, sizeof run->report.artifact);
    tell_reused(run, "in the file");
    return GYRE_OK;
}

gyre_status gyre_run_check_output(const struct gyre_run *run)
{
    const char *path = run->desc->output;
    if (!path || run->source.is_artifact || !gyre_files_are_same(path, run->source.path))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID, "output: '%s' is the kernel's source, which would be lost: name another file", path);
}

gyre_status gyre_run_write_output(struct gyre_run *run)
{
    char *note = make_note(run);
    gyre_status status =
        note ? gyre_artifact_write(run->desc->output, run->artifact.map, run->artifact.image_size, note)
             : gyre_error_set(GYRE_EXHAUSTED, "no memory to write '%s'", run->desc->output);
    free(note);
    if (status == GYRE_OK)
        snprintf(run->report.artifact, sizeof run->report.artifact, "%s", run->desc->output);
    return status == GYRE_OK ? GYRE_OK : gyre_error_add(status, "output");
}
