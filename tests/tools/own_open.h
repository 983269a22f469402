/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open() in all its forms by own_open(path, flags, mode), which stands before. */
int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	return own_open(path, flags, mode);
}

/* What open() of two arguments is under _FORTIFY_SOURCE, as in packages. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return own_open(path, flags, 0);
}
