/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for observation files that dead processes left (doctor.h). Removes a file only while nobody has the lock on it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/observation/observation_folder.h"
#include "core/observation/observed.h"

/* Removes the file, and that of those who asked its writer for a trace. False with errno. */
static bool remove_file(const char *path)
{
    char asks[GYRE_OBSERVATION_PATH_MAX];
    if (unlink(path) != 0)
        return false;
    if (gyre_observation_ask_path(path, asks))
        unlink(asks);
    return true;
}

/* A file that is no observation file, or of another version, has no writer that could be asked: it is only told. */
static void look_at_file(doctor_report *report, const struct gyre_observed_file *file, size_t *living)
{
    const char *path = file->path;
    struct gyre_observed seen;
    enum gyre_observed_life life = GYRE_OBSERVED_LIVES;
    const gyre_status status = gyre_observed_read(path, &seen, &life);
    if (status != GYRE_OK && status != GYRE_NOT_FOUND && status != GYRE_AGAIN)
        doctor_find(report, DOCTOR_NOTE, "observation", "%s", gyre_error_text());
    gyre_error_clear();
    if (status != GYRE_OK)
        return;
    if (!gyre_observed_is_believed(file, &seen)) {
        doctor_find(report, DOCTOR_NOTE, "observation", "'%s' belongs to user %u, and is not believed", path,
                    (unsigned)seen.owner);
        gyre_observed_finish(&seen);
        return;
    }
    *living += life != GYRE_OBSERVED_DEAD;
    const bool own = seen.owner == geteuid(); /* what another user's process said last is that user's */
    if (life == GYRE_OBSERVED_DEAD)
        doctor_tell_left(report, report->clean && own && remove_file(path), "observation", path,
                         "what a killed process said last; gyre stat --file shows it");
    gyre_observed_finish(&seen);
}

/* Dumps are told, and stay: their number is limited, and they are kept to be looked at. */
static void look_at_dumps(doctor_report *report, const gyre_runtime *runtime, const char *folder)
{
    struct gyre_observed_file *files = NULL;
    size_t count = 0;
    const char *dumps = gyre_config_text(gyre_runtime_config(runtime), GYRE_SECTION_OBSERVE, NULL, "dumps");
    if (gyre_observed_find_dumps(dumps, folder, &files, &count) != GYRE_OK)
        gyre_error_clear();
    for (size_t i = 0; i < count; i++)
        doctor_find(
            report, DOCTOR_NOTE, "observation",
            "'%s' is what a process kept of itself after a stall or a loss; gyre stat --file shows it",
            files[i].path);
    gyre_observed_files_free(files, count);
}

void doctor_look_at_observations(doctor_report *report, const gyre_runtime *runtime)
{
    struct gyre_observed_file *files = NULL;
    size_t count = 0, living = 0;
    char sentence[1200];
    const char *folder = gyre_config_text(gyre_runtime_config(runtime), GYRE_SECTION_OBSERVE, NULL, "folder");
    if (gyre_observed_folder_refused(folder, sentence, sizeof sentence))
        doctor_find(report, DOCTOR_NOTE, "observation", "%s", sentence);
    if (gyre_observed_find(folder, &files, &count) != GYRE_OK) {
        doctor_find(report, DOCTOR_NOTE, "observation", "%s", gyre_error_text());
        gyre_error_clear();
        return;
    }
    for (size_t i = 0; i < count; i++)
        look_at_file(report, &files[i], &living);
    gyre_observed_files_free(files, count);
    look_at_dumps(report, runtime, folder);
    doctor_find(report, DOCTOR_OK, "observation", "%zu living process%s can be seen; gyre stat shows them",
                living, living == 1 ? "" : "es");
}
