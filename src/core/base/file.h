/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole files in and out. Regular ones only: a FIFO could block its reader. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"

/* What tells that a file is still the one that was read, by the same users. */
struct cpl_file_stamp {
	dev_t dev;
	ino_t inode;
	off_t size;
	struct timespec mtime;
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

/* Somebody who may or may not read a file. */
struct cpl_reader {
	uid_t uid;
	gid_t gid;
	/* Is it in this group, too? NULL: in none. */
	bool (*in_group)(void *arg, gid_t gid);
	void *arg;
};

/* What owner, group and mode of a file say; root may read all. The folders
 * above it and access control lists are not looked at. */
bool cpl_file_readable_by(const struct cpl_file_stamp *stamp,
                          const struct cpl_reader *reader);

/* The same file, unchanged as far as stamps tell: see struct cpl_file_mark. */
bool cpl_file_stamp_equal(const struct cpl_file_stamp *a,
                          const struct cpl_file_stamp *b);

/* The stamp of what a path names now, links followed. -1: errno, and *stamp is
 * {0}. */
int cpl_file_stamp(const char *path, struct cpl_file_stamp *stamp);

/* What tells that a file still holds what it did when it was read. */
struct cpl_file_mark {
	struct cpl_file_stamp stamp;
	bool fresh;       /* another change may leave the stamp as it is: */
	uint64_t part;    /* of the first bytes, so many, */
	uint64_t content; /* a hash */
};

/* May a change from now on have the time of the one before? It has where both
 * are within a tick of the file system's clock, and a server's clock may not be
 * ours. */
bool cpl_file_stamp_fresh(const struct cpl_file_stamp *stamp);

/*
 * Mark a file that was opened with this stamp, before it is read: what is
 * changed meanwhile is another file then. The descriptor's position stays.
 * O(1); of one that is fresh O(part), or O(bytes) where it has less.
 */
void cpl_file_mark(int fd, const struct cpl_file_stamp *stamp, uint64_t part,
                   struct cpl_file_mark *mark);

/* Is the file that was opened with the stamp `now` the marked one? Cost as for
 * the mark; one that is no longer fresh is read for the last time. */
bool cpl_file_marked(int fd, const struct cpl_file_stamp *now,
                     struct cpl_file_mark *mark);

/* Is something there, links followed? No, with errno, where it may not be
 * looked at. This goes by the rights that this thread opens files with;
 * access() goes by those of the process that started. */
bool cpl_file_exists(const char *path);

enum cpl_file_links { CPL_LINKS_FOLLOW, CPL_LINKS_REFUSE };

/*
 * Open a regular file of at most max bytes for reading; CPL_LINKS_REFUSE: the
 * path's last part may not be a symbolic link. The descriptor, or -1 with err
 * "FILE: reason" and errno: open()'s, ELOOP for a link, EINVAL for what is no
 * regular file, EFBIG.
 */
int cpl_file_open(const char *path, enum cpl_file_links links, uint64_t max,
                  struct cpl_file_stamp *stamp, struct cpl_error *err);

/* Read up to size bytes from the descriptor's position on; result and errors
 * as in cpl_file_read. The descriptor stays open. */
char *cpl_file_read_open(int fd, const char *path, uint64_t size,
                         size_t *length, struct cpl_error *err);

/* Read a file, links followed, to free(); a NUL stands behind its *length
 * bytes. NULL with err "FILE: reason". O(bytes). */
char *cpl_file_read(const char *path, uint64_t max, size_t *length,
                    struct cpl_error *err);

/* The number of the descriptor of this process that a path such as /dev/stdout
 * or /proc/self/fd/1 names, or -1. These are links, whose place no file may
 * take. */
int cpl_file_descriptor(const char *path);

/*
 * Write a file through a temporary one in the same folder and a rename: a
 * reader sees the old file or the new one. Mode is its permission bits. Refused
 * where the path is something else than a regular file, unless it is one of our
 * own descriptors, to which is written as it comes. 0, or -1 with err and
 * errno.
 */
int cpl_file_write_atomic(const char *path, const void *data, size_t length,
                          int mode, struct cpl_error *err);

/* The same piece by piece: print to the stream (errors show in the end), then
 * commit or abandon; both free the writer. */
struct cpl_file_writer;
struct cpl_file_writer *cpl_file_open_atomic(const char *path,
                                             struct cpl_error *err);
FILE *cpl_file_stream(struct cpl_file_writer *writer);
int cpl_file_commit(struct cpl_file_writer *writer, int mode,
                    struct cpl_error *err);
void cpl_file_abandon(struct cpl_file_writer *writer);
/* Have commit wait until the content is on the disk. */
void cpl_file_sync(struct cpl_file_writer *writer);
/* Have commit let this user read the file, by an access control list where the
 * file system knows such lists. */
void cpl_file_share(struct cpl_file_writer *writer, uid_t user);

/* "DIR/NAME" for the caller to free; NULL when memory is out. */
char *cpl_path_join(const char *dir, const char *name, struct cpl_error *err);
/* The last part of a path: what follows its last "/", in place. */
const char *cpl_path_base(const char *path);
/* The file NAME in the folder of PATH; NAME itself where it begins with "/". */
char *cpl_path_beside(const char *path, const char *name,
                      struct cpl_error *err);
