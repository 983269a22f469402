/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "submit.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "daemon.h"
#include "slurm_share.h"

/* A check of commplace.conf may take so long. */
#define LOAD_WAIT_MS 200

static void *select_plugin; /* dlopen() */
static const struct cplslurm_share *share;
static struct cpl_engine *own;
static const struct cplslurm_share own_share =
        CPLSLURM_SHARE_INIT(NULL, NULL, NULL, NULL);

static void say(enum cpl_engine_log level, const char *text)
{
	if (level == CPL_ENGINE_ERROR)
		cplslurm_log_error("job_submit/commplace: %s", text);
	else if (level == CPL_ENGINE_INFO)
		cplslurm_log_info("job_submit/commplace: %s", text);
	else
		cplslurm_log_debug("job_submit/commplace: %s", text);
}

static struct cpl_engine *own_engine(void)
{
	struct cpl_error err = {""};
	char *path;

	if (!own) {
		path = cplslurm_config_path();
		own = path ? cpl_engine_new(path, say, &err) : NULL;
		free(path);
	}
	/* The engine itself says what is wrong with the files. */
	if (own)
		cpl_engine_load(own, LOAD_WAIT_MS, &err);
	return own;
}

bool cplsubmit_judge(const struct cpl_submission *submission,
                     struct cpl_verdict *verdict)
{
	struct cpl_engine *engine;

	if (!share && !own)
		share = cplslurm_share_find(&select_plugin);
	engine = share ? share->engine() : own_engine();
	if (engine)
		(share ? share : &own_share)
		        ->submit(engine, submission, verdict);
	return engine;
}

void cplsubmit_fini(void)
{
	cpl_engine_free(own);
	own = NULL;
	share = NULL;
	if (select_plugin)
		dlclose(select_plugin);
	select_plugin = NULL;
}
