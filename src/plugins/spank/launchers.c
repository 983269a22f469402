/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launchers.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "mapping/rank_order.h"

/* One variable has less. */
#define TEXT_SIZE (128 << 10)

static const struct {
	const char *variable, *name;
} file[CPL_RANK_FILES] = {
        [CPL_RANK_HOSTFILE] = {"COMMPLACE_HOSTFILE", "hostfile"},
        [CPL_RANK_RANKFILE] = {"COMMPLACE_RANKFILE", "rankfile"},
        [CPL_RANK_MACHINEFILE] = {"COMMPLACE_MACHINEFILE", "machinefile"},
        [CPL_RANK_MPICH] = {"COMMPLACE_RANK_ORDER", "MPICH_RANK_ORDER"},
};

static const char nodes_variable[] = "COMMPLACE_NODES";
static const char place_variable[] = "COMMPLACE_NODE_RANK";

/* Of this slurmstepd's step; "": none. */
static char made[PATH_MAX];
static uid_t made_uid;
static gid_t made_gid;


/* The value, to free(); NULL: unset, too long, or memory is out. */
static char *get(spank_t sp, const char *name)
{
	char *value = malloc(TEXT_SIZE);

	if (value &&
	    (spank_getenv(sp, name, value, TEXT_SIZE) != ESPANK_SUCCESS ||
	     !*value)) {
		free(value);
		return NULL;
	}
	return value;
}

/* 1: the order of this job; 0: there is none; -1 with err: it is not of the
 * job's hosts, or of too many ranks. */
static int get_order(spank_t sp, struct cpl_rank_order *out,
                     struct cpl_error *err)
{
	char *text = get(sp, CPL_RANK_ORDER_VARIABLE);
	char *hosts = text ? get(sp, "SLURM_JOB_NODELIST") : NULL;
	int rc = 0;

	if (hosts)
		rc = cpl_rank_order_parse(text, hosts, out, err) ? -1 : 1;
	if (text && !hosts)
		rc = cpl_fail(err, "SLURM_JOB_NODELIST is not set");
	free(text);
	free(hosts);
	return rc;
}

static void forget(spank_t sp)
{
	spank_unsetenv(sp, CPL_RANK_ORDER_VARIABLE);
	spank_unsetenv(sp, nodes_variable);
	for (int i = 0; i < CPL_RANK_FILES; i++)
		spank_unsetenv(sp, file[i].variable);
}

/* Are those of an outer step there? As the user may see: the process' own rights
 * are root's. */
static bool inherited(spank_t sp)
{
	char path[PATH_MAX];

	return spank_getenv(sp, file[0].variable, path, sizeof(path)) ==
	               ESPANK_SUCCESS &&
	       !faccessat(AT_FDCWD, path, R_OK, AT_EACCESS);
}

/* A directory of its own in the job's TMPDIR, else in /tmp. */
static bool make_directory(spank_t sp)
{
	char dir[PATH_MAX];
	uint32_t job = 0;

	spank_get_item(sp, S_JOB_ID, &job);
	if (spank_getenv(sp, "TMPDIR", dir, sizeof(dir)) == ESPANK_SUCCESS &&
	    dir[0] == '/' &&
	    snprintf(made, sizeof(made), "%s/commplace-%u.XXXXXX", dir, job) <
	            (int)sizeof(made) &&
	    mkdtemp(made))
		return true;
	snprintf(made, sizeof(made), "/tmp/commplace-%u.XXXXXX", job);
	if (mkdtemp(made))
		return true;
	made[0] = '\0';
	return false;
}

static bool path_of(int i, char *path, size_t size)
{
	return snprintf(path, size, "%s/%s", made, file[i].name) < (int)size;
}

/* CPUs of the job on each of its n hosts, of which "4(x2),2" is the list for
 * three. */
static int read_cpus(const char *text, int *cpus, int n, struct cpl_error *err)
{
	const char *p = text;
	int at = 0;

	while (at < n) {
		char *end;
		long count = strtol(p, &end, 10), times = 1;

		if (end > p && !strncmp(end, "(x", 2)) {
			p = end + 2;
			times = strtol(p, &end, 10);
			if (end == p || *end++ != ')')
				times = 0;
		}
		if (end == p || count < 1 || count > INT_MAX || times < 1 ||
		    times > n - at || *end != (at + times < n ? ',' : '\0'))
			return cpl_fail(err,
			                "SLURM_JOB_CPUS_PER_NODE=%.64s does "
			                "not say the CPUs of %d hosts",
			                text, n);
		for (; times > 0; times--)
			cpus[at++] = (int)count;
		p = end + 1;
	}
	return 0;
}

/* Has each host as many CPUs of the job as its ranks take? */
static int check_cpus(const struct cpl_rank_order *order, const char *text,
                      int each, struct cpl_error *err)
{
	int n = order->hosts.count, rc = -1;
	int *cpus = malloc(((size_t)n + 1) * sizeof(*cpus));
	int *taken = calloc((size_t)n + 1, sizeof(*taken));

	if (!cpus || !taken)
		cpl_fail_memory(err);
	else
		rc = read_cpus(text, cpus, n, err);
	for (int r = 0; r < order->ranks && !rc; r++)
		taken[order->rank_host[r]]++;
	for (int h = 0; h < n && !rc; h++)
		if ((int64_t)taken[h] * each > cpus[h])
			rc = cpl_fail(err,
			              "%s has %d CPUs of the job for %d ranks "
			              "of %d",
			              order->hosts.name[h], cpus[h], taken[h],
			              each);
	free(cpus);
	free(taken);
	return rc;
}

/* CPUs of a rank. */
static int cpus_per_rank(spank_t sp)
{
	char text[16];
	int n = 1;

	if (spank_getenv(sp, "SLURM_CPUS_PER_TASK", text, sizeof(text)) ==
	    ESPANK_SUCCESS)
		n = atoi(text);
	return n > 0 ? n : 1;
}

/* Slots of a rankfile are CPUs: without as many of them there is none. */
static bool has_cpus(spank_t sp, const struct cpl_rank_order *order)
{
	char *text = get(sp, "SLURM_JOB_CPUS_PER_NODE");
	struct cpl_error err = {""};
	int rc = text ? check_cpus(order, text, cpus_per_rank(sp), &err)
	              : cpl_fail(&err, "SLURM_JOB_CPUS_PER_NODE is not set");

	if (rc)
		slurm_info("commplace: no rankfile for launchers: %s",
		           err.text);
	free(text);
	return !rc;
}

static int write_file(int i, const char *path,
                      const struct cpl_rank_order *order, const int *weight)
{
	FILE *to = fopen(path, "wxe");
	int rc;

	if (!to)
		return -1;
	rc = cpl_rank_file_write(to, (enum cpl_rank_file)i, order->hosts.name,
	                         order->hosts.count, order->rank_host,
	                         order->ranks, weight);
	if (ferror(to))
		rc = -1;
	return fclose(to) ? -1 : rc;
}

/* "n[3,9,1]" of the hosts that have ranks; NULL: memory. free() it. */
static char *nodes_of(const struct cpl_rank_order *order)
{
	size_t n = (size_t)order->hosts.count + 1;
	int *first = malloc(n * sizeof(*first)), count = -1;
	char **name = malloc(n * sizeof(*name));
	char *text = NULL;
	bool blocks;

	if (first && name)
		count = cpl_rank_order_nodes(order, first, &blocks);
	for (int i = 0; i < count; i++)
		name[i] = order->hosts.name[first[i]];
	if (count >= 0)
		text = cpl_hostlist_format(name, count);
	free(first);
	free(name);
	return text;
}

static bool make_files(spank_t sp, const struct cpl_rank_order *order)
{
	char path[CPL_RANK_FILES][PATH_MAX];
	char *nodes = nodes_of(order);
	int *weight = malloc(((size_t)order->ranks + 1) * sizeof(*weight));
	bool good = nodes && weight && make_directory(sp);
	bool ranked = good && has_cpus(sp, order);

	made_uid = geteuid();
	made_gid = getegid();
	for (int r = 0, each = cpus_per_rank(sp); good && r < order->ranks; r++)
		weight[r] = each;
	for (int i = 0; good && i < CPL_RANK_FILES; i++)
		good = path_of(i, path[i], sizeof(path[i])) &&
		       ((i == CPL_RANK_RANKFILE && !ranked) ||
		        !write_file(i, path[i], order, weight));
	free(weight);
	for (int i = 0; good && i < CPL_RANK_FILES; i++) {
		if (i == CPL_RANK_RANKFILE && !ranked)
			spank_unsetenv(sp, file[i].variable);
		else
			good = spank_setenv(sp, file[i].variable, path[i], 1) ==
			       ESPANK_SUCCESS;
	}
	good = good &&
	       spank_setenv(sp, nodes_variable, nodes, 1) == ESPANK_SUCCESS;
	free(nodes);
	return good;
}

void cplspank_launchers_make(spank_t sp)
{
	struct cpl_rank_order order;
	struct cpl_error err = {""};
	uint32_t node = 1;
	int rc;

	if (spank_get_item(sp, S_JOB_NODEID, &node) != ESPANK_SUCCESS || node ||
	    inherited(sp))
		return;
	rc = get_order(sp, &order, &err);
	if (!rc)
		return;
	if (rc > 0 && !make_files(sp, &order)) {
		cpl_fail(&err, "cannot write its files below %s",
		         *made ? made : "/tmp");
		cplspank_launchers_remove();
	}
	if (rc > 0)
		cpl_rank_order_free(&order);
	if (err.text[0]) {
		slurm_info("commplace: launchers go without the plan of the "
		           "job's ranks: %s",
		           err.text);
		forget(sp);
	}
}

/* Where `host` comes in the order of nodes; -1: it does not, or ranks are in no
 * blocks. */
static int place_of(const struct cpl_rank_order *order, const char *host)
{
	size_t n = (size_t)order->hosts.count + 1;
	int *first = malloc(n * sizeof(*first)), count = -1, place = -1;
	bool blocks = false;

	if (first)
		count = cpl_rank_order_nodes(order, first, &blocks);
	for (int i = 0; blocks && i < count; i++)
		if (!strcmp(order->hosts.name[first[i]], host))
			place = i;
	free(first);
	return place;
}

void cplspank_launchers_task(spank_t sp)
{
	struct cpl_rank_order order;
	struct cpl_error err;
	char host[HOST_NAME_MAX + 1], text[16];
	int place = -1;

	if (spank_getenv(sp, "SLURMD_NODENAME", host, sizeof(host)) ==
	            ESPANK_SUCCESS &&
	    get_order(sp, &order, &err) > 0) {
		place = place_of(&order, host);
		cpl_rank_order_free(&order);
	}
	/* A script's own must not reach its steps. */
	spank_unsetenv(sp, place_variable);
	if (place < 0)
		return;
	snprintf(text, sizeof(text), "%d", place);
	spank_setenv(sp, place_variable, text, 1);
}

void cplspank_launchers_remove(void)
{
	char path[PATH_MAX];
	uid_t uid;
	gid_t gid;

	if (!*made)
		return;
	/* Of this thread only, and for files only. */
	gid = (gid_t)setfsgid(made_gid);
	uid = (uid_t)setfsuid(made_uid);
	for (int i = 0; i < CPL_RANK_FILES; i++)
		if (path_of(i, path, sizeof(path)))
			unlink(path);
	rmdir(made);
	setfsuid(uid);
	setfsgid(gid);
	made[0] = '\0';
}
