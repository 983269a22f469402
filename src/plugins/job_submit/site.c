/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "job_submit_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

#define NETWORK_MAX (64ULL << 20)

static struct cpl_config *config;
static struct cplsubmit_stamp config_stamp;
static struct cpl_error config_error;
static bool config_looked;

static struct cplsubmit_stamp network_stamp;
static char *network_path;
static bool network_known;
static enum cpl_network_type network_type;

struct cplsubmit_stamp cplsubmit_stamp(const char *path)
{
	struct cplsubmit_stamp stamp = {0};
	struct stat st;

	if (lstat(path, &st))
		return stamp;
	stamp.exists = true;
	stamp.dev = st.st_dev;
	stamp.ino = st.st_ino;
	stamp.size = st.st_size;
	stamp.mtime = st.st_mtim;
	return stamp;
}

bool cplsubmit_same(const struct cplsubmit_stamp *a,
                    const struct cplsubmit_stamp *b)
{
	if (!a->exists || !b->exists)
		return a->exists == b->exists;
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec &&
	       a->mtime.tv_nsec == b->mtime.tv_nsec;
}

const struct cpl_config *cplsubmit_config(struct cpl_error *err)
{
	char *path = cplslurm_config_path();
	struct cplsubmit_stamp stamp;
	struct cpl_config *fresh;

	if (!path) {
		cpl_fail_memory(err);
		return config;
	}
	stamp = cplsubmit_stamp(path);
	if (config_looked && cplsubmit_same(&stamp, &config_stamp))
		goto out;
	config_looked = true;
	config_stamp = stamp;
	memset(&config_error, 0, sizeof(config_error));
	fresh = cpl_config_load(path, &config_error);
	if (fresh) {
		cpl_config_free(config);
		config = fresh;
	} else {
		error("job_submit/commplace: %s%s", config_error.text,
		      config ? "; the configuration read before stays"
		             : "; options of commplace are without effect");
	}
out:
	free(path);
	if (!config)
		*err = config_error;
	return config;
}

static bool read_type(const char *path, enum cpl_network_type *out)
{
	const char *type = "";
	size_t length;
	char *text = cpl_file_read(path, NETWORK_MAX, &length, NULL);
	json_t *root;
	int found;

	if (!text)
		return false;
	root = cpl_json_parse(text, length, path, NULL);
	free(text);
	if (!root)
		return false;
	cpl_json_string(root, "type", &type, NULL);
	found = cpl_network_type_find(type);
	json_decref(root);
	if (found < 0)
		return false;
	*out = (enum cpl_network_type)found;
	return true;
}

bool cplsubmit_network_type(const struct cpl_config *site,
                            enum cpl_network_type *out)
{
	struct cplsubmit_stamp stamp;

	if (!site->network_file)
		return false;
	stamp = cplsubmit_stamp(site->network_file);
	if (!network_path || strcmp(network_path, site->network_file) ||
	    !cplsubmit_same(&stamp, &network_stamp)) {
		free(network_path);
		network_path = strdup(site->network_file);
		network_stamp = stamp;
		network_known = read_type(site->network_file, &network_type);
	}
	*out = network_type;
	return network_known;
}

void cplsubmit_site_fini(void)
{
	cpl_config_free(config);
	config = NULL;
	config_looked = false;
	free(network_path);
	network_path = NULL;
}
