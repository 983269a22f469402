/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "linking.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is this a program, not a shared library, that asks for no loader, and knows a name
 * that all MPI libraries have, be it for their messages alone? */
static bool has_mpi_inside(const unsigned char *file, size_t size)
{
	static const char name[] = "MPI_Init";
	const Elf64_Ehdr *head = (const void *)file;

	if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_type != ET_EXEC ||
	    head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phoff > size ||
	    head->e_phnum > (size - head->e_phoff) / sizeof(Elf64_Phdr))
		return false;
	for (int i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr part;

		memcpy(&part, file + head->e_phoff + (size_t)i * sizeof(part),
		       sizeof(part));
		if (part.p_type == PT_INTERP)
			return false;
	}
	return memmem(file, size, name, sizeof(name) - 1);
}

bool cpl_file_has_mpi(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *file;
	bool is = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & 0111 &&
	    st.st_size > 0) {
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
		            fd, 0);
		if (file != MAP_FAILED) {
			is = has_mpi_inside(file, (size_t)st.st_size);
			munmap(file, (size_t)st.st_size);
		}
	}
	close(fd);
	return is;
}
