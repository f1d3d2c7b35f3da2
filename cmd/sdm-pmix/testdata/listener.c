/* listener.c - a tool of another make that hears what debuggers announce:
 *
 *     listener URI
 *
 * It connects to a server, asks for the events by which sdm tells that a debugger comes to a job and
 * leaves it, and says "ready". For each event it prints its code, the namespace of the job, and its
 * text. It ends with its standard input. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <pmix_tool.h>

static void heard(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t n, pmix_info_t results[], size_t nresults, pmix_event_notification_cbfunc_fn_t done, void *data)
{
    const char *job = "", *text = "";
    (void) id; (void) source; (void) results; (void) nresults;
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) && info[i].value.type == PMIX_PROC) job = info[i].value.data.proc->nspace;
        if (!strcmp(info[i].key, PMIX_EVENT_TEXT_MESSAGE) && info[i].value.type == PMIX_STRING) text = info[i].value.data.string;
    }
    printf("%d %s %s\n", status, job, text);
    fflush(stdout);
    if (done != NULL) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

int main(int argc, char **argv)
{
    pmix_status_t codes[] = {PMIX_EXTERNAL_ERR_BASE - 1, PMIX_EXTERNAL_ERR_BASE - 2};
    pmix_proc_t self;
    pmix_info_t server;
    char end;
    if (argc != 2) return 2;
    PMIX_INFO_LOAD(&server, PMIX_SERVER_URI, argv[1], PMIX_STRING);
    if (PMIx_tool_init(&self, &server, 1) != PMIX_SUCCESS) return 1;
    if (PMIx_Register_event_handler(codes, 2, NULL, 0, heard, NULL, NULL) < 0) return 1;
    printf("ready\n");
    fflush(stdout);
    while (read(0, &end, 1) > 0);
    return PMIx_tool_finalize() == PMIX_SUCCESS ? 0 : 1;
}
