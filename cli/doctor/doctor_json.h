/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre doctor` found, for readers that are programs. */
#ifndef GYRE_CLI_DOCTOR_DOCTOR_JSON_H
#define GYRE_CLI_DOCTOR_DOCTOR_JSON_H

#include <jansson.h>

#include "cli/doctor/doctor.h"

/** "ok", "note", "left", "removed", "problem". */
const char *doctor_state_word(doctor_state state);
/** An array of objects {state, what, about}. */
json_t *doctor_json(const doctor_report *report);
/** Looks at everything, in the order in which it is told. */
void doctor_look_at_all(doctor_report *report, gyre_runtime *runtime);

#endif
