/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "linking.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Does the file's dynamic section say that it is a program, not a library? */
static bool is_program(const unsigned char *file, size_t size, const Elf64_Phdr *part)
{
	Elf64_Dyn entry;

	for (size_t at = 0; part->p_offset <= size &&
	                    part->p_filesz <= size - part->p_offset &&
	                    at + sizeof(entry) <= part->p_filesz;
	     at += sizeof(entry)) {
		memcpy(&entry, file + part->p_offset + at, sizeof(entry));
		if (entry.d_tag == DT_FLAGS_1)
			return entry.d_un.d_val & DF_1_PIE;
	}
	return false;
}

/* Is this a program, not a shared library, that asks for no loader (or may), and knows
 * a name that all MPI libraries have, be it for their messages alone? */
static bool has_mpi_inside(const unsigned char *file, size_t size, bool may_ask)
{
	static const char name[] = "MPI_Init";
	const Elf64_Ehdr *head = (const void *)file;
	bool program, asks = false;

	if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phoff > size ||
	    head->e_phnum > (size - head->e_phoff) / sizeof(Elf64_Phdr))
		return false;
	program = head->e_type == ET_EXEC;
	for (int i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr part;

		memcpy(&part, file + head->e_phoff + (size_t)i * sizeof(part),
		       sizeof(part));
		asks |= part.p_type == PT_INTERP;
		if (part.p_type == PT_DYNAMIC && head->e_type == ET_DYN)
			program |= is_program(file, size, &part);
	}
	return (asks ? may_ask : program) &&
	       memmem(file, size, name, sizeof(name) - 1);
}

bool cpl_file_has_mpi(const char *path, bool may_ask)
{
	int fd = access(path, X_OK)
	                 ? -1
	                 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* What has no size, or cannot be mapped, is no program. */
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *file = size <= 0 ? MAP_FAILED
	                       : mmap(NULL, (size_t)size, PROT_READ,
	                              MAP_PRIVATE, fd, 0);
	bool is = file != MAP_FAILED &&
	          has_mpi_inside(file, (size_t)size, may_ask);

	if (file != MAP_FAILED)
		munmap(file, (size_t)size);
	if (fd >= 0)
		close(fd);
	return is;
}
