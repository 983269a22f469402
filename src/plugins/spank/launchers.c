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

/* This is a job, or one component of a heterogeneous one. */
struct component {
	spank_t sp;
	int component; /* -1: a job */
};

/* Slurm has no more of them. */
#define COMPONENTS_MAX 128

/* This directory belongs to this slurmstepd's step; "" means none. */
static char made[PATH_MAX];
static uid_t made_uid;
static gid_t made_gid;
static int made_components;

static const char *name_of(const struct component *p, const char *variable,
                           char name[CPL_RANK_ORDER_NAME])
{
	cpl_rank_order_name(name, variable, 0, p->component);
	return name;
}

/* This returns the value, to free(), or NULL if it is unset or too long, or memory
 * is out. */
static char *get_name(spank_t sp, const char *name)
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

static char *get(const struct component *p, const char *variable)
{
	char name[CPL_RANK_ORDER_NAME];

	return get_name(p->sp, name_of(p, variable, name));
}

/* This joins the parts of the text, to free(), or returns NULL if there is none or
 * memory is out. */
static char *get_text(const struct component *p)
{
	char *text = get(p, CPL_RANK_ORDER_VARIABLE);

	for (int i = 1; text && i < CPL_RANK_ORDER_PARTS; i++) {
		char name[CPL_RANK_ORDER_NAME], *more, *longer;
		size_t length = strlen(text);

		cpl_rank_order_name(name, CPL_RANK_ORDER_VARIABLE, i,
		                    p->component);
		more = get_name(p->sp, name);
		if (!more)
			break;
		longer = realloc(text, length + strlen(more) + 1);
		if (longer)
			strcpy(longer + length, more);
		else
			free(text);
		free(more);
		text = longer;
	}
	return text;
}

/* This returns 1 with the order of this job, 0 if there is none, or -1 with err if
 * it is not of the job's hosts, or of too many ranks. */
static int get_order(const struct component *p, struct cpl_rank_order *out,
                     struct cpl_error *err)
{
	char *text = get_text(p);
	char *hosts = text ? get(p, "SLURM_JOB_NODELIST") : NULL;
	int rc = 0;

	if (hosts)
		rc = cpl_rank_order_parse(text, hosts, out, err) ? -1 : 1;
	if (text && !hosts)
		rc = cpl_fail(err, "SLURM_JOB_NODELIST is not set");
	cpl_free_all(text, hosts);
	return rc;
}

/* This removes the text. With only_long it does so if the text has several parts,
 * since each step of a script and each program would carry them. */
static void forget_text(const struct component *p, bool only_long)
{
	char name[CPL_RANK_ORDER_NAME], *second;

	cpl_rank_order_name(name, CPL_RANK_ORDER_VARIABLE, 1, p->component);
	second = get_name(p->sp, name);
	for (int i = 0; (second || !only_long) && i < CPL_RANK_ORDER_PARTS;
	     i++) {
		cpl_rank_order_name(name, CPL_RANK_ORDER_VARIABLE, i,
		                    p->component);
		spank_unsetenv(p->sp, name);
	}
	free(second);
}

static void forget(const struct component *p)
{
	char name[CPL_RANK_ORDER_NAME];

	forget_text(p, false);
	spank_unsetenv(p->sp, name_of(p, nodes_variable, name));
	for (int i = 0; i < CPL_RANK_FILES; i++)
		spank_unsetenv(p->sp, name_of(p, file[i].variable, name));
}

/* This tells whether an outer step has files, as far as the user may see, since the
 * process' own rights are root's. */
static bool inherited(const struct component *p)
{
	char path[PATH_MAX], name[CPL_RANK_ORDER_NAME];

	return spank_getenv(p->sp, name_of(p, file[0].variable, name), path,
	                    sizeof(path)) ==
	               ESPANK_SUCCESS &&
	       !faccessat(AT_FDCWD, path, R_OK, AT_EACCESS);
}

/* The directory is in the job's TMPDIR, else in /tmp. */
static bool make_directory(spank_t sp)
{
	char dir[PATH_MAX];
	uint32_t job = 0;

	if (*made)
		return true;
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

static bool path_of(int i, int component, char *path, size_t size)
{
	int n = component < 0
	                ? snprintf(path, size, "%s/%s", made, file[i].name)
	                : snprintf(path, size, "%s/%s.%d", made, file[i].name,
	                           component);

	return n < (int)size;
}

/* This reads the CPUs of the job on each of its n hosts: "4(x2),2" is the list for
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

/* This checks that each host has as many CPUs of the job as its ranks take. */
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
	cpl_free_all(cpus, taken);
	return rc;
}

/* A rank has so many CPUs. */
static int cpus_per_rank(const struct component *p)
{
	char text[16], name[CPL_RANK_ORDER_NAME];
	int n = 1;

	if (spank_getenv(p->sp, name_of(p, "SLURM_CPUS_PER_TASK", name), text,
	                 sizeof(text)) == ESPANK_SUCCESS)
		n = atoi(text);
	return n > 0 ? n : 1;
}

/* Slots of a rankfile are CPUs; if there are too few there is no rankfile. */
static bool has_cpus(const struct component *p,
                     const struct cpl_rank_order *order)
{
	char *text = get(p, "SLURM_JOB_CPUS_PER_NODE");
	struct cpl_error err = {""};
	int rc = text ? check_cpus(order, text, cpus_per_rank(p), &err)
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

/* This lists the hosts that have ranks as "n[3,9,1]", to free(), or returns NULL
 * when memory is out. */
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
	cpl_free_all(first, name);
	return text;
}

static bool set(const struct component *p, const char *variable,
                const char *value)
{
	char name[CPL_RANK_ORDER_NAME];

	return spank_setenv(p->sp, name_of(p, variable, name), value, 1) ==
	       ESPANK_SUCCESS;
}

static bool make_files(const struct component *p,
                       const struct cpl_rank_order *order)
{
	char path[CPL_RANK_FILES][PATH_MAX], name[CPL_RANK_ORDER_NAME];
	char *nodes = nodes_of(order);
	int *weight = malloc(((size_t)order->ranks + 1) * sizeof(*weight));
	bool good = nodes && weight && make_directory(p->sp);
	bool ranked = good && has_cpus(p, order);

	made_uid = geteuid();
	made_gid = getegid();
	if (made_components <= p->component)
		made_components = p->component + 1;
	for (int r = 0, each = cpus_per_rank(p); good && r < order->ranks; r++)
		weight[r] = each;
	for (int i = 0; good && i < CPL_RANK_FILES; i++)
		good = path_of(i, p->component, path[i], sizeof(path[i])) &&
		       ((i == CPL_RANK_RANKFILE && !ranked) ||
		        !write_file(i, path[i], order, weight));
	free(weight);
	for (int i = 0; good && i < CPL_RANK_FILES; i++) {
		if (i == CPL_RANK_RANKFILE && !ranked)
			spank_unsetenv(p->sp,
			               name_of(p, file[i].variable, name));
		else
			good = set(p, file[i].variable, path[i]);
	}
	/* A longer variable would keep every program from starting. */
	if (good && strlen(nodes) < CPL_RANK_ORDER_PART)
		good = set(p, nodes_variable, nodes);
	free(nodes);
	return good;
}

static void remove_files(int component)
{
	char path[PATH_MAX];

	for (int i = 0; i < CPL_RANK_FILES; i++)
		if (path_of(i, component, path, sizeof(path)))
			unlink(path);
}

static void make(const struct component *p)
{
	struct cpl_rank_order order;
	struct cpl_error err = {""};
	int rc;

	if (inherited(p))
		return;
	rc = get_order(p, &order, &err);
	if (!rc)
		return;
	if (rc > 0 && !make_files(p, &order)) {
		cpl_fail(&err, "cannot write its files below %s",
		         *made ? made : "/tmp");
		if (*made)
			remove_files(p->component);
	}
	if (rc > 0)
		cpl_rank_order_free(&order);
	if (err.text[0]) {
		slurm_info("commplace: launchers go without the plan of the "
		           "job's ranks: %s",
		           err.text);
		forget(p);
	}
}

/* This counts the components of a heterogeneous job, or returns 0 if it is none. */
static int components(spank_t sp)
{
	char text[16];
	int n = 0;

	if (spank_getenv(sp, "SLURM_HET_SIZE", text, sizeof(text)) ==
	    ESPANK_SUCCESS)
		n = atoi(text);
	return n < 0 ? 0 : n < COMPONENTS_MAX ? n : COMPONENTS_MAX;
}

void cplspank_launchers_make(spank_t sp)
{
	uint32_t node = 1;

	if (spank_get_item(sp, S_JOB_NODEID, &node) != ESPANK_SUCCESS || node)
		return;
	for (int i = components(sp); i >= 0; i--)
		make(&(struct component){sp, i - 1});
}

/* This is the position of `host` in the order of nodes, or -1 if it has none, or
 * the ranks are not in blocks. */
static int node_index(const struct cpl_rank_order *order, const char *host)
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
	const struct component job = {sp, -1};
	struct cpl_rank_order order;
	struct cpl_error err;
	char host[HOST_NAME_MAX + 1], text[16];
	int place = -1;

	if (spank_getenv(sp, "SLURMD_NODENAME", host, sizeof(host)) ==
	            ESPANK_SUCCESS &&
	    get_order(&job, &order, &err) > 0) {
		place = node_index(&order, host);
		cpl_rank_order_free(&order);
	}
	for (int i = components(sp); i >= 0; i--)
		forget_text(&(struct component){sp, i - 1}, true);
	/* The variable of a script must not reach its steps. */
	spank_unsetenv(sp, place_variable);
	if (place < 0)
		return;
	snprintf(text, sizeof(text), "%d", place);
	spank_setenv(sp, place_variable, text, 1);
}

void cplspank_launchers_remove(void)
{
	uid_t uid;
	gid_t gid;

	if (!*made)
		return;
	/* This changes the group of this thread only, and for files only. */
	gid = (gid_t)setfsgid(made_gid);
	uid = (uid_t)setfsuid(made_uid);
	for (int i = -1; i < made_components; i++)
		remove_files(i);
	rmdir(made);
	setfsuid(uid);
	setfsgid(gid);
	made[0] = '\0';
}
