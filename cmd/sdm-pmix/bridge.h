/* C functions for those macros and unions of libpmix that cgo cannot use. Only names that all of
 * libpmix 4.2 to 7.0 have are used. */
#ifndef SDM_BRIDGE_H
#define SDM_BRIDGE_H
#include <stdbool.h>
#include <stdint.h>
#include <pmix_tool.h>

/* Arrays of infos. A length of 0 gives NULL: libpmix sends garbage for an empty array. */
pmix_info_t *sdm_infos(size_t n);
void sdm_free_infos(pmix_info_t *infos, size_t n);
void sdm_require(pmix_info_t *info);

/* Setters of one info. They copy what they are given and return 0, or -1 if the type is unknown. */
void sdm_load_text(pmix_info_t *info, const char *key, const char *text);
int sdm_load_number(pmix_info_t *info, const char *key, const char *type, int64_t number);
void sdm_load_proc(pmix_info_t *info, const char *key, const char *nspace, uint32_t rank);
void sdm_load_envar(pmix_info_t *info, const char *key, const char *name, const char *value, char separator);
void sdm_load_array(pmix_info_t *info, const char *key, pmix_info_t *infos, size_t n);
void sdm_load_procs(pmix_info_t *info, const char *key, pmix_proc_t *procs, size_t n);

/* Readers of a value. */
const char *sdm_type(const pmix_value_t *v);      /* name of the type in the protocol of sdm/launch/pmix */
int64_t sdm_number(const pmix_value_t *v);        /* 0 for other types */
const char *sdm_text(const pmix_value_t *v);      /* never NULL */
const pmix_proc_t *sdm_proc(const pmix_value_t *v);
const pmix_envar_t *sdm_envar(const pmix_value_t *v);
size_t sdm_length(const pmix_value_t *v);         /* elements of an array */
const void *sdm_element(const pmix_value_t *v, size_t i);
const char *sdm_element_text(const pmix_value_t *v, size_t i);

/* Arrays of processes and programs. */
pmix_proc_t *sdm_procs(size_t n);
void sdm_set_proc(pmix_proc_t *proc, const char *nspace, uint32_t rank);
pmix_app_t *sdm_apps(size_t n);
void sdm_free_apps(pmix_app_t *apps, size_t n);
void sdm_add_arg(pmix_app_t *app, const char *arg);
void sdm_add_env(pmix_app_t *app, const char *text);
void sdm_set_app(pmix_app_t *app, const char *dir, int procs, pmix_info_t *infos, size_t n);

/* Calls. Results belong to the caller (sdm_free_infos, free). */
pmix_status_t sdm_follow(const char *nspace, uint32_t rank, pmix_info_t *infos, size_t n);
pmix_status_t sdm_query(const char *key, pmix_info_t *qualifiers, size_t nq, pmix_info_t **result, size_t *n);
pmix_status_t sdm_get(const char *nspace, uint32_t rank, const char *key, pmix_info_t *infos, size_t n, pmix_info_t **result);
pmix_status_t sdm_register(pmix_status_t *codes, size_t n); /* n 0: all events that have no other handler */
pmix_status_t sdm_notify(pmix_status_t event, const pmix_proc_t *me, bool custom, pmix_info_t *info, size_t n);
pmix_status_t sdm_push(pmix_proc_t *targets, size_t n, char *bytes, size_t length, bool end, uintptr_t waiter);
#endif
