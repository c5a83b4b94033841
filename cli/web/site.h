/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre web` shows at which path: the page, and what processes say of themselves in the forms of `gyre stat`. */
#ifndef GYRE_CLI_WEB_SITE_H
#define GYRE_CLI_WEB_SITE_H

#include "cli/observed/rates.h"
#include "cli/observed/trace_take.h"
#include "cli/web/server.h"

typedef struct web_site {
    observed_source source;
    observed_processes processes; /* as of the last look */
    rates_table table;
    uint64_t fresh_until_ns;          /* until then they are shown; 0: nothing was read */
    bool is_known;                    /* that look succeeded */
    web_text *metrics, *json, *event; /* made of them when first asked for; NULL: not yet */
    trace_recording trace;            /* for /trace */
    bool traces;                      /* it is being taken, or its text is on its way */
    web_text *traced;                 /* that text; NULL: not yet */
} web_site;

/** As web_server_desc has them; `context` is a web_site. */
void web_site_answer(void *context, const web_request *request, web_answer *out);
void web_site_tick(void *context, web_server *server);
bool web_site_step(void *context, web_server *server, size_t waiting);
void web_site_finish(web_site *site);

#endif
