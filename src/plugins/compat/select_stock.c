/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "select_hooks.h"

#include <dlfcn.h>
#include <string.h>

struct cplslurm_select cplslurm_stock;

static void *handle;

#define NAME(name, result, parameters, arguments) "select_p_" #name,
static const char *const symbol[] = {CPLSLURM_SELECT_HOOKS(NAME)};
_Static_assert(sizeof(symbol) == sizeof(cplslurm_stock), "a field a symbol");

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
	memcpy(&cplslurm_stock, address, sizeof(cplslurm_stock));
	return 0;
}

int cplslurm_stock_load(struct cpl_error *err)
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

void cplslurm_stock_unload(void)
{
	int (*stock_fini)(void);

	if (!handle)
		return;
	stock_fini = (int (*)(void))(uintptr_t)dlsym(handle, "fini");
	if (stock_fini)
		stock_fini();
	dlclose(handle);
	handle = NULL;
	memset(&cplslurm_stock, 0, sizeof(cplslurm_stock));
}
