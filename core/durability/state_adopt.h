/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a state from an earlier type to a kernel's: by migrations of the kernel's file (migrate.h), then by the names of fields. */
#ifndef GYRE_CORE_DURABILITY_STATE_ADOPT_H
#define GYRE_CORE_DURABILITY_STATE_ADOPT_H

#include "core/device/runtime.h"
#include "core/types/types.h"

/** The two layouts of a value that is converted: in the journal, and in the present kernel. */
struct gyre_upgrade_step {
    gyre_layout *from, *to;
    bool same;
};

/** Makes both layouts. Call gyre_upgrade_step_finish afterwards, even after a failure. */
gyre_status gyre_upgrade_step_begin(const gyre_type *from, const gyre_type *to,
                                    struct gyre_upgrade_step *step);
void gyre_upgrade_step_finish(struct gyre_upgrade_step *step);

/** Converts the elements of a part, of which gyre_layout_check_adopt said OK: a state is one value of its type, a buffer is many. */
gyre_status gyre_upgrade_elements(const struct gyre_upgrade_step *step, const unsigned char *from,
                                  uint64_t count, unsigned char *out);

struct gyre_state_change {
    const gyre_kernel *kernel; /* whose build has the migrations, and on whose device they run */
    const gyre_type *from, *to;
    const char *
        where; /* where the state comes from, for the log, as in " in the journal 'PATH'"; "" for a kernel that runs */
};

/** OK when gyre_state_adopt finds a way, unless a migration fails. INCOMPATIBLE, with the first field that is in the way. */
gyre_status gyre_state_check_adopt(const struct gyre_state_change *change);
/** Converts a state. `out` holds the initial content, which stays in fields that the earlier type has not. */
gyre_status gyre_state_adopt(const struct gyre_state_change *change, const unsigned char *value,
                             unsigned char *out);

#endif
