/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "site/record_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "site/site_internal.h"

#define SECOND INT64_C(1000000000)
#define COMPLAIN_NS (60 * SECOND)
#define RETRY_NS (10 * SECOND)
#define CLUSTER_MAX 256
/* Ends between two looks at what may go. */
#define PRUNE_ENDS 1000

/* A directory as it was configured; never changed but by the queue. */
struct state_dir {
	struct state_dir *next;
	char *path, *cluster; /* cluster NULL: not asked for */
	enum cpl_record_access access;
	struct cpl_record_keep keep;
	/* The queue's: */
	int ends;      /* since the last look at what may go */
	bool ours;     /* found to be so */
	bool foreign;  /* told that it is not */
	int64_t *late; /* [n_late] ends to be tried again */
	int n_late, max_late;
	int64_t tried; /* ns */
};

struct cpl_record_dir {
	struct cpl_worker *worker;
	cpl_log_line *log;
	void *log_arg;
	pthread_mutex_t lock;
	struct state_dir *state; /* the first is in use; NULL: none */
	bool none;
	size_t queued; /* bytes */
	int lost;      /* records since the last complaint */
	int64_t complained;
	struct cpl_counters *counters; /* or NULL */
	struct cpl_counters counted;   /* of them, in the file: the queue's */
	bool count_failed;             /* and said so: the queue's */
};

struct request {
	struct cpl_request head;
	struct cpl_record_dir *dir;
	struct state_dir *state;
	int64_t id;
	uid_t user;
	char *text; /* of a record */
	size_t length;
	int64_t *ids; /* of a restore */
	int n_ids;
	void (*take)(void *arg, struct cpl_record *record);
	void *take_arg;
};

static void say(struct cpl_record_dir *dir, bool failure, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

static void say(struct cpl_record_dir *dir, bool failure, const char *fmt, ...)
{
	struct cpl_error line;
	va_list ap;

	if (!dir->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line.text, sizeof(line.text), fmt, ap);
	va_end(ap);
	dir->log(dir->log_arg, failure, line.text);
}

/* A record is lost. The first time is told, then once a minute how many. */
static void complain(struct cpl_record_dir *dir, const char *why)
{
	int64_t now = cpl_now();
	int lost = 0;

	pthread_mutex_lock(&dir->lock);
	dir->lost++;
	if (!dir->complained || now - dir->complained > COMPLAIN_NS) {
		lost = dir->lost;
		dir->lost = 0;
		dir->complained = now;
	}
	pthread_mutex_unlock(&dir->lock);
	if (lost > 1)
		say(dir, true, "%s (%d records since the last such line)", why,
		    lost);
	else if (lost)
		say(dir, true, "%s", why);
}

/* A record could be written. */
static void relieve(struct cpl_record_dir *dir)
{
	int lost = -1;

	pthread_mutex_lock(&dir->lock);
	if (dir->complained) {
		lost = dir->lost;
		dir->lost = 0;
		dir->complained = 0;
	}
	pthread_mutex_unlock(&dir->lock);
	if (lost >= 0)
		say(dir, false,
		    "records are written again; %d more were lost meanwhile",
		    lost);
}

/* Folders */

static mode_t folder_mode(const struct state_dir *state)
{
	/* A name can be opened by who knows it, the list is not shown. */
	return state->access == CPL_RECORDS_ALL ? 0755 : 0711;
}

/* The folder of a file below the directory; failures show at the file. */
static void make_folder(const struct state_dir *state, const char *name)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", state->path, name) >=
	    (int)sizeof(path))
		return;
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		bool above = (size_t)(slash - path) < strlen(state->path);

		*slash = '\0';
		/* Whatever the umask is. */
		if (!mkdir(path, 0755))
			chmod(path, above ? 0755 : folder_mode(state));
		*slash = '/';
	}
	if (!mkdir(path, 0755) || errno == EEXIST)
		chmod(path, folder_mode(state));
}

/* Records of before, when all were for everybody to read. */
static void close_folder(const struct state_dir *state, const char *name)
{
	DIR *folder = state_open_folder(state->path, name, NULL);
	const char *record;
	int64_t id;

	if (!folder)
		return;
	while ((record = state_next_job(folder, &id)))
		fchmodat(dirfd(folder), record, 0600, 0);
	fchmod(dirfd(folder), folder_mode(state));
	closedir(folder);
}

/* Whose is it? 0: *name is filled, 1: nobody's yet, -1 with err. */
static int read_cluster(const char *path, char *name, size_t size,
                        struct cpl_error *err)
{
	struct cpl_file_stamp stamp;
	size_t length;
	char *text;
	int fd =
	        cpl_file_open(path, CPL_LINKS_REFUSE, CLUSTER_MAX, &stamp, err);

	if (fd < 0)
		return errno == ENOENT ? 1 : -1;
	text = cpl_file_read_open(fd, path, CLUSTER_MAX, &length, err);
	close(fd);
	if (!text)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	snprintf(name, size, "%s", text);
	free(text);
	return 0;
}

/* Only one of two that come at once makes it. */
static int take_over(const struct state_dir *state, const char *path,
                     struct cpl_error *err)
{
	char line[CLUSTER_MAX + 2];
	int n = snprintf(line, sizeof(line), "%.*s\n", CLUSTER_MAX - 1,
	                 state->cluster);
	int fd, failed = 0;

	make_folder(state, "running");
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		failed = errno ? errno : EIO;
	if (fd >= 0 && failed)
		unlink(path);
	if (fd >= 0)
		close(fd);
	if (failed)
		return cpl_fail(err, "%s: cannot be written: %s", path,
		                strerror(failed));
	if (state->access == CPL_RECORDS_OWNER) {
		close_folder(state, "running");
		close_folder(state, "ended");
	}
	return 0;
}

/* May this directory be used? If not, err says why, or that was said before. */
static bool check_owner(struct cpl_record_dir *dir, struct state_dir *state,
                        struct cpl_error *err)
{
	char name[CLUSTER_MAX + 1] = "";
	char *path;
	int rc;

	if (state->ours || !state->cluster)
		return true;
	path = cpl_path_join(state->path, "cluster", err);
	if (!path)
		return false;
	rc = read_cluster(path, name, sizeof(name), err);
	if (rc > 0) {
		err->text[0] = '\0';
		rc = take_over(state, path, err);
		if (!rc)
			rc = read_cluster(path, name, sizeof(name), err);
	}
	if (!rc && !strncmp(state->cluster, name, CLUSTER_MAX - 1)) {
		state->ours = true;
		state->foreign = false;
	} else if (!rc && !state->foreign) {
		state->foreign = true;
		say(dir, true,
		    "%s belongs to cluster %.64s, this is %.64s: no record is "
		    "read or written there; give each cluster a StateDir of "
		    "its own, or remove %s",
		    state->path, name, state->cluster, path);
	}
	free(path);
	return state->ours;
}

/* On the queue */

static void retry_ends(struct cpl_record_dir *dir, struct state_dir *state);

static void remember_end(struct state_dir *state, int64_t id)
{
	if (state->n_late == state->max_late) {
		int max = state->max_late ? 2 * state->max_late : 64;
		void *more = realloc(state->late,
		                     (size_t)max * sizeof(*state->late));

		if (!more)
			return;
		state->late = more;
		state->max_late = max;
	}
	state->late[state->n_late++] = id;
}

/* What has a record's name and is no file is in the way: it goes, but for a
 * folder with something in it, which is called NAME.json.aside from then on.
 * False: nothing of that kind is there, or errno. */
static bool out_of_the_way(const char *path)
{
	struct stat st;
	char *aside;
	bool gone;

	if (lstat(path, &st) || S_ISREG(st.st_mode))
		return false;
	if (!remove(path))
		return true;
	if (asprintf(&aside, "%s.aside", path) < 0)
		return false;
	gone = !rename(path, aside);
	free(aside);
	return gone;
}

/* Move running/ID.json to another folder. 0, 1: there was none, -1: errno. */
static int move(const struct state_dir *state, int64_t id, const char *folder,
                struct cpl_error *err)
{
	char *from = cpl_record_path(state->path, false, id, err), *to = NULL;
	int rc = -1;

	if (!from)
		return -1;
	if (asprintf(&to, "%s/%s/%lld.json", state->path, folder,
	             (long long)id) < 0) {
		free(from);
		return cpl_fail_memory(err);
	}
	out_of_the_way(from);
	rc = rename(from, to);
	if (rc && errno == EISDIR && out_of_the_way(to))
		rc = rename(from, to);
	if (rc && errno == ENOENT) {
		make_folder(state, folder);
		rc = rename(from, to);
	}
	if (rc && errno == ENOENT)
		rc = 1;
	else if (rc)
		cpl_fail(err, "%s: cannot be moved to %s: %s", from, to,
		         strerror(errno));
	free(from);
	free(to);
	return rc;
}

static void write_one(const struct request *r, struct cpl_error *err)
{
	const struct state_dir *state = r->state;
	bool all = state->access == CPL_RECORDS_ALL;
	char *path = cpl_record_path(state->path, false, r->id, err);
	struct cpl_file_writer *w;

	if (!path)
		return;
	w = cpl_file_open_atomic(path, err);
	if (!w && errno == ENOENT) {
		err->text[0] = '\0';
		make_folder(state, "running");
		w = cpl_file_open_atomic(path, err);
	}
	if (!w && out_of_the_way(path)) {
		err->text[0] = '\0';
		w = cpl_file_open_atomic(path, err);
	}
	free(path);
	if (!w)
		return;
	cpl_file_sync(w);
	if (!all)
		cpl_file_share(w, r->user);
	fwrite(r->text, 1, r->length, cpl_file_stream(w));
	if (!cpl_file_commit(w, all ? 0644 : 0600, err))
		relieve(r->dir);
}

static void run_write(struct cpl_request *head)
{
	struct request *r = (struct request *)head;
	struct cpl_error err = {""};

	retry_ends(r->dir, r->state);
	if (check_owner(r->dir, r->state, &err))
		write_one(r, &err);
	if (err.text[0])
		complain(r->dir, err.text);
}

static int end_one(struct cpl_record_dir *dir, struct state_dir *state,
                   int64_t id)
{
	struct cpl_error err = {""};

	if (!check_owner(dir, state, &err) && !err.text[0])
		return 0;
	if (!err.text[0] && move(state, id, "ended", &err) >= 0)
		return 0;
	complain(dir, err.text);
	return -1;
}

static void retry_ends(struct cpl_record_dir *dir, struct state_dir *state)
{
	int n = state->n_late;

	if (!n || cpl_now() - state->tried < RETRY_NS)
		return;
	state->tried = cpl_now();
	state->n_late = 0;
	for (int i = 0; i < n; i++) {
		int64_t id = state->late[i];

		if (!end_one(dir, state, id))
			continue;
		/* The others would fail as well, most likely: they move up. If
		 * it is this one alone they come before it next time. */
		memmove(state->late, state->late + i + 1,
		        (size_t)(n - i - 1) * sizeof(*state->late));
		state->late[n - i - 1] = id;
		state->n_late = n - i;
		return;
	}
}

static void prune(struct cpl_record_dir *dir, struct state_dir *state)
{
	static const char *const folder[] = {"ended", "damaged"};
	struct cpl_error err = {""};

	state->ends = 0;
	for (int i = 0; i < 2; i++)
		if (cpl_record_prune(state->path, folder[i], &state->keep,
		                     time(NULL), &err) < 0)
			complain(dir, err.text);
}

static void run_end(struct cpl_request *head)
{
	struct request *r = (struct request *)head;

	retry_ends(r->dir, r->state);
	if (end_one(r->dir, r->state, r->id))
		remember_end(r->state, r->id);
	else if (++r->state->ends >= PRUNE_ENDS && r->state->ours)
		prune(r->dir, r->state);
}

static int compare_id(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The record in a text; NULL with err. */
static struct cpl_record *parse_record(const char *text, size_t length,
                                       const char *path, int64_t id,
                                       struct cpl_error *err)
{
	json_t *root = cpl_json_parse(text, length, path, err);
	struct cpl_record *record;

	if (!root)
		return NULL;
	record = cpl_record_from_json(root, err);
	json_decref(root);
	if (record && record->job == id && !cpl_record_as_it_runs(record, err))
		return record;
	if (record && record->job != id)
		cpl_fail(err, "\"job\" is %lld", (long long)record->job);
	cpl_fail_prefix(err, "%s: ", path);
	cpl_record_free(record);
	return NULL;
}

/* 0: taken, 1: no valid record, -1: it cannot be read now. */
static int take_back(const struct request *r, int64_t id, struct cpl_error *err)
{
	char *path = cpl_record_path(r->state->path, false, id, err);
	size_t length;
	char *text = path ? cpl_file_read(path, RECORD_MAX_BYTES, &length, err)
	                  : NULL;
	struct cpl_record *record =
	        text ? parse_record(text, length, path, id, err) : NULL;
	/* That the memory was out says nothing about the record. */
	int rc = text && !cpl_error_is_memory(err) ? 1 : -1;

	free(text);
	free(path);
	if (!record)
		return rc;
	r->take(r->take_arg, record);
	return 0;
}

static void restore_one(const struct request *r, int64_t id)
{
	struct cpl_error err = {""}, why = {""};
	int rc;

	if (!bsearch(&id, r->ids, (size_t)r->n_ids, sizeof(id), compare_id)) {
		end_one(r->dir, r->state, id);
		return;
	}
	rc = take_back(r, id, &err);
	if (!rc)
		return;
	say(r->dir, true,
	    "record of running job %lld cannot be taken back%s: %s",
	    (long long)id, rc > 0 ? " and is moved to damaged" : "", err.text);
	if (rc > 0 && move(r->state, id, "damaged", &why) < 0)
		say(r->dir, true, "%s", why.text);
}

static void run_restore(struct cpl_request *head)
{
	struct request *r = (struct request *)head;
	struct cpl_error err = {""};
	DIR *folder;
	int64_t id;

	/* Whoever owns it may have changed. */
	r->state->ours = r->state->foreign = false;
	if (!check_owner(r->dir, r->state, &err)) {
		if (err.text[0])
			say(r->dir, true, "%s", err.text);
		return;
	}
	qsort(r->ids, (size_t)r->n_ids, sizeof(*r->ids), compare_id);
	folder = state_open_folder(r->state->path, "running", &err);
	if (!folder && errno != ENOENT)
		say(r->dir, true, "%s", err.text);
	while (folder && state_next_job(folder, &id))
		restore_one(r, id);
	if (folder)
		closedir(folder);
	r->state->tried = 0;
	retry_ends(r->dir, r->state);
	prune(r->dir, r->state);
}

/* 0, or -1 with err; err beside 0: news. */
static int merge_counters(struct cpl_record_dir *dir,
                          const struct state_dir *state, struct cpl_error *err)
{
	char *path = cpl_counters_path(state->path, err);
	int rc = -1;

	if (!path)
		return -1;
	errno = 0;
	rc = cpl_counters_merge(dir->counters, &dir->counted, path, time(NULL),
	                        err);
	if (rc && errno == ENOENT) {
		err->text[0] = '\0';
		make_folder(state, "running");
		rc = cpl_counters_merge(dir->counters, &dir->counted, path,
		                        time(NULL), err);
	}
	free(path);
	return rc;
}

static void run_count(void *arg)
{
	struct cpl_record_dir *dir = arg;
	struct cpl_error err = {""};
	struct state_dir *state;
	int rc = 0;

	pthread_mutex_lock(&dir->lock);
	state = dir->none ? NULL : dir->state;
	pthread_mutex_unlock(&dir->lock);
	if (!state)
		return;
	if (check_owner(dir, state, &err))
		rc = merge_counters(dir, state, &err);
	else if (err.text[0])
		rc = -1;
	if (err.text[0] && !(rc && dir->count_failed))
		say(dir, true, "%s", err.text);
	dir->count_failed = rc;
}

/* Callers */

struct cpl_record_dir *cpl_record_dir_new(struct cpl_worker *worker,
                                          cpl_log_line *log, void *log_arg,
                                          struct cpl_error *err)
{
	struct cpl_record_dir *dir = calloc(1, sizeof(*dir));

	if (!dir) {
		cpl_fail_memory(err);
		return NULL;
	}
	dir->worker = worker;
	dir->log = log;
	dir->log_arg = log_arg;
	dir->none = true;
	pthread_mutex_init(&dir->lock, NULL);
	return dir;
}

void cpl_record_dir_count(struct cpl_record_dir *dir,
                          struct cpl_counters *counters)
{
	dir->counters = counters;
	cpl_worker_every(dir->worker, CPL_QUEUE_WRITE, RECORD_DIR_COUNT_NS,
	                 run_count, dir);
}

static void state_dir_free(struct state_dir *state)
{
	free(state->path);
	free(state->cluster);
	free(state->late);
	free(state);
}

void cpl_record_dir_free(struct cpl_record_dir *dir)
{
	if (!dir)
		return;
	while (dir->state) {
		struct state_dir *next = dir->state->next;

		state_dir_free(dir->state);
		dir->state = next;
	}
	pthread_mutex_destroy(&dir->lock);
	free(dir);
}

/* NULL: memory. */
static struct state_dir *state_dir_new(const char *path, const char *cluster,
                                       enum cpl_record_access access,
                                       const struct cpl_record_keep *keep)
{
	struct state_dir *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->path = strdup(path);
	state->cluster = cluster ? strdup(cluster) : NULL;
	state->access = access;
	state->keep = *keep;
	if (state->path && !state->cluster == !cluster)
		return state;
	state_dir_free(state);
	return NULL;
}

void cpl_record_dir_use(struct cpl_record_dir *dir, const char *path,
                        const char *cluster, enum cpl_record_access access,
                        const struct cpl_record_keep *keep)
{
	struct state_dir **at = &dir->state, *state = NULL;

	pthread_mutex_lock(&dir->lock);
	dir->none = !path;
	if (!path)
		goto out;
	/* Requests may be on their way to former ones: they stay. */
	while (*at && (strcmp((*at)->path, path) || (*at)->access != access ||
	               (*at)->keep.count != keep->count ||
	               (*at)->keep.days != keep->days ||
	               !same_text((*at)->cluster, cluster)))
		at = &(*at)->next;
	state = *at;
	if (state)
		*at = state->next;
	else
		state = state_dir_new(path, cluster, access, keep);
	if (!state) {
		dir->none = true;
		goto out;
	}
	state->next = dir->state;
	dir->state = state;
out:
	pthread_mutex_unlock(&dir->lock);
	if (path && !state)
		say(dir, true, "out of memory: no record is written");
}

static void request_free(struct cpl_request *head)
{
	struct request *r = (struct request *)head;

	pthread_mutex_lock(&r->dir->lock);
	r->dir->queued -= r->length;
	pthread_mutex_unlock(&r->dir->lock);
	free(r->text);
	free(r->ids);
	free(r);
}

static struct request *request_new(struct cpl_record_dir *dir, int64_t id,
                                   void (*run)(struct cpl_request *head))
{
	struct request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->head.run = run;
	r->head.free = request_free;
	r->dir = dir;
	r->state = dir->state;
	r->id = id;
	return r;
}

/* May so many bytes more be queued? */
static bool reserve(struct cpl_record_dir *dir, size_t bytes)
{
	bool fits;

	pthread_mutex_lock(&dir->lock);
	fits = dir->queued + bytes <= RECORD_DIR_QUEUE_BYTES;
	if (fits)
		dir->queued += bytes;
	pthread_mutex_unlock(&dir->lock);
	return fits;
}

/* Queue a request, NULL when memory was out. */
static void queue(struct request *r, struct cpl_record_dir *dir,
                  struct cpl_error *err)
{
	cpl_worker_queue(dir->worker, CPL_QUEUE_WRITE, r ? &r->head : NULL,
	                 false, err);
}

void cpl_record_dir_write(struct cpl_record_dir *dir,
                          const struct cpl_record *record)
{
	struct cpl_error err = {""};
	struct request *r;

	if (dir->none)
		return;
	r = request_new(dir, record->job, run_write);
	if (r) {
		r->user = record->uid;
		r->text = cpl_record_text(record, &r->length, &err);
	}
	if (!r) {
		cpl_fail_memory(&err);
	} else if (!r->text) {
		free(r);
	} else if (!reserve(dir, r->length)) {
		cpl_fail(&err,
		         "%s: records come faster than they can be written",
		         dir->state->path);
		free(r->text);
		free(r);
	} else {
		queue(r, dir, &err);
	}
	if (err.text[0])
		complain(dir, err.text);
}

void cpl_record_dir_end(struct cpl_record_dir *dir, int64_t id)
{
	struct cpl_error err = {""};

	if (dir->none)
		return;
	queue(request_new(dir, id, run_end), dir, &err);
	if (err.text[0])
		say(dir, true, "record of job %lld stays in running: %s",
		    (long long)id, err.text);
}

void cpl_record_dir_restore(struct cpl_record_dir *dir, const int64_t *id,
                            int n,
                            void (*take)(void *arg, struct cpl_record *record),
                            void *arg)
{
	struct cpl_error err = {""};
	struct request *r;

	if (dir->none)
		return;
	r = id ? request_new(dir, 0, run_restore) : NULL;
	if (r)
		r->ids = malloc(((size_t)n + 1) * sizeof(*r->ids));
	if (r && r->ids) {
		memcpy(r->ids, id, (size_t)n * sizeof(*r->ids));
		r->n_ids = n;
		r->take = take;
		r->take_arg = arg;
	} else if (r) {
		request_free(&r->head);
		r = NULL;
	}
	queue(r, dir, &err);
	if (err.text[0])
		say(dir, true, "running jobs do not count as background: %s",
		    err.text);
}
