#include "core/pipeline/pipeline.h"
#include "core/registry/registry.h"
#include "core/dispatch/dispatch.h"
#include "core/base/error.h"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    struct gyre_candidate c;
    memset(&c, 0, sizeof c);
    c.name = "cpu";
    c.origin = "";
    c.library = "/tmp/pl/gyre-cpu.so";
    struct gyre_dispatch *d;
    if (gyre_dispatch_open(&c, 0, NULL, NULL, &d)) {
        printf("open: %s\n", gyre_error_text());
        return 1;
    }
    struct gyre_build *b;
    struct gyre_pipeline_report r;
    for (int i = 1; i < argc; i++) {
        struct gyre_pipeline_desc desc = {.device = d, .source = argv[i], .report = &r};
        gyre_status s = gyre_pipeline_run_desc(&desc, &b);
        printf("== %s: %d %s\n", argv[i], s, s ? gyre_error_text() : "");
        for (int k = 0; k < 6; k++)
            printf("  %-9s %-12s %7.3f ms  %s\n", gyre_stage_word(k),
                   gyre_stage_state_word(r.stages[k].state), r.stages[k].duration_ns / 1e6, r.stages[k].text);
        if (r.messages[0])
            printf("messages:\n%s", r.messages);
        if (!s)
            for (size_t k = 0; k < gyre_build_count(b); k++)
                printf("   kernel %s %s\n", gyre_build_at(b, k)->name,
                       gyre_form_word(gyre_build_at(b, k)->form));
        gyre_build_release(b);
    }
    gyre_dispatch_close(d);
}
