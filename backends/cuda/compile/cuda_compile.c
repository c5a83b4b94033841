/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operation `compile`: NVRTC (the vendor's compiler as a library) turns a unit of kernels into a cubin, in
 * this process. For a GPU newer than this NVRTC the result is a cubin that describes the kernels, and PTX
 * that the driver compiles (cuda_artifact.h). Takes no lock: any thread may compile, because each call has an
 * NVRTC program of its own. An unfinished file never appears under the name of a result.
 */
#include "backends/device/device_text.h"
#include "backends/cuda/compile/cuda_artifact.h"
#include "backends/cuda/compile/cuda_compile.h"
#include "backends/cuda/compile/cuda_parts.h"
#include "backends/cuda/driver/cuda_ranges.h"
#include "backends/cuda/compile/cuda_source.h"

#include "gyre/lack.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ARGUMENTS_MAX = 64,
    HEADERS_MAX = 128,
    ARCHITECTURES_MAX = 64,
    MINIMAL_SINCE = 1204,
    CACHE_SINCE = 1209,
    QUICK_SINCE = 1300
};

/*
 * --fmad=false: no contraction. a * b + c rounds twice, so that replies are equal on all machines and
 * backends; a handler that wants one rounding calls fmaf. The same option in the configuration replaces this
 * one.
 */
static const char *const fixed_options[] = {"--std=c++17", "--fmad=false"};

/*
 * For a cubin that only describes the kernels, beside PTX: the bodies of their entries, which take most of the time, become templates
 * that nothing calls (GYRE_ENTRY_ and GYRE_ENTRY_KEYED_ call what stays, which is empty). What a GPU runs is compiled without these.
 */
static const char *const description_options[] = {
    "--define-macro=gyre_reside_(...)=gyre_reside_(__VA_ARGS__) {} "
    "template <class K> GYRE_HELPER void gyre_unreached_(__VA_ARGS__)",
    "--define-macro=gyre_keyed_reside_(...)=gyre_keyed_reside_(__VA_ARGS__) {} "
    "template <class K> GYRE_HELPER void gyre_keyed_unreached_(__VA_ARGS__)",
};

/* Options for NVRTC: pointers into `text`, which holds all words one after the other. */
struct options {
    const char *words[ARGUMENTS_MAX];
    int count;
    size_t used;
    bool overflow;
    char text[16 * 1024];
};

/* What one run of NVRTC produces. */
enum form {
    WHOLE, /* a cubin that can be loaded */
    PTX,
    KERNEL, /* a cubin to be linked with parts */
    PARTS   /* the parts (code that all kernels share, cuda_parts.h) */
};

/* One compile. It owns the results that it takes from NVRTC. */
struct job {
    const gyre_device *device;
    const gyre_compile_desc *desc;
    const struct cuda_nvrtc *nvrtc;
    struct cuda_files *files; /* the files that this compile has read so far */
    char *unit;
    int number;   /* the number of the architecture that the cubin is for */
    char sm[32];  /* the name of that architecture */
    bool forward; /* the GPU is newer than NVRTC: the result includes PTX */
    struct cuda_image cubin, ptx, parts;
};

__attribute__((format(printf, 2, 3))) static void add_option(struct options *options, const char *format, ...)
{
    char *word = options->text + options->used;
    size_t room = sizeof options->text - options->used;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(word, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= room || options->count == ARGUMENTS_MAX) {
        options->overflow = true;
        return;
    }
    options->words[options->count++] = word;
    options->used += (size_t)length + 1;
}

static void add_words(struct options *options, const char *words)
{
    while (words && *words) {
        words += strspn(words, " \t\n");
        size_t length = strcspn(words, " \t\n");
        if (length)
            add_option(options, "%.*s", (int)length, words);
        words += length;
    }
}

static void add_fixed(struct options *options, const char *own)
{
    for (size_t i = 0; i < sizeof fixed_options / sizeof fixed_options[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s=", (int)strcspn(fixed_options[i], "="), fixed_options[i]);
        if (!own || !strstr(own, name))
            add_option(options, "%s", fixed_options[i]);
    }
}

/*
 * Adds the options that differ between the products. The parts may use 64
 * registers a thread, the share of each thread in a block of 1,024: parts do not know the kernel they will be
 * linked with.
 */
static void add_form(struct options *options, enum form form)
{
    if (form == KERNEL || form == PARTS)
        add_option(options, "--relocatable-device-code=true");
    if (form == KERNEL)
        add_option(options, "--define-macro=GYRE_CUDA_LINKED=1");
    if (form == PARTS)
        add_option(options, "--maxrregcount=64");
    if (form == PTX)
        add_option(options, "--define-macro=GYRE_CUDA_ANY_DEVICE=1");
}

/* No GPU runs this cubin. Of two options for the speed of the compile NVRTC obeys the last one. */
static void add_description(struct options *options, const struct cuda_nvrtc *nvrtc)
{
    for (size_t i = 0; i < sizeof description_options / sizeof description_options[0]; i++)
        add_option(options, "%s", description_options[i]);
    if (nvrtc->major * 100 + nvrtc->minor >= QUICK_SINCE)
        add_option(options, "--Ofast-compile=max");
}

static void fill_options(struct options *options, const struct job *job, enum form form)
{
    const char *const *folders = job->desc->include_directories;
    if (form == PTX)
        add_option(options, "--gpu-architecture=compute_%d", job->number);
    else
        add_option(options, "--gpu-architecture=%s", job->sm);
    add_fixed(options, job->desc->options);
    add_form(options, form);
    if (job->nvrtc->major * 100 + job->nvrtc->minor >= MINIMAL_SINCE)
        add_option(options, "--minimal"); /* no textures, no launches from the device: saves 7 ms */
    /* Gyre keeps compiled units itself; NVRTC's cache would never find one again */
    if (job->nvrtc->major * 100 + job->nvrtc->minor >= CACHE_SINCE)
        add_option(options, "--no-cache");
    add_words(options, job->desc->options);
    if (form == WHOLE && job->forward)
        add_description(options, job->nvrtc);
    for (size_t i = 0; folders && folders[i]; i++)
        add_option(options, "--include-path=%s", folders[i]);
}

/* ---- the architecture ---- */

static void list_architectures(const int *numbers, int count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used + 1 < size; i++) {
        int length = snprintf(text + used, size - used, "%ssm_%d", i ? ", " : "", numbers[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

/*
 * Chooses the device's own architecture if NVRTC knows it, otherwise the newest older architecture, whose PTX
 * the driver compiles for the device. A compile for another machine uses exactly the architecture that the
 * configuration names.
 */
static gyre_status choose_architecture(struct job *job)
{
    const char *wanted = job->desc->architecture ? job->desc->architecture : job->device->architecture;
    const int number = strncmp(wanted, "sm_", 3) == 0 ? atoi(wanted + 3) : 0;
    int known[ARCHITECTURES_MAX], count = 0, best = 0;
    char list[512];
    if (job->nvrtc->nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count > ARCHITECTURES_MAX ||
        job->nvrtc->nvrtcGetSupportedArchs(known) != NVRTC_SUCCESS)
        count = 0;
    for (int i = 0; i < count; i++)
        if (known[i] <= number && known[i] > best)
            best = known[i];
    job->forward = best != number && best > 0 && job->device->driver && !job->desc->architecture;
    job->number = job->forward ? best : number;
    if (job->forward)
        snprintf(job->sm, sizeof job->sm, "sm_%d", best);
    else
        snprintf(job->sm, sizeof job->sm, "%.31s", wanted);
    if (number > 0 && (best == number || job->forward))
        return GYRE_OK;
    list_architectures(known, count, list, sizeof list);
    return job->device->host->error(
        GYRE_UNAVAILABLE,
        "NVRTC %d.%d cannot compile for '%s'; it knows %s: choose one of these or "
        "install the NVRTC that belongs to the GPU",
        job->nvrtc->major, job->nvrtc->minor, wanted, list);
}

/* ---- running NVRTC ---- */

/* Appends the compiler's log to the caller's messages and returns its first error as the error sentence. */
static gyre_status explain_failure(const struct job *job, const char *log, nvrtcResult result)
{
    char sentence[600];
    cuda_first_error(log, sentence, sizeof sentence);
    if (sentence[0])
        return job->device->host->error(GYRE_FAILED, "%s", sentence);
    return job->device->host->error(GYRE_FAILED, "NVRTC failed with %d (%s) and said nothing", (int)result,
                                    job->nvrtc->nvrtcGetErrorString(result));
}

static char *read_log(const struct job *job, nvrtcProgram program)
{
    size_t size = 0;
    if (job->nvrtc->nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS)
        return NULL;
    char *log = calloc(1, size + 1);
    if (log && size > 0 && job->nvrtc->nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS)
        log[0] = '\0';
    return log;
}

static gyre_status compile_program(const struct job *job, nvrtcProgram program, const struct options *options)
{
    nvrtcResult result = job->nvrtc->nvrtcCompileProgram(program, options->count, options->words);
    char *log = read_log(job, program);
    if (log && job->desc->messages && job->desc->messages_size)
        snprintf(job->desc->messages, job->desc->messages_size, "%s", log);
    gyre_status status = result == NVRTC_SUCCESS ? GYRE_OK : explain_failure(job, log ? log : "", result);
    free(log);
    return status;
}

/*
 * Copies a result out of NVRTC, through the pair of functions `get_size` and `get`, and puts a zero byte
 * behind it.
 */
static gyre_status take_result(const struct job *job, nvrtcProgram program, const char *what,
                               nvrtcResult (*get_size)(nvrtcProgram, size_t *),
                               nvrtcResult (*get)(nvrtcProgram, char *), struct cuda_image *out)
{
    size_t size = 0;
    nvrtcResult result = get_size(program, &size);
    char *bytes = result == NVRTC_SUCCESS && size > 0 ? calloc(1, size + 1) : NULL;
    if (bytes)
        result = get(program, bytes);
    *out = (struct cuda_image){bytes, size};
    if (bytes && result == NVRTC_SUCCESS)
        return GYRE_OK;
    return job->device->host->error(GYRE_FAILED, "NVRTC gives no %s of %zu bytes: %d (%s)", what, size,
                                    (int)result, job->nvrtc->nvrtcGetErrorString(result));
}

static gyre_status take_results(struct job *job, nvrtcProgram program, enum form form)
{
    const struct cuda_nvrtc *nvrtc = job->nvrtc;
    if (form == PTX)
        return take_result(job, program, "PTX", nvrtc->nvrtcGetPTXSize, nvrtc->nvrtcGetPTX, &job->ptx);
    return take_result(job, program, "cubin", nvrtc->nvrtcGetCUBINSize, nvrtc->nvrtcGetCUBIN, &job->cubin);
}

/*
 * Makes a program of NVRTC. It gets the texts of Gyre's headers that were read already, so that NVRTC
 * searches no folders for them.
 */
static nvrtcResult create_program(const struct job *job, nvrtcProgram *program)
{
    const char *names[HEADERS_MAX], *texts[HEADERS_MAX];
    size_t count = cuda_files_headers(job->files, names, texts, HEADERS_MAX);
    return job->nvrtc->nvrtcCreateProgram(program, job->unit, job->desc->unit_path, (int)count, texts, names);
}

/* Runs NVRTC once, for one product. */
static gyre_status run_once(struct job *job, enum form form)
{
    const gyre_host *host = job->device->host;
    nvrtcProgram program = NULL;
    struct options *options = calloc(1, sizeof *options);
    if (!options)
        return host->error(GYRE_EXHAUSTED, "no memory for the compiler's options");
    fill_options(options, job, form);
    gyre_status status = GYRE_OK;
    nvrtcResult result = NVRTC_SUCCESS;
    if (options->overflow)
        status = host->error(GYRE_INVALID, "the compiler's options are too many or too long");
    else
        result = create_program(job, &program);
    if (result != NVRTC_SUCCESS)
        status = host->error(GYRE_FAILED, "nvrtcCreateProgram failed with %d (%s)", (int)result,
                             job->nvrtc->nvrtcGetErrorString(result));
    if (status == GYRE_OK)
        status = compile_program(job, program, options);
    if (status == GYRE_OK)
        status = take_results(job, program, form);
    if (program)
        job->nvrtc->nvrtcDestroyProgram(&program);
    free(options);
    return status;
}

/* ---- parts ---- */

/*
 * Whether an option changes the meaning of Gyre's headers in the parts, too. GYRE_STAGE, GYRE_LIMITED, GYRE_ASKS, GYRE_POOLS,
 * GYRE_ROUNDS, GYRE_LEVELS and GYRE_CHOICES only add to the kernel.
 */
static bool changes_headers(const char *options)
{
    for (const char *at = options ? strstr(options, "GYRE_") : NULL; at; at = strstr(at + 1, "GYRE_"))
        if (strncmp(at, "GYRE_STAGE=", strlen("GYRE_STAGE=")) != 0 &&
            strncmp(at, "GYRE_LIMITED=", strlen("GYRE_LIMITED=")) != 0 &&
            strncmp(at, "GYRE_ASKS=", strlen("GYRE_ASKS=")) != 0 &&
            strncmp(at, "GYRE_POOLS=", strlen("GYRE_POOLS=")) != 0 &&
            strncmp(at, "GYRE_ROUNDS=", strlen("GYRE_ROUNDS=")) != 0 &&
            strncmp(at, "GYRE_LEVELS=", strlen("GYRE_LEVELS=")) != 0 &&
            strncmp(at, "GYRE_CHOICES=", strlen("GYRE_CHOICES=")) != 0)
            return true;
    return false;
}

/*
 * Whether the unit has keyed actors or grid kernels, whose parts do more. The core writes this line, in front of the file's text; a file that has it as
 * well is compiled whole for nothing.
 */
static bool has_own_parts(const char *unit)
{
    return strstr(unit, "#define GYRE_KEYED 1\n") != NULL || strstr(unit, "#define GYRE_GRID 1\n") != NULL;
}

/*
 * Whether the parts fit this compile. They do not if an option changes the meaning of Gyre's headers: the
 * option would change the kernel but not its parts, which are compiled already.
 */
static bool parts_fit(struct job *job)
{
    const gyre_compile_desc *desc = job->desc;
    return !job->forward && !changes_headers(desc->options) && !has_own_parts(job->unit) &&
           cuda_parts_read(job->device, job->files, job->sm, desc->include_directories, &job->parts);
}

/*
 * Makes the cubin. A kernel is compiled whole if it cannot be linked with parts (the toolkit has no linker,
 * or another version).
 */
static gyre_status make_cubin(struct job *job)
{
    struct cuda_image linked;
    if (!parts_fit(job))
        return run_once(job, WHOLE);
    gyre_status status = run_once(job, KERNEL);
    if (status != GYRE_OK)
        return status;
    status = cuda_link(job->device->host, job->nvrtc, job->sm, &job->cubin, &job->parts, &linked);
    free(job->cubin.bytes);
    job->cubin = status == GYRE_OK ? linked : (struct cuda_image){0};
    return status == GYRE_OK ? status : run_once(job, WHOLE);
}

/* Refuses a compile that took too long. NVRTC cannot be interrupted, so this shows only when it ends. */
static gyre_status check_deadline(const struct job *job)
{
    if (job->device->host->now_ns() <= job->desc->deadline_ns)
        return GYRE_OK;
    return job->device->host->error(
        GYRE_TIMEOUT, "NVRTC did not end in the time that compile_timeout_ms allows; its result is not used");
}

/* ---- the result ---- */

static bool write_parts(const struct job *job, FILE *file)
{
    const struct cuda_artifact_end end = {.magic = CUDA_ARTIFACT_MAGIC, .ptx_size = job->ptx.size};
    if (fwrite(job->cubin.bytes, 1, job->cubin.size, file) != job->cubin.size)
        return false;
    return !job->ptx.bytes || (fwrite(job->ptx.bytes, 1, job->ptx.size, file) == job->ptx.size &&
                               fwrite(&end, sizeof end, 1, file) == 1);
}

static gyre_status write_artifact(const struct job *job)
{
    char path[PATH_MAX];
    const char *final = job->desc->artifact_path;
    int length = snprintf(path, sizeof path, "%s.new", final);
    if (length < 0 || (size_t)length >= sizeof path)
        return job->device->host->error(GYRE_INVALID, "the path '%s' is too long", final);
    FILE *file = fopen(path, "we");
    bool fine = file && write_parts(job, file);
    if (file && fclose(file) != 0)
        fine = false;
    if (fine && rename(path, final) == 0)
        return GYRE_OK;
    const int error = errno;
    unlink(path);
    return job->device->host->error(gyre_lack_status(error, GYRE_FAILED),
                                    "the compiled kernel cannot be written to '%s': %s%s", final,
                                    strerror(error), gyre_lack_remedy(error));
}

/*
 * Gives the files their final names, the list of dependencies first: whoever sees the artifact finds the
 * list, too.
 */
static gyre_status publish_artifact(const struct job *job)
{
    const gyre_compile_desc *desc = job->desc;
    if (desc->dependency_path && !cuda_dependencies_write(job->files, job->unit, desc->unit_path,
                                                          desc->include_directories, desc->dependency_path))
        return job->device->host->error(gyre_lack_status(errno, GYRE_FAILED),
                                        "the list of files read cannot be written to '%s': %s%s",
                                        desc->dependency_path, strerror(errno), gyre_lack_remedy(errno));
    return write_artifact(job);
}

static gyre_status run_job(struct job *job)
{
    gyre_status status = choose_architecture(job);
    job->unit = status == GYRE_OK ? device_text_read(job->desc->unit_path) : NULL;
    if (status == GYRE_OK && !job->unit)
        status = job->device->host->error(gyre_lack_status(errno, GYRE_FAILED),
                                          "the unit '%s' cannot be read: %s%s", job->desc->unit_path,
                                          strerror(errno), gyre_lack_remedy(errno));
    if (status == GYRE_OK)
        status = make_cubin(job);
    if (status == GYRE_OK && job->forward)
        status = run_once(job, PTX);
    if (status == GYRE_OK)
        status = check_deadline(job);
    return status == GYRE_OK ? publish_artifact(job) : status;
}

static void forget_job(struct job *job)
{
    cuda_files_destroy(job->files);
    free(job->unit);
    free(job->cubin.bytes);
    free(job->ptx.bytes);
    free(job->parts.bytes);
}

gyre_status cuda_compile(gyre_device *device, const gyre_compile_desc *desc)
{
    struct job job = {.device = device, .desc = desc, .files = cuda_files_create()};
    cuda_range_begin(device->host, "gyre: compile");
    gyre_status status =
        job.files ? GYRE_OK : device->host->error(GYRE_EXHAUSTED, "no memory for what a compile reads");
    if (status == GYRE_OK)
        status = cuda_nvrtc_open(device->host, device->settings.nvrtc, &job.nvrtc);
    if (status == GYRE_OK)
        status = run_job(&job);
    forget_job(&job);
    cuda_range_end();
    return status;
}

gyre_status cuda_compile_text(const gyre_device *device, const char *text, const char *options,
                              struct cuda_image *out)
{
    const gyre_compile_desc desc = {
        .size = sizeof desc, .unit_path = "combine", .options = options, .deadline_ns = UINT64_MAX};
    struct job job = {.device = device, .desc = &desc, .files = cuda_files_create(), .unit = strdup(text)};
    gyre_status status = job.files && job.unit
                             ? GYRE_OK
                             : device->host->error(GYRE_EXHAUSTED, "no memory for what a compile reads");
    if (status == GYRE_OK)
        status = cuda_nvrtc_open(device->host, device->settings.nvrtc, &job.nvrtc);
    if (status == GYRE_OK)
        status = choose_architecture(&job);
    if (status == GYRE_OK)
        status = run_once(&job, job.forward ? PTX : WHOLE);
    if (status == GYRE_OK) {
        struct cuda_image *made = job.forward ? &job.ptx : &job.cubin;
        *out = *made;
        *made = (struct cuda_image){0};
    }
    forget_job(&job);
    return status;
}

gyre_status cuda_parts_make(gyre_device *device, const char *include_folder, const char *folder)
{
    char name[96], path[PATH_MAX];
    const char *const folders[] = {include_folder, NULL};
    const gyre_compile_desc desc = {.size = sizeof desc,
                                    .unit_path = "parts",
                                    .include_directories = folders,
                                    .artifact_path = path,
                                    .deadline_ns = UINT64_MAX};
    struct job job = {.device = device, .desc = &desc, .files = cuda_files_create()};
    gyre_status status =
        job.files ? GYRE_OK : device->host->error(GYRE_EXHAUSTED, "no memory for what a compile reads");
    if (status == GYRE_OK)
        status = cuda_nvrtc_open(device->host, device->settings.nvrtc, &job.nvrtc);
    if (status == GYRE_OK)
        status = choose_architecture(&job);
    if (status == GYRE_OK && (!cuda_parts_name(job.sm, folders, name, sizeof name) ||
                              snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path))
        status =
            device->host->error(GYRE_FAILED, "the kernel headers in '%s' cannot be read", include_folder);
    job.unit = strdup(CUDA_PARTS_UNIT);
    if (status == GYRE_OK && !job.unit)
        status = device->host->error(GYRE_EXHAUSTED, "no memory for a unit");
    if (status == GYRE_OK)
        status = run_once(&job, PARTS);
    if (status == GYRE_OK)
        status = write_artifact(&job);
    forget_job(&job);
    return status;
}

/* The driver's version is part of the identity, because the driver compiles PTX to the end. */
void cuda_compiler_identity(const gyre_device *device, char *text, size_t size)
{
    const struct cuda_nvrtc *nvrtc;
    char driver[32] = "";
    text[0] = '\0';
    if (cuda_nvrtc_open(device->host, device->settings.nvrtc, &nvrtc) != GYRE_OK)
        return;
    if (device->driver)
        snprintf(driver, sizeof driver, ", driver for CUDA %d.%d", device->driver->version / 1000,
                 device->driver->version % 1000 / 10);
    snprintf(text, size, "NVRTC %d.%d (%.160s)%s", nvrtc->major, nvrtc->minor, nvrtc->path, driver);
}
