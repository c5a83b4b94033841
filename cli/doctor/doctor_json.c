/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre doctor` found, as JSON (doctor_json.h), and the order of its looks. No state. */
#include "cli/doctor/doctor_json.h"

#include "cli/json/json.h"

const char *doctor_state_word(doctor_state state)
{
    static const char *const words[] = {"ok", "note", "left", "removed", "problem"};
    return words[state];
}

json_t *doctor_json(const doctor_report *report)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(
            rows, cli_json_object("sss", "state", doctor_state_word(report->findings[i].state), "what",
                                  report->findings[i].what, "about", report->findings[i].about));
    return rows;
}

void doctor_look_at_all(doctor_report *report, gyre_runtime *runtime)
{
    doctor_look_at_backends(report, runtime);
    doctor_look_at_limits(report);
    doctor_look_at_cache(report, runtime);
    doctor_look_at_temporary(report);
    doctor_look_at_socket(report, runtime);
    doctor_look_at_observations(report, runtime);
    doctor_look_at_workers(report);
}
