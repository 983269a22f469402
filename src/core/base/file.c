/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "base/file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"

/* FAT's ticks are of two seconds. */
#define TICK_SECONDS 5

#define NO_NAME "the name of a file is empty"

bool cpl_file_stamp_equal(const struct cpl_file_stamp *a,
                          const struct cpl_file_stamp *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec &&
	       a->mtime.tv_nsec == b->mtime.tv_nsec && a->mode == b->mode &&
	       a->uid == b->uid && a->gid == b->gid;
}

bool cpl_file_readable_by(const struct cpl_file_stamp *stamp,
                          const struct cpl_reader *reader)
{
	if (!reader->uid)
		return true;
	if (stamp->uid == reader->uid)
		return stamp->mode & S_IRUSR;
	/* Groups may take long to look up, so that is done only where it
	 * matters. */
	if (!(stamp->mode & S_IRGRP) == !(stamp->mode & S_IROTH))
		return stamp->mode & S_IROTH;
	if (stamp->gid == reader->gid ||
	    (reader->in_group && reader->in_group(reader->arg, stamp->gid)))
		return stamp->mode & S_IRGRP;
	return stamp->mode & S_IROTH;
}

static struct cpl_file_stamp stamp_of(const struct stat *st)
{
	return (struct cpl_file_stamp){.dev = st->st_dev,
	                               .inode = st->st_ino,
	                               .size = st->st_size,
	                               .mtime = st->st_mtim,
	                               .mode = st->st_mode,
	                               .uid = st->st_uid,
	                               .gid = st->st_gid};
}

int cpl_file_stamp(const char *path, struct cpl_file_stamp *stamp)
{
	struct stat st;
	int rc = stat(path, &st);

	*stamp = rc ? (struct cpl_file_stamp){0} : stamp_of(&st);
	return rc;
}

bool cpl_file_exists(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

__attribute__((format(printf, 3, 4))) static int
refuse(int error, struct cpl_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cpl_vfail(err, fmt, ap);
	va_end(ap);
	errno = error;
	return -1;
}

static int check_regular(const char *path, const struct stat *st, uint64_t max,
                         struct cpl_error *err)
{
	if (S_ISDIR(st->st_mode))
		return refuse(EINVAL, err,
		              "%s: is a directory; a file is needed", path);
	if (!S_ISREG(st->st_mode))
		return refuse(EINVAL, err, "%s: is not a regular file", path);
	if ((uint64_t)st->st_size > max)
		return refuse(EFBIG, err,
		              "%s: has %lld bytes; at most %llu are read", path,
		              (long long)st->st_size, (unsigned long long)max);
	return 0;
}

int cpl_file_open(const char *path, enum cpl_file_links links, uint64_t max,
                  struct cpl_file_stamp *stamp, struct cpl_error *err)
{
	int no_links = links == CPL_LINKS_REFUSE ? O_NOFOLLOW : 0, failed;
	struct stat st;
	/* Non-blocking, or opening a FIFO would wait for its writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | no_links);

	if (fd < 0 && !*path)
		return refuse(ENOENT, err, NO_NAME);
	if (fd < 0 && no_links && errno == ELOOP)
		return refuse(ELOOP, err,
		              "%s: is a symbolic link; a regular file is "
		              "needed",
		              path);
	if (fd < 0 || fstat(fd, &st)) {
		refuse(errno, err, "%s: %s", path, strerror(errno));
	} else if (!check_regular(path, &st, max, err)) {
		*stamp = stamp_of(&st);
		return fd;
	}
	failed = errno;
	if (fd >= 0)
		close(fd);
	errno = failed;
	return -1;
}

char *cpl_file_read_open(int fd, const char *path, uint64_t size,
                         size_t *length, struct cpl_error *err)
{
	char *text = malloc((size_t)size + 1);
	size_t done = 0;

	if (!text) {
		refuse(ENOMEM, err, "%s: out of memory", path);
		return NULL;
	}
	while (done < size) {
		ssize_t n = read(fd, text + done, (size_t)size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(text);
			refuse(errno, err, "%s: %s", path, strerror(errno));
			return NULL;
		}
		if (n == 0)
			break;
		done += (size_t)n;
	}
	text[done] = '\0';
	*length = done;
	return text;
}

bool cpl_file_stamp_fresh(const struct cpl_file_stamp *stamp)
{
	return stamp->mtime.tv_sec + TICK_SECONDS >= time(NULL);
}

/* As many bytes as there are, up to [size]. */
static size_t read_block(int fd, char *block, size_t size, uint64_t at)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, block + done, size - done,
		                  (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* Hashed by words of eight bytes, the last one filled up with zeros, since
 * sizes are compared, too. */
static uint64_t hash_piece(int fd, uint64_t part)
{
	uint64_t hash = 0, at = 0;
	char block[32768];
	size_t n, want;

	do {
		want = part - at < sizeof(block) ? (size_t)(part - at)
		                                 : sizeof(block);
		n = read_block(fd, block, want, at);
		for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
			uint64_t word = 0;

			memcpy(&word, block + i,
			       n - i < sizeof(word) ? n - i : sizeof(word));
			hash = cpl_random_mix(hash ^ word);
		}
		at += n;
	} while (n && n == want && at < part);
	return hash;
}

void cpl_file_mark(int fd, const struct cpl_file_stamp *stamp, uint64_t part,
                   struct cpl_file_mark *mark)
{
	*mark = (struct cpl_file_mark){.stamp = *stamp,
	                               .fresh = cpl_file_stamp_fresh(stamp),
	                               .part = part};
	if (mark->fresh)
		mark->content = hash_piece(fd, part);
}

bool cpl_file_marked(int fd, const struct cpl_file_stamp *now,
                     struct cpl_file_mark *mark)
{
	bool fresh;

	if (!cpl_file_stamp_equal(now, &mark->stamp))
		return false;
	fresh = cpl_file_stamp_fresh(now);
	if (mark->fresh && hash_piece(fd, mark->part) != mark->content)
		return false;
	mark->fresh = mark->fresh && fresh;
	return true;
}

char *cpl_file_read(const char *path, uint64_t max, size_t *length,
                    struct cpl_error *err)
{
	struct cpl_file_stamp stamp;
	int fd = cpl_file_open(path, CPL_LINKS_FOLLOW, max, &stamp, err);
	char *text;

	if (fd < 0)
		return NULL;
	text = cpl_file_read_open(fd, path, (uint64_t)stamp.size, length, err);
	close(fd);
	return text;
}

struct cpl_file_writer {
	char *path, *temp; /* temp NULL: straight to a descriptor */
	FILE *stream;
	int fd;    /* the stream's */
	int error; /* of the first write that failed */
	bool sync, share;
	uid_t user; /* to share with */
};

/* stdio forgets why a write failed before the last one. */
static ssize_t stream_write(void *cookie, const char *data, size_t n)
{
	struct cpl_file_writer *w = cookie;
	size_t done = 0;

	while (done < n && !w->error) {
		ssize_t now = write(w->fd, data + done, n - done);

		if (now >= 0)
			done += (size_t)now;
		else if (errno != EINTR)
			w->error = errno;
	}
	return w->error ? 0 : (ssize_t)done;
}

static int stream_close(void *cookie)
{
	struct cpl_file_writer *w = cookie;

	return close(w->fd);
}

int cpl_file_descriptor(const char *path)
{
	static const char *const standard[] = {"/dev/stdin", "/dev/stdout",
	                                       "/dev/stderr"};
	static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};

	for (int fd = 0; fd < 3; fd++)
		if (!strcmp(path, standard[fd]))
			return fd;
	for (int i = 0; i < 2; i++) {
		size_t n = strlen(folder[i]);
		const char *number = path + n;

		if (!strncmp(path, folder[i], n) && *number &&
		    strlen(number) < 7 && !number[strspn(number, "0123456789")])
			return atoi(number);
	}
	return -1;
}

/* Open a file next to the path, which will replace it. The descriptor, or -1
 * with errno. */
static int open_temp(struct cpl_file_writer *w)
{
	int fd;

	if (asprintf(&w->temp, "%s.tmp-XXXXXX", w->path) < 0) {
		w->temp = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(w->temp, O_CLOEXEC);
	if (fd < 0) {
		free(w->temp);
		w->temp = NULL;
	}
	return fd;
}

struct cpl_file_writer *cpl_file_open_atomic(const char *path,
                                             struct cpl_error *err)
{
	struct cpl_file_writer *w;
	int own = cpl_file_descriptor(path), failed;
	struct stat st;

	if (!*path) {
		refuse(ENOENT, err, NO_NAME);
		return NULL;
	}
	if (own < 0 && !stat(path, &st) && !S_ISREG(st.st_mode)) {
		refuse(EINVAL, err, "%s: exists and is not a regular file",
		       path);
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		goto memory;
	w->path = strdup(path);
	if (!w->path)
		goto memory;
	w->fd = own < 0 ? open_temp(w) : fcntl(own, F_DUPFD_CLOEXEC, 0);
	if (w->fd < 0) {
		failed = errno;
		cpl_file_abandon(w);
		refuse(failed, err, "%s: cannot be written: %s", path,
		       strerror(failed));
		return NULL;
	}
	w->stream = fopencookie(w, "w",
	                        (cookie_io_functions_t){.write = stream_write,
	                                                .close = stream_close});
	if (w->stream)
		return w;
	close(w->fd);
memory:
	cpl_file_abandon(w);
	refuse(ENOMEM, err, "out of memory");
	return NULL;
}

FILE *cpl_file_stream(struct cpl_file_writer *writer)
{
	return writer->stream;
}

void cpl_file_abandon(struct cpl_file_writer *writer)
{
	if (!writer)
		return;
	if (writer->stream)
		fclose(writer->stream);
	if (writer->temp)
		unlink(writer->temp);
	cpl_free_all(writer->temp, writer->path, writer);
}

void cpl_file_sync(struct cpl_file_writer *writer)
{
	writer->sync = true;
}

void cpl_file_share(struct cpl_file_writer *writer, uid_t user)
{
	writer->share = true;
	writer->user = user;
}

/*
 * Give rw------- and r-- for one user, by a POSIX.1e access control list in the
 * kernel's own format, so that no library is needed. Without such lists the
 * file stays its owner's.
 */
static void share_with(int fd, uid_t user)
{
	enum { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, MASK = 16, OTHER = 32 };
	struct {
		uint32_t version;
		struct {
			uint16_t tag, permissions;
			uint32_t id;
		} entry[5];
	} list = {htole32(2),
	          {{htole16(USER_OBJ), htole16(6), UINT32_MAX},
	           {htole16(USER), htole16(4), htole32(user)},
	           {htole16(GROUP_OBJ), 0, UINT32_MAX},
	           {htole16(MASK), htole16(4), UINT32_MAX},
	           {htole16(OTHER), 0, UINT32_MAX}}};
	struct stat st;

	if (!fstat(fd, &st) && st.st_uid != user)
		fsetxattr(fd, "system.posix_acl_access", &list, sizeof(list),
		          0);
}

static int finish(struct cpl_file_writer *w, int mode)
{
	if (fflush(w->stream) || ferror(w->stream))
		return w->error ? w->error : EIO;
	if (!w->temp)
		return 0;
	if (fchmod(w->fd, (mode_t)mode))
		return errno;
	if (w->share)
		share_with(w->fd, w->user);
	/* A file that cannot be synced (EINVAL) is written all the same. */
	if (w->sync && fdatasync(w->fd) && errno != EINVAL)
		return errno;
	return 0;
}

int cpl_file_commit(struct cpl_file_writer *writer, int mode,
                    struct cpl_error *err)
{
	int failed = finish(writer, mode);
	FILE *f = writer->stream;

	writer->stream = NULL;
	/* close() can be what reports a full disk or quota. */
	if (fclose(f) && !failed)
		failed = errno;
	if (!failed && writer->temp && rename(writer->temp, writer->path))
		failed = errno;
	if (failed) {
		cpl_fail(err, "%s: cannot be written: %s", writer->path,
		         strerror(failed));
	} else {
		free(writer->temp);
		writer->temp = NULL;
	}
	cpl_file_abandon(writer);
	errno = failed;
	return failed ? -1 : 0;
}

int cpl_file_write_atomic(const char *path, const void *data, size_t length,
                          int mode, struct cpl_error *err)
{
	struct cpl_file_writer *w = cpl_file_open_atomic(path, err);

	if (!w)
		return -1;
	fwrite(data, 1, length, w->stream);
	return cpl_file_commit(w, mode, err);
}

char *cpl_path_join(const char *dir, const char *name, struct cpl_error *err)
{
	size_t n = strlen(dir);
	char *path;

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (asprintf(&path, "%.*s%s%s", (int)n, dir,
	             n && dir[n - 1] == '/' ? "" : "/", name) < 0)
		return cpl_fail_null_memory(err);
	return path;
}

const char *cpl_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *cpl_path_beside(const char *path, const char *name, struct cpl_error *err)
{
	const char *slash = *name == '/' ? NULL : strrchr(path, '/');
	char *full;

	if (asprintf(&full, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path,
	             name) >= 0)
		return full;
	cpl_fail_memory(err);
	return NULL;
}
