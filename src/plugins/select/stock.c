/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "select_internal.h"

#include <dlfcn.h>
#include <string.h>

slurm_select_ops_t cplselect_stock;

static void *handle;

/* In the order of slurm_select_ops_t. */
static const char *const symbol[] = {
        "plugin_id",
        "select_p_state_save",
        "select_p_state_restore",
        "select_p_job_init",
        "select_p_node_init",
        "select_p_job_test",
        "select_p_job_begin",
        "select_p_job_ready",
        "select_p_job_expand",
        "select_p_job_resized",
        "select_p_job_signal",
        "select_p_job_fini",
        "select_p_job_suspend",
        "select_p_job_resume",
        "select_p_step_pick_nodes",
        "select_p_step_start",
        "select_p_step_finish",
        "select_p_select_nodeinfo_pack",
        "select_p_select_nodeinfo_unpack",
        "select_p_select_nodeinfo_alloc",
        "select_p_select_nodeinfo_free",
        "select_p_select_nodeinfo_set_all",
        "select_p_select_nodeinfo_set",
        "select_p_select_nodeinfo_get",
        "select_p_select_jobinfo_alloc",
        "select_p_select_jobinfo_free",
        "select_p_select_jobinfo_set",
        "select_p_select_jobinfo_get",
        "select_p_select_jobinfo_copy",
        "select_p_select_jobinfo_pack",
        "select_p_select_jobinfo_unpack",
        "select_p_select_jobinfo_sprint",
        "select_p_select_jobinfo_xstrdup",
        "select_p_get_info_from_plugin",
        "select_p_update_node_config",
        "select_p_reconfigure",
        "select_p_resv_test",
};
_Static_assert(sizeof(symbol) == sizeof(cplselect_stock), "slurm_select_ops_t");

static int resolve(void *so, struct cpl_error *err)
{
	const uint32_t *version = dlsym(so, "plugin_version");
	void *address[sizeof(symbol) / sizeof(symbol[0])];

	if (!version || *version != SLURM_VERSION_NUMBER)
		return cpl_fail(err,
		                "select_cons_tres.so is of version %#x, "
		                "this plugin is for %#x",
		                version ? *version : 0, SLURM_VERSION_NUMBER);
	for (size_t i = 0; i < sizeof(symbol) / sizeof(symbol[0]); i++) {
		address[i] = dlsym(so, symbol[i]);
		if (!address[i])
			return cpl_fail(err, "select_cons_tres.so has no %s",
			                symbol[i]);
	}
	memcpy(&cplselect_stock, address, sizeof(cplselect_stock));
	return 0;
}

int cplselect_stock_load(struct cpl_error *err)
{
	int (*stock_init)(void);

	if (!handle) {
		/* RTLD_LOCAL keeps its plugin_id and plugin_type from ours. */
		void *so = cplslurm_open_plugin("select_cons_tres.so",
		                                RTLD_LAZY | RTLD_LOCAL);
		const char *why = so ? NULL : dlerror();

		if (!so)
			return cpl_fail(err,
			                "cannot load select_cons_tres.so from "
			                "PluginDir %s: %s",
			                slurm_conf.plugindir
			                        ? slurm_conf.plugindir
			                        : "",
			                why ? why : "not set");
		if (resolve(so, err)) {
			dlclose(so);
			return -1;
		}
		handle = so;
	}
	stock_init = (int (*)(void))(uintptr_t)dlsym(handle, "init");
	if (stock_init && stock_init() != SLURM_SUCCESS)
		return cpl_fail(err, "init() of select_cons_tres.so failed");
	return 0;
}

void cplselect_stock_unload(void)
{
	int (*stock_fini)(void);

	if (!handle)
		return;
	stock_fini = (int (*)(void))(uintptr_t)dlsym(handle, "fini");
	if (stock_fini)
		stock_fini();
	dlclose(handle);
	handle = NULL;
	memset(&cplselect_stock, 0, sizeof(cplselect_stock));
}
