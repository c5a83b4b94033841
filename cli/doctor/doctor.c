/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The looks of gyre doctor (doctor.h). No state. Never touches a thing that may belong to a living process. It removes a file
 * of the cache when the process in the file's name is gone, a temporary folder when no process holds its lock, a socket when no
 * process listens, and a worker when its parent is not its program any more.
 */
#include "cli/doctor/doctor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/error.h"
#include "core/base/file_write.h"
#include "core/base/places.h"
#include "core/base/process.h"
#include "core/base/temporary.h"
#include "core/base/text.h"
#include "core/cache/cache.h"
#include "core/isolation/worker.h"
#include "core/pipeline/pipeline.h"
#include "core/registry/registry.h"
#include "core/device/devices.h"
#include "core/api/tools.h"
#include "gyre/lack.h"
#include "gyre/waiting.h"

/* of gyre-check: how long it may take to start, and its code for a wrong call */
enum { DESCRIPTORS_WANTED = 256, CHECK_WAIT_NS = 2000000000, USAGE_CODE = 2 };

void doctor_find(doctor_report *report, doctor_state state, const char *what, const char *format, ...)
{
    va_list arguments;
    if (report->count == DOCTOR_FINDINGS_MAX)
        return;
    doctor_finding *finding = &report->findings[report->count++];
    finding->state = state;
    snprintf(finding->what, sizeof finding->what, "%s", what);
    va_start(arguments, format);
    vsnprintf(finding->about, sizeof finding->about, format, arguments);
    va_end(arguments);
}

/* ---- what is needed ---- */

static void look_for_helper(doctor_report *report, const char *name, const char *without)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", gyre_place_helpers(), name);
    if (access(path, X_OK) == 0)
        doctor_find(report, DOCTOR_OK, name, "%s", path);
    else
        doctor_find(report, DOCTOR_NOTE, name, "%s: %s; %s", path, strerror(errno), without);
}

static void look_for_headers(doctor_report *report)
{
    const char *folder = gyre_build_headers();
    doctor_find(report, folder ? DOCTOR_OK : DOCTOR_NOTE, "headers", "%s",
                folder ? folder : gyre_error_text());
}

/* Looks whether gyre-check runs. It loads libclang when it starts; started without arguments, it then prints its usage. */
static void look_for_check(doctor_report *report)
{
    char path[4096], errors[512] = "";
    snprintf(path, sizeof path, "%s/gyre-check", gyre_place_helpers());
    const char *const arguments[] = {path, NULL};
    const struct gyre_process_desc desc = {.arguments = arguments,
                                           .deadline_ns = gyre_clock_ns() + CHECK_WAIT_NS,
                                           .errors = errors,
                                           .errors_size = sizeof errors};
    struct gyre_process_end end = {0};
    const bool there = access(path, X_OK) == 0;
    const gyre_status status = there ? gyre_process_run(&desc, &end) : GYRE_OK;
    if (!errors[0])
        snprintf(errors, sizeof errors, end.signal ? "signal %d" : "exit code %d",
                 end.signal ? end.signal : end.exit_code);
    if (status != GYRE_OK)
        doctor_find(report, DOCTOR_NOTE, "gyre-check", "cannot be tried: %s", gyre_error_cause());
    else if (there && end.exit_code != USAGE_CODE)
        doctor_find(report, DOCTOR_NOTE, "gyre-check",
                    "%s does not start, and handlers are compiled without the check of the dialect: %.*s; "
                    "install the libclang that it was built with",
                    path, (int)strcspn(errors, "\n"), errors);
    else
        look_for_helper(report, "gyre-check",
                        "handlers are compiled without the check of the dialect: "
                        "install libclang and build again");
}

/* Looks for the compiler of a backend's device 0. `gyre backends` tells why a backend cannot start, so this look does not. */
static void look_for_compiler(doctor_report *report, gyre_runtime *runtime, const char *backend,
                              const char *chosen, const char *without)
{
    char what[32];
    struct gyre_dispatch *device;
    if (gyre_runtime_device(runtime, backend, 0, &device) != GYRE_OK) {
        gyre_error_clear();
        return;
    }
    const char *compiler = gyre_dispatch_device_info(device)->compiler;
    snprintf(what, sizeof what, "%s compiler", backend);
    if (compiler[0])
        doctor_find(report, DOCTOR_OK, what, "%s", compiler);
    else
        doctor_find(
            report, strcmp(backend, chosen) == 0 ? DOCTOR_PROBLEM : DOCTOR_NOTE, what,
            "none: sources cannot be compiled for it, only files that `gyre compile -o` wrote run; %s",
            without);
}

/* Tells which parts the build of this Gyre left out. */
static void look_for_left_out(doctor_report *report, const struct gyre_config *config)
{
    struct gyre_registry *registry = NULL;
    const size_t count =
        gyre_registry_create(config, &registry) == GYRE_OK ? gyre_registry_count(registry) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct gyre_candidate *candidate = gyre_registry_at(registry, i);
        if (!candidate->built && candidate->enabled && gyre_registry_judge(registry, i) != GYRE_OK)
            doctor_find(report, DOCTOR_NOTE, candidate->name, "%s", candidate->reason);
    }
    gyre_registry_destroy(registry);
    gyre_error_clear();
}

void doctor_look_at_backends(doctor_report *report, gyre_runtime *runtime)
{
    char without[512];
    gyre_backend_choice choice = {.size = sizeof choice};
    if (gyre_backend_choose(runtime, NULL, &choice) == GYRE_OK)
        doctor_find(report, DOCTOR_OK, "backend", "%s would be used; gyre backends tells of the others",
                    choice.name);
    else
        doctor_find(report, DOCTOR_PROBLEM, "backend", "%s", gyre_error_text());
    look_for_left_out(report, gyre_runtime_config(runtime));
    snprintf(
        without, sizeof without,
        "'%s' (backend.cpu.compiler) is not here: install one (Debian, Ubuntu: apt install gcc libc6-dev)",
        gyre_config_text(gyre_runtime_config(runtime), GYRE_SECTION_BACKEND, "cpu", "compiler"));
    look_for_compiler(report, runtime, "cpu", choice.name, without);
    look_for_compiler(report, runtime, "cuda", choice.name,
                      "install NVRTC (libnvrtc, of the CUDA toolkit), or name it in backend.cuda.nvrtc");
    look_for_headers(report);
    look_for_check(report);
    look_for_helper(report, "gyre-worker",
                    "isolation = process cannot be used: install it beside the library");
}

void doctor_look_at_limits(doctor_report *report)
{
    struct rlimit descriptors = {0}, locked = {0};
    getrlimit(RLIMIT_NOFILE, &descriptors);
    getrlimit(RLIMIT_MEMLOCK, &locked);
    doctor_find(
        report, descriptors.rlim_cur >= DESCRIPTORS_WANTED ? DOCTOR_OK : DOCTOR_NOTE, "descriptors",
        "a process may open %llu; a queue takes 1, an attached one 3, a worker process 4, one that stands by 3",
        (unsigned long long)descriptors.rlim_cur);
    if (locked.rlim_cur == RLIM_INFINITY)
        doctor_find(report, DOCTOR_OK, "locked memory", "no limit");
    else
        doctor_find(report, DOCTOR_OK, "locked memory",
                    "%llu KiB; GPU drivers lock the memory of queues beyond it",
                    (unsigned long long)locked.rlim_cur / 1024);
}

/* ---- what was left ---- */

void doctor_tell_left(doctor_report *report, bool removed, const char *what, const char *path,
                      const char *why)
{
    if (report->clean && !removed)
        doctor_find(report, DOCTOR_PROBLEM, what, "%s: %s, and cannot be removed: %s", path, why,
                    strerror(errno));
    else
        doctor_find(report, removed ? DOCTOR_REMOVED : DOCTOR_LEFT, what, "%s: %s", path, why);
}

/* True for a file "NAME.PROCESS.NUMBER.tmp" whose writer, PROCESS, is gone. */
static bool is_orphaned_file(const char *name)
{
    const char *end = strstr(name, ".tmp");
    long process = 0;
    if (!end || end[4])
        return false;
    const char *number = end, *dot;
    while (number > name && number[-1] != '.')
        number--;
    for (dot = number - 1; dot > name && dot[-1] != '.';)
        dot--;
    process = strtol(dot, NULL, 10);
    return process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

static void look_at_key(doctor_report *report, const char *folder)
{
    DIR *files = opendir(folder);
    for (struct dirent *entry; files && (entry = readdir(files));) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof path || !is_orphaned_file(entry->d_name))
            continue;
        doctor_tell_left(report, report->clean && unlink(path) == 0, "cache", path, "its writer died");
    }
    if (files)
        closedir(files);
}

/* Writes and removes a file as large as a small kernel. Returns 0, or the errno that keeps kernels out of the folder. */
static int try_to_keep(const char *folder)
{
    static const char nothing[65536];
    char path[PATH_MAX];
    int error = 0;
    snprintf(path, sizeof path, "%s/doctor.%ld.tmp", folder, (long)getpid());
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return errno;
    for (size_t done = 0; done < sizeof nothing && !error;) {
        const ssize_t wrote = gyre_file_write(file, nothing + done, sizeof nothing - done);
        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            error = wrote == 0 ? ENOSPC : errno;
    }
    if (close(file) != 0 && !error)
        error = errno;
    unlink(path);
    return error;
}

static void look_at_entries(doctor_report *report, const struct gyre_cache *cache)
{
    struct gyre_cache_entry *entries = NULL;
    size_t count = 0;
    uint64_t total = 0;
    if (gyre_cache_list(cache, &entries, &count) != GYRE_OK) {
        doctor_find(report, DOCTOR_PROBLEM, "cache", "%s", gyre_error_text());
        return;
    }
    for (size_t i = 0; i < count; i++) {
        total += entries[i].size;
        if (entries[i].damaged)
            doctor_tell_left(report, report->clean && unlink(entries[i].path) == 0, "cache", entries[i].path,
                             "damaged");
    }
    doctor_find(report, DOCTOR_OK, "cache", "%zu compiled kernel%s, %llu of at most %llu bytes, in %s", count,
                gyre_text_plural(count), (unsigned long long)total, (unsigned long long)cache->size_max,
                cache->folder);
    const int error = try_to_keep(cache->folder);
    if (error)
        doctor_find(
            report, DOCTOR_NOTE, "cache",
            "%s: %s; kernels that are not in it are compiled at every start: %s, or name another folder in "
            "gyre.cache_dir",
            cache->folder, strerror(error),
            gyre_lack_status(error, GYRE_OK) == GYRE_EXHAUSTED ? "make room there" : "make it writable");
    free(entries);
}

void doctor_look_at_cache(doctor_report *report, const gyre_runtime *runtime)
{
    struct gyre_cache cache;
    char key[PATH_MAX];
    gyre_cache_open(
        &cache, gyre_config_text(gyre_runtime_config(runtime), GYRE_SECTION_GYRE, NULL, "cache_dir"),
        (uint64_t)gyre_config_int(gyre_runtime_config(runtime), GYRE_SECTION_GYRE, NULL, "cache_size"));
    if (!cache.usable) {
        doctor_find(report, DOCTOR_NOTE, "cache", "%s",
                    cache.trouble[0] ? cache.trouble : "turned off: every start compiles its kernels");
        return;
    }
    look_at_entries(report, &cache);
    DIR *keys = opendir(cache.folder);
    for (struct dirent *entry; keys && (entry = readdir(keys));) {
        int length = snprintf(key, sizeof key, "%s/%s", cache.folder, entry->d_name);
        if (entry->d_name[0] != '.' && length > 0 && (size_t)length < sizeof key)
            look_at_key(report, key);
    }
    if (keys)
        closedir(keys);
}

static void tell_folder(void *context, const char *path)
{
    doctor_report *report = context;
    doctor_tell_left(report, report->clean && gyre_temporary_delete(path) == 0, "temporary", path,
                     "a compile that was ended");
}

void doctor_look_at_temporary(doctor_report *report)
{
    struct gyre_temporary folder;
    if (gyre_temporary_make(&folder, "/tmp") != GYRE_OK)
        doctor_find(report, DOCTOR_PROBLEM, "temporary", "nothing can be compiled: %s", gyre_error_cause());
    else
        gyre_temporary_remove(&folder);
    gyre_temporary_each_left(tell_folder, report);
}

void doctor_look_at_socket(doctor_report *report, const gyre_runtime *runtime)
{
    char path[GYRE_PLACE_MAX];
    struct stat about;
    int connection = -1;
    const char *configured =
        gyre_config_text(gyre_runtime_config(runtime), GYRE_SECTION_GYRE, NULL, "socket");
    if (gyre_place_could_serve(configured) != GYRE_OK) {
        doctor_find(report, DOCTOR_PROBLEM, "server", "none, and gyre serve starts none: %s",
                    gyre_error_text());
        return;
    }
    if (gyre_place_find(configured, false, path) != GYRE_OK || lstat(path, &about) != 0) {
        gyre_error_clear();
        doctor_find(report, DOCTOR_OK, "server", "none; gyre serve starts one");
        return;
    }
    gyre_status status = gyre_place_socket(&connection);
    if (status == GYRE_OK)
        status = gyre_place_connect(path, gyre_in_ms(1000), connection);
    if (connection >= 0)
        close(connection);
    if (status == GYRE_OK) {
        doctor_find(report, DOCTOR_OK, "server", "one serves at %s", path);
    } else if (S_ISSOCK(about.st_mode) && about.st_uid == geteuid() && gyre_place_is_dead(path)) {
        doctor_tell_left(report, report->clean && gyre_place_remove_dead(path), "server", path,
                         "nobody listens any more");
    } else {
        doctor_find(report, DOCTOR_NOTE, "server", "%s", gyre_error_text());
    }
}

typedef enum worker_role { WORKER_NOT, WORKER_AT_WORK, WORKER_STANDS_BY } worker_role;

static worker_role role_of(const char *name)
{
    if (strncmp(name, "(" GYRE_WORKER_PROGRAM ")", sizeof GYRE_WORKER_PROGRAM + 1) == 0)
        return WORKER_AT_WORK;
    bool stands_by = strncmp(name, "(" GYRE_STANDBY_NAME ")", sizeof GYRE_STANDBY_NAME + 1) == 0;
    return stands_by ? WORKER_STANDS_BY : WORKER_NOT;
}

/* The role of a process of this user. A worker's parent is its program, and the worker ends with its program, unless it was
 * stopped at that moment. */
static worker_role look_at_process(const char *pid, bool *orphaned)
{
    char path[300], text[512], state;
    long parent = 0;
    struct stat about;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    bool own = file && fstat(fileno(file), &about) == 0 && about.st_uid == geteuid();
    if (file)
        fclose(file);
    text[length] = '\0';
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!own || !name || !end || sscanf(end + 2, "%c %ld", &state, &parent) != 2 || state == 'Z')
        return WORKER_NOT;
    *orphaned = parent == 1;
    return role_of(name);
}

void doctor_look_at_workers(doctor_report *report)
{
    size_t count[WORKER_STANDS_BY + 1] = {0};
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        bool orphaned = false;
        worker_role role =
            isdigit((unsigned char)entry->d_name[0]) ? look_at_process(entry->d_name, &orphaned) : WORKER_NOT;
        if (role == WORKER_NOT || !orphaned) {
            count[role]++;
            continue;
        }
        bool ended = report->clean && kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL) == 0;
        doctor_tell_left(report, ended, "worker", entry->d_name,
                         "a process of gyre-worker whose program is gone");
    }
    if (processes)
        closedir(processes);
    doctor_find(report, DOCTOR_OK, "workers", "%zu at work for living programs, %zu stand by",
                count[WORKER_AT_WORK], count[WORKER_STANDS_BY]);
}
