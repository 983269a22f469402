/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recorded process tells of its program, and where its files go: the
 * same for MPI's recorder and NCCL's plugin. */
#pragma once

struct rec_program {
	char command[4096]; /* with its arguments, spaces between */
	char name[129], application[129];
};

/* The name is COMMPLACE_RECORD_NAME or made of the path, and the application
 * COMMPLACE_RECORD_APPLICATION or the program's file. */
void rec_program_describe(struct rec_program *p, const char *path);

/* This makes a path absolute, since the program may change its directory. Free
 * it; NULL: there is none, or memory is out. */
char *rec_path_absolute(const char *path);

/* This makes the folders that a file is to be in. What fails is noticed when
 * the file is written. */
void rec_folders_make(char *path);
