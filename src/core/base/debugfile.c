/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"

#include "base/debugfile.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#define ID_BYTES 64
/* Before the build id in its note: three numbers and "GNU". */
#define ID_HEAD 16
#define DEBUG_ROOT "/usr/lib/debug"

/* What of a file says where else to look. */
struct elsewhere {
	unsigned char id[ID_BYTES];
	size_t n_id; /* 0: it has none */
	char link[NAME_MAX + 1];
};

static bool read_at(int fd, void *to, size_t n, uint64_t offset)
{
	return offset <= INT64_MAX &&
	       pread(fd, to, n, (off_t)offset) == (ssize_t)n;
}

static void drop(struct cpl_section *section)
{
	free(section->at);
	*section = (struct cpl_section){NULL, 0};
}

/* In the place of what is compressed. */
static bool uncompressed(struct cpl_section *section)
{
	bool done = false;
#ifdef HAVE_ZLIB
	struct cpl_section out = {NULL, 0};
	z_stream z = {0};
	Elf64_Chdr head;

	if (section->n < sizeof(head))
		return false;
	memcpy(&head, section->at, sizeof(head));
	if (head.ch_type != ELFCOMPRESS_ZLIB ||
	    head.ch_size > CPL_DEBUGFILE_MAX)
		return false;
	out.n = (size_t)head.ch_size;
	out.at = malloc(out.n + 1);
	if (!out.at || inflateInit(&z) != Z_OK) {
		free(out.at);
		return false;
	}
	z.next_in = section->at + sizeof(head);
	z.avail_in = (uInt)(section->n - sizeof(head));
	z.next_out = out.at;
	z.avail_out = (uInt)out.n;
	done = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_out;
	inflateEnd(&z);
	if (done) {
		free(section->at);
		*section = out;
	} else {
		free(out.at);
	}
#endif
	return done;
}

/* The first of its name; none where it cannot be read. */
static void load_section(int fd, const Elf64_Shdr *section,
                         struct cpl_section *out)
{
	if (out->at || section->sh_type != SHT_PROGBITS ||
	    section->sh_size > CPL_DEBUGFILE_MAX)
		return;
	out->n = (size_t)section->sh_size;
	out->at = malloc(out->n + 1);
	if (!out->at || !read_at(fd, out->at, out->n, section->sh_offset) ||
	    (section->sh_flags & SHF_COMPRESSED && !uncompressed(out)))
		drop(out);
}

static void read_id(int fd, const Elf64_Shdr *note, struct elsewhere *to)
{
	if (note->sh_size <= ID_HEAD || note->sh_size > ID_HEAD + ID_BYTES)
		return;
	to->n_id = (size_t)note->sh_size - ID_HEAD;
	if (!read_at(fd, to->id, to->n_id, note->sh_offset + ID_HEAD))
		to->n_id = 0;
}

/* A file's name in its folder. */
static void read_link(int fd, const Elf64_Shdr *section, struct elsewhere *to)
{
	size_t n = section->sh_size < sizeof(to->link) ? section->sh_size
	                                               : sizeof(to->link) - 1;

	if (!read_at(fd, to->link, n, section->sh_offset))
		n = 0;
	to->link[n] = '\0';
	if (strchr(to->link, '/'))
		to->link[0] = '\0';
}

static void load_sections(int fd, const Elf64_Ehdr *head,
                          const Elf64_Shdr *section, struct cpl_debugfile *out,
                          struct elsewhere *to)
{
	const Elf64_Shdr *names = &section[head->e_shstrndx];
	struct cpl_section text = {NULL, 0};
	const struct {
		const char *name;
		struct cpl_section *to;
	} what[] = {{".debug_info", &out->info},
	            {".debug_abbrev", &out->abbrev},
	            {".debug_str", &out->str},
	            {".debug_line_str", &out->line_str}};

	text.n = (size_t)names->sh_size;
	if (names->sh_size > CPL_DEBUGFILE_MAX ||
	    !(text.at = malloc(text.n + 1)))
		return;
	if (!read_at(fd, text.at, text.n, names->sh_offset))
		text.n = 0;
	text.at[text.n] = '\0';
	for (size_t i = 0; i < head->e_shnum; i++) {
		const char *name =
		        section[i].sh_name < text.n
		                ? (char *)text.at + section[i].sh_name
		                : "";

		if (!strcmp(name, ".note.gnu.build-id"))
			read_id(fd, &section[i], to);
		else if (!strcmp(name, ".gnu_debuglink"))
			read_link(fd, &section[i], to);
		for (size_t k = 0; k < sizeof(what) / sizeof(*what); k++)
			if (!strcmp(name, what[k].name))
				load_section(fd, &section[i], what[k].to);
	}
	drop(&text);
}

static void load_file(const char *path, struct cpl_debugfile *out,
                      struct elsewhere *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const union {
		uint16_t word;
		unsigned char first;
	} order = {.word = 1};
	Elf64_Shdr *section = NULL;
	struct stat st;
	Elf64_Ehdr head;

	memset(out, 0, sizeof(*out));
	memset(to, 0, sizeof(*to));
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && order.first &&
	    read_at(fd, &head, sizeof(head), 0) &&
	    !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
	    head.e_ident[EI_CLASS] == ELFCLASS64 &&
	    head.e_ident[EI_DATA] == ELFDATA2LSB &&
	    head.e_shentsize == sizeof(*section) &&
	    head.e_shstrndx < head.e_shnum)
		section = calloc(head.e_shnum, sizeof(*section));
	if (section &&
	    read_at(fd, section, head.e_shnum * sizeof(*section), head.e_shoff))
		load_sections(fd, &head, section, out, to);
	free(section);
	close(fd);
}

/* That file, if it was split off this program. */
static bool load_other(const char *path, const struct elsewhere *of,
                       struct cpl_debugfile *out)
{
	struct elsewhere its;

	load_file(path, out, &its);
	if (out->info.at && out->abbrev.at && its.n_id == of->n_id &&
	    !memcmp(its.id, of->id, of->n_id))
		return true;
	cpl_debugfile_drop(out);
	return false;
}

static bool load_by_id(const struct elsewhere *of, struct cpl_debugfile *out)
{
	char path[sizeof(DEBUG_ROOT "/.build-id/00/.debug") + 2 * ID_BYTES];
	int at = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%02x/",
	                  of->id[0]);

	for (size_t i = 1; i < of->n_id; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x",
		               of->id[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return load_other(path, of, out);
}

static bool load_by_link(const char *program, const struct elsewhere *of,
                         struct cpl_debugfile *out)
{
	char real[PATH_MAX], path[2 * PATH_MAX], *slash;
	static const char *const form[] = {"%s/%s", "%s/.debug/%s",
	                                   DEBUG_ROOT "%s/%s"};

	if (!of->link[0] || !realpath(program, real))
		return false;
	slash = strrchr(real, '/');
	if (!slash)
		return false;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(form) / sizeof(*form); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), form[i], real, of->link);
#pragma GCC diagnostic pop
		if (load_other(path, of, out))
			return true;
	}
	return false;
}

bool cpl_debugfile_load(const char *program, struct cpl_debugfile *out)
{
	struct elsewhere to;

	load_file(program, out, &to);
	if (out->info.at && out->abbrev.at)
		return true;
	cpl_debugfile_drop(out);
	return to.n_id &&
	       (load_by_id(&to, out) || load_by_link(program, &to, out));
}

void cpl_debugfile_drop(struct cpl_debugfile *file)
{
	drop(&file->info);
	drop(&file->abbrev);
	drop(&file->str);
	drop(&file->line_str);
}
