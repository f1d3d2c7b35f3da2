/* server.c - a PMIx server that does what no real one can be brought to do at a chosen moment:
 *
 *     server DIRECTORY [MOMENT]
 *
 * It writes its rendezvous file below DIRECTORY and says "ready". It refuses spawns with a required
 * directive that it does not know, honours allocations (it says what it was asked for), and answers
 * queries in part. Its jobs have one process, itself. It exits when it is asked for MOMENT: connect,
 * query, spawn, control or notify. It ends with its standard input. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pmix_server.h>

static const char *moment = "";
static int jobs;

static void at(const char *now)
{
    if (!strcmp(now, moment)) _exit(7);
}

static bool is_known(const char *key)
{
    static const char *known[] = {PMIX_ALLOC_NUM_NODES, PMIX_ALLOC_TIME, PMIX_DEBUG_STOP_IN_INIT};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(key, known[i])) return true;
    return false;
}

static pmix_status_t spawn(const pmix_proc_t *by, const pmix_info_t info[], size_t n, const pmix_app_t apps[], size_t napps, pmix_spawn_cbfunc_t answer, void *data)
{
    pmix_nspace_t name;
    (void) by; (void) apps; (void) napps;
    at("spawn");
    for (size_t i = 0; i < n; i++) {
        if (PMIX_INFO_IS_REQUIRED(&info[i]) && !is_known(info[i].key)) return PMIX_ERR_NOT_SUPPORTED;
        if (!strcmp(info[i].key, PMIX_ALLOC_NUM_NODES) && info[i].value.type == PMIX_UINT64) printf("nodes %lu\n", (unsigned long) info[i].value.data.uint64);
        if (!strcmp(info[i].key, PMIX_ALLOC_TIME) && info[i].value.type == PMIX_UINT32) printf("seconds %u\n", info[i].value.data.uint32);
    }
    fflush(stdout);
    snprintf(name, sizeof name, "odd-host-1@%d", ++jobs);
    answer(PMIX_SUCCESS, name, data);
    return PMIX_SUCCESS;
}

/* query answers "sdm.partial" in part, knows the table of this host, and no other key. */
static pmix_status_t query(pmix_proc_t *by, pmix_query_t *queries, size_t n, pmix_info_cbfunc_t answer, void *data)
{
    static pmix_info_t one;
    (void) by; (void) n;
    at("query");
    if (!strcmp(queries[0].keys[0], PMIX_QUERY_LOCAL_PROC_TABLE)) {
        pmix_proc_info_t row = {.hostname = "n0", .executable_name = "/./a", .pid = getpid(), .state = PMIX_PROC_STATE_CONNECTED};
        pmix_data_array_t table = {PMIX_PROC_INFO, 1, &row};
        PMIX_LOAD_PROCID(&row.proc, "odd-host-1@1", 0);
        PMIX_INFO_LOAD(&one, PMIX_QUERY_LOCAL_PROC_TABLE, &table, PMIX_DATA_ARRAY);
        answer(PMIX_SUCCESS, &one, 1, data, NULL, NULL);
        return PMIX_SUCCESS;
    }
    if (strcmp(queries[0].keys[0], "sdm.partial")) return PMIX_ERR_NOT_FOUND;
    PMIX_INFO_LOAD(&one, "sdm.partial", "half", PMIX_STRING);
    answer(PMIX_QUERY_PARTIAL_SUCCESS, &one, 1, data, NULL, NULL);
    return PMIX_SUCCESS;
}

static void connected(pmix_info_t *info, size_t n, pmix_tool_connection_cbfunc_t answer, void *data)
{
    pmix_proc_t tool;
    (void) info; (void) n;
    at("connect");
    PMIX_LOAD_PROCID(&tool, "tool@1", 0);
    answer(PMIX_SUCCESS, &tool, data);
}

static pmix_status_t control(const pmix_proc_t *by, const pmix_proc_t targets[], size_t ntargets, const pmix_info_t info[], size_t n, pmix_info_cbfunc_t answer, void *data)
{
    (void) by; (void) targets; (void) ntargets; (void) info; (void) n; (void) answer; (void) data;
    at("control");
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range, pmix_info_t info[], size_t n, pmix_op_cbfunc_t answer, void *data)
{
    (void) code; (void) source; (void) range; (void) info; (void) n; (void) answer; (void) data;
    at("notify");
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t register_events(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[], size_t n, pmix_op_cbfunc_t answer, void *data)
{
    (void) codes; (void) ncodes; (void) info; (void) n; (void) answer; (void) data;
    return PMIX_OPERATION_SUCCEEDED;
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = {.spawn = spawn, .query = query, .tool_connected = connected, .job_control = control, .notify_event = notify, .register_events = register_events};
    pmix_info_t info[3];
    bool yes = true;
    char end;
    if (argc < 2) return 2;
    if (argc > 2) moment = argv[2];
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_TMPDIR, argv[1], PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_NSPACE, "odd-host-1@0", PMIX_STRING);
    if (PMIx_server_init(&module, info, 3) != PMIX_SUCCESS) return 1;
    printf("ready\n");
    fflush(stdout);
    while (read(0, &end, 1) > 0);
    return 0;
}
