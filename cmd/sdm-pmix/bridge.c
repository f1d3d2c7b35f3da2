//go:build pmix

#include "bridge.h"
#include <stdlib.h>
#include <string.h>
#include "_cgo_export.h"

pmix_info_t *sdm_infos(size_t n)
{
    pmix_info_t *infos = NULL;
    if (n > 0) {
        PMIX_INFO_CREATE(infos, n);
    }
    return infos;
}

void sdm_free_infos(pmix_info_t *infos, size_t n)
{
    if (infos != NULL) {
        PMIX_INFO_FREE(infos, n);
    }
}

void sdm_require(pmix_info_t *info) { PMIX_INFO_REQUIRED(info); }

void sdm_load_text(pmix_info_t *info, const char *key, const char *text) { PMIX_INFO_LOAD(info, key, text, PMIX_STRING); }

int sdm_load_number(pmix_info_t *info, const char *key, const char *type, int64_t number)
{
    bool flag = number != 0;
    int i = (int) number;
    uint16_t u16 = (uint16_t) number;
    uint32_t u32 = (uint32_t) number;
    uint64_t u64 = (uint64_t) number;
    pid_t pid = (pid_t) number;
    pmix_rank_t rank = (pmix_rank_t) number;
    pmix_status_t status = (pmix_status_t) number;
    if (!strcmp(type, "bool")) PMIX_INFO_LOAD(info, key, &flag, PMIX_BOOL);
    else if (!strcmp(type, "int")) PMIX_INFO_LOAD(info, key, &i, PMIX_INT);
    else if (!strcmp(type, "uint16")) PMIX_INFO_LOAD(info, key, &u16, PMIX_UINT16);
    else if (!strcmp(type, "uint32")) PMIX_INFO_LOAD(info, key, &u32, PMIX_UINT32);
    else if (!strcmp(type, "uint64")) PMIX_INFO_LOAD(info, key, &u64, PMIX_UINT64);
    else if (!strcmp(type, "pid")) PMIX_INFO_LOAD(info, key, &pid, PMIX_PID);
    else if (!strcmp(type, "rank")) PMIX_INFO_LOAD(info, key, &rank, PMIX_PROC_RANK);
    else if (!strcmp(type, "status")) PMIX_INFO_LOAD(info, key, &status, PMIX_STATUS);
    else return -1;
    return 0;
}

void sdm_load_proc(pmix_info_t *info, const char *key, const char *nspace, uint32_t rank)
{
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, nspace, rank);
    PMIX_INFO_LOAD(info, key, &proc, PMIX_PROC);
}

void sdm_load_envar(pmix_info_t *info, const char *key, const char *name, const char *value, char separator)
{
    pmix_envar_t envar = {(char *) name, (char *) value, separator};
    PMIX_INFO_LOAD(info, key, &envar, PMIX_ENVAR);
}

void sdm_load_array(pmix_info_t *info, const char *key, pmix_info_t *infos, size_t n)
{
    pmix_data_array_t array = {PMIX_INFO, n, infos};
    PMIX_INFO_LOAD(info, key, &array, PMIX_DATA_ARRAY);
}

void sdm_load_procs(pmix_info_t *info, const char *key, pmix_proc_t *procs, size_t n)
{
    pmix_data_array_t array = {PMIX_PROC, n, procs};
    PMIX_INFO_LOAD(info, key, &array, PMIX_DATA_ARRAY);
}

static const pmix_data_array_t *array_of(const pmix_value_t *v)
{
    return v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
}

const char *sdm_type(const pmix_value_t *v)
{
    const pmix_data_array_t *array = array_of(v);
    switch (v->type) {
    case PMIX_STRING: return "string";
    case PMIX_BOOL: return "bool";
    case PMIX_INT: case PMIX_INT32: return "int";
    case PMIX_UINT16: return "uint16";
    case PMIX_UINT: case PMIX_UINT32: return "uint32";
    case PMIX_UINT64: case PMIX_SIZE: return "uint64";
    case PMIX_PID: return "pid";
    case PMIX_PROC_RANK: return "rank";
    case PMIX_STATUS: return "status";
    case PMIX_PROC: return v->data.proc != NULL ? "proc" : "other";
    case PMIX_ENVAR: return "envar";
    case PMIX_DATA_ARRAY: break;
    default: return "other";
    }
    if (array == NULL) return "other";
    switch (array->type) {
    case PMIX_INFO: return "infos";
    case PMIX_PROC: return "procs";
    case PMIX_PROC_INFO: return "table";
    case PMIX_STRING: return "texts";
    default: return "other";
    }
}

int64_t sdm_number(const pmix_value_t *v)
{
    switch (v->type) {
    case PMIX_BOOL: return v->data.flag;
    case PMIX_INT: return v->data.integer;
    case PMIX_INT32: return v->data.int32;
    case PMIX_UINT16: return v->data.uint16;
    case PMIX_UINT: return v->data.uint;
    case PMIX_UINT32: return v->data.uint32;
    case PMIX_UINT64: return (int64_t) v->data.uint64;
    case PMIX_SIZE: return (int64_t) v->data.size;
    case PMIX_PID: return v->data.pid;
    case PMIX_PROC_RANK: return v->data.rank;
    case PMIX_STATUS: return v->data.status;
    default: return 0;
    }
}

const char *sdm_text(const pmix_value_t *v)
{
    return v->type == PMIX_STRING && v->data.string != NULL ? v->data.string : "";
}

const pmix_proc_t *sdm_proc(const pmix_value_t *v) { return v->data.proc; }

const pmix_envar_t *sdm_envar(const pmix_value_t *v) { return &v->data.envar; }

size_t sdm_length(const pmix_value_t *v)
{
    const pmix_data_array_t *array = array_of(v);
    return array != NULL && array->array != NULL ? array->size : 0;
}

const void *sdm_element(const pmix_value_t *v, size_t i)
{
    const pmix_data_array_t *array = array_of(v);
    switch (array->type) {
    case PMIX_INFO: return (const pmix_info_t *) array->array + i;
    case PMIX_PROC: return (const pmix_proc_t *) array->array + i;
    case PMIX_PROC_INFO: return (const pmix_proc_info_t *) array->array + i;
    default: return NULL;
    }
}

const char *sdm_element_text(const pmix_value_t *v, size_t i)
{
    const char *text = ((char **) array_of(v)->array)[i];
    return text != NULL ? text : "";
}

pmix_proc_t *sdm_procs(size_t n) { return calloc(n > 0 ? n : 1, sizeof(pmix_proc_t)); }

void sdm_set_proc(pmix_proc_t *proc, const char *nspace, uint32_t rank) { PMIX_LOAD_PROCID(proc, nspace, rank); }

pmix_app_t *sdm_apps(size_t n)
{
    pmix_app_t *apps;
    PMIX_APP_CREATE(apps, n);
    return apps;
}

void sdm_free_apps(pmix_app_t *apps, size_t n) { PMIX_APP_FREE(apps, n); }

void sdm_add_arg(pmix_app_t *app, const char *arg)
{
    pmix_status_t rc;
    PMIX_ARGV_APPEND(rc, app->argv, arg);
    (void) rc;
    if (app->cmd == NULL) app->cmd = strdup(arg);
}

void sdm_add_env(pmix_app_t *app, const char *text)
{
    pmix_status_t rc;
    PMIX_ARGV_APPEND(rc, app->env, text);
    (void) rc;
}

void sdm_set_app(pmix_app_t *app, const char *dir, int procs, pmix_info_t *infos, size_t n)
{
    if (*dir != 0) app->cwd = strdup(dir);
    app->maxprocs = procs;
    app->info = infos;
    app->ninfo = n;
}

pmix_status_t sdm_query(const char *key, pmix_info_t *qualifiers, size_t nq, pmix_info_t **result, size_t *n)
{
    pmix_query_t *query;
    pmix_status_t rc;
    PMIX_QUERY_CREATE(query, 1);
    PMIX_ARGV_APPEND(rc, query[0].keys, key);
    query[0].qualifiers = qualifiers;
    query[0].nqual = nq;
    rc = PMIx_Query_info(query, 1, result, n);
    query[0].qualifiers = NULL; /* the caller's */
    query[0].nqual = 0;
    PMIX_QUERY_FREE(query, 1);
    return rc;
}

pmix_status_t sdm_follow(const char *nspace, uint32_t rank, pmix_info_t *infos, size_t n)
{
    pmix_proc_t server;
    PMIX_LOAD_PROCID(&server, nspace, rank);
    return PMIx_tool_set_server(&server, infos, n);
}

/* sdm_get returns the value as an info, so that all results look alike. */
pmix_status_t sdm_get(const char *nspace, uint32_t rank, const char *key, pmix_info_t *infos, size_t n, pmix_info_t **result)
{
    pmix_proc_t proc;
    pmix_value_t *value = NULL;
    PMIX_LOAD_PROCID(&proc, nspace, rank);
    pmix_status_t rc = PMIx_Get(&proc, key, infos, n, &value);
    if (rc == PMIX_SUCCESS && value != NULL) {
        PMIX_INFO_CREATE(*result, 1);
        PMIX_LOAD_KEY((*result)->key, key);
        (*result)->value = *value;
        free(value); /* its content is the result's */
    }
    return rc;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t ninfo,
                     pmix_info_t results[], size_t nresults, pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void) id; (void) results; (void) nresults;
    sdmEvent(status, (pmix_proc_t *) source, info, ninfo);
    if (done != NULL) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* sdm_register returns the number of the handler, or an error below 0. */
pmix_status_t sdm_register(pmix_status_t *codes, size_t n)
{
    return PMIx_Register_event_handler(n > 0 ? codes : NULL, n, NULL, 0, on_event, NULL, NULL);
}

pmix_status_t sdm_notify(pmix_status_t event, const pmix_proc_t *me, bool custom, pmix_info_t *info, size_t n)
{
    return PMIx_Notify_event(event, me, custom ? PMIX_RANGE_CUSTOM : PMIX_RANGE_GLOBAL, info, n, NULL, NULL);
}

static void on_pushed(pmix_status_t status, void *waiter) { sdmPushed(status, (uintptr_t) waiter); }

/* sdm_push always passes a callback: without one libpmix 5.0.7 can block for ever. The arguments
 * must live until the callback is called. */
pmix_status_t sdm_push(pmix_proc_t *targets, size_t n, char *bytes, size_t length, bool end, uintptr_t waiter)
{
    pmix_byte_object_t *object = calloc(1, sizeof *object);
    pmix_info_t *info = sdm_infos(end ? 1 : 0);
    bool yes = true;
    object->bytes = bytes;
    object->size = length;
    if (end) PMIX_INFO_LOAD(&info[0], PMIX_IOF_COMPLETE, &yes, PMIX_BOOL);
    return PMIx_IOF_push(targets, n, object, info, end ? 1 : 0, on_pushed, (void *) waiter);
}
