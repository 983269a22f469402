/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/debuginfo.h"

#include "base/debugfile.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of DWARF, what is looked at. */
enum {
	TAG_ARRAY = 0x01,
	TAG_ENUM = 0x04,
	TAG_MEMBER = 0x0d,
	TAG_POINTER = 0x0f,
	TAG_STRUCT = 0x13,
	TAG_TYPEDEF = 0x16,
	TAG_UNION = 0x17,
	TAG_SUBRANGE = 0x21,
	TAG_BASE = 0x24,
	TAG_CONST = 0x26,
	TAG_VOLATILE = 0x35,
};
enum {
	AT_SIBLING = 0x01,
	AT_NAME = 0x03,
	AT_BYTE_SIZE = 0x0b,
	AT_UPPER_BOUND = 0x2f,
	AT_COUNT = 0x37,
	AT_LOCATION = 0x38, /* of a member */
	AT_DECLARATION = 0x3c,
	AT_TYPE = 0x49,
};

#define MAX_SECTIONS 65536
#define MAX_ABBREVS 8192 /* of a unit */
#define MAX_DEPTH 64     /* of types in types, and of entries in entries */
#define MAX_NAME 4096
#define MAX_LEB 10 /* bytes of a number */
/* Attributes that are read, before a file is none that a compiler made. */
#define MAX_WORK ((uint64_t)64 << 20)
#define UNIT_WORK 1024 /* what a unit costs that has none */

/* Reads to its end, and then zeros. */
struct reader {
	const unsigned char *at, *end;
	bool bad;
};

static uint64_t number(struct reader *r, size_t n)
{
	uint64_t value = 0;

	if ((size_t)(r->end - r->at) < n) {
		r->bad = true;
		r->at = r->end;
		return 0;
	}
	memcpy(&value, r->at, n); /* little endian, see debugfile.c */
	r->at += n;
	return value;
}

static void skip(struct reader *r, uint64_t n)
{
	if ((uint64_t)(r->end - r->at) < n) {
		r->bad = true;
		n = (uint64_t)(r->end - r->at);
	}
	r->at += n;
}

/* LEB128, unsigned; a signed one is as long. */
static uint64_t leb(struct reader *r)
{
	uint64_t value = 0;

	for (int i = 0; i < MAX_LEB; i++) {
		uint64_t byte = number(r, 1);

		value |= (byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return value;
	}
	r->bad = true;
	return 0;
}

/* A name that ends inside; else NULL. */
static const char *string_at(const struct cpl_section *strings, uint64_t offset)
{
	size_t left;

	if (offset >= strings->n)
		return NULL;
	left = strings->n - (size_t)offset;
	return memchr(strings->at + offset, 0,
	              left < MAX_NAME ? left : MAX_NAME)
	               ? (const char *)strings->at + offset
	               : NULL;
}

static const char *text(struct reader *r)
{
	const struct cpl_section here = {(unsigned char *)(uintptr_t)r->at,
	                                 (size_t)(r->end - r->at)};
	const char *s = string_at(&here, 0);

	if (s)
		r->at += strlen(s) + 1;
	else
		r->bad = true;
	return s;
}

struct abbrev {
	uint64_t tag;
	bool children;
	const unsigned char *attributes; /* NULL: there is no such code */
};

struct compile_unit {
	const struct cpl_debugfile *file;
	const unsigned char *start, *entries, *end; /* of .debug_info */
	const unsigned char *abbrev_end;
	struct abbrev *abbrev; /* [MAX_ABBREVS] by code */
	size_t n_abbrevs;
	unsigned version, address, offset; /* offset: 4 or 8 bytes */
	uint64_t work;                     /* of all units until now */
};

/* An entry's attributes, as far as they are looked at. */
struct entry {
	const struct abbrev *kind; /* NULL: the end of a list of children */
	const char *name;
	uint64_t type, size, location, count, sibling; /* of the unit's start */
	bool has_type, has_size, has_location, has_count, declaration;
};

struct value {
	uint64_t number;
	const char *text;
	bool constant, reference;
};

/* One attribute's value, of this form. Unknown forms make the reader bad. */
static struct value value_of(const struct compile_unit *u, struct reader *r,
                             uint64_t form, int64_t implicit)
{
	struct value v = {0};

	switch (form) {
	case 0x01: /* addr */
		skip(r, u->address);
		break;
	case 0x0b: /* data1, 2, 4, 8 */
		v = (struct value){number(r, 1), NULL, true, false};
		break;
	case 0x05:
		v = (struct value){number(r, 2), NULL, true, false};
		break;
	case 0x06:
		v = (struct value){number(r, 4), NULL, true, false};
		break;
	case 0x07:
		v = (struct value){number(r, 8), NULL, true, false};
		break;
	case 0x1e: /* data16 */
		skip(r, 16);
		break;
	case 0x0d: /* sdata, udata */
	case 0x0f:
		v = (struct value){leb(r), NULL, true, false};
		break;
	case 0x21: /* implicit_const */
		v = (struct value){(uint64_t)implicit, NULL, true, false};
		break;
	case 0x08: /* string */
		v.text = text(r);
		break;
	case 0x0e: /* strp */
		v.text = string_at(&u->file->str, number(r, u->offset));
		break;
	case 0x1f: /* line_strp */
		v.text = string_at(&u->file->line_str, number(r, u->offset));
		break;
	case 0x11: /* ref1, 2, 4, 8, udata: in this unit */
		v = (struct value){number(r, 1), NULL, false, true};
		break;
	case 0x12:
		v = (struct value){number(r, 2), NULL, false, true};
		break;
	case 0x13:
		v = (struct value){number(r, 4), NULL, false, true};
		break;
	case 0x14:
		v = (struct value){number(r, 8), NULL, false, true};
		break;
	case 0x15:
		v = (struct value){leb(r), NULL, false, true};
		break;
	case 0x10: /* ref_addr, sec_offset, those of another file */
		skip(r, u->version < 3 ? u->address : u->offset);
		break;
	case 0x17:
	case 0x1d:
	case 0x1f20:
	case 0x1f21:
		skip(r, u->offset);
		break;
	case 0x1c: /* ref_sup4 */
		skip(r, 4);
		break;
	case 0x20: /* ref_sig8, ref_sup8 */
	case 0x24:
		skip(r, 8);
		break;
	case 0x0c: /* flag, flag_present */
		v = (struct value){number(r, 1), NULL, true, false};
		break;
	case 0x19:
		v = (struct value){1, NULL, true, false};
		break;
	case 0x0a: /* block1, 2, 4, exprloc and block */
		skip(r, number(r, 1));
		break;
	case 0x03:
		skip(r, number(r, 2));
		break;
	case 0x04:
		skip(r, number(r, 4));
		break;
	case 0x09:
	case 0x18:
		skip(r, leb(r));
		break;
	default:
		r->bad = true;
	}
	return v;
}

static void keep(struct entry *e, uint64_t attribute, const struct value *v)
{
	if (attribute == AT_NAME) {
		e->name = v->text;
	} else if (attribute == AT_TYPE && v->reference) {
		e->type = v->number;
		e->has_type = true;
	} else if (attribute == AT_SIBLING && v->reference) {
		e->sibling = v->number;
	} else if (!v->constant) {
		return;
	} else if (attribute == AT_BYTE_SIZE) {
		e->size = v->number;
		e->has_size = true;
	} else if (attribute == AT_LOCATION) {
		e->location = v->number;
		e->has_location = true;
	} else if (attribute == AT_UPPER_BOUND || attribute == AT_COUNT) {
		e->count = v->number + (attribute == AT_UPPER_BOUND);
		e->has_count = true;
	} else if (attribute == AT_DECLARATION) {
		e->declaration = v->number;
	}
}

static struct entry next_entry(struct compile_unit *u, struct reader *r)
{
	struct entry e = {0};
	uint64_t code = leb(r);
	struct reader a;

	r->bad = r->bad || u->work++ > MAX_WORK;
	if (!code)
		return e;
	if (code >= u->n_abbrevs || !u->abbrev[code].attributes) {
		r->bad = true;
		return e;
	}
	e.kind = &u->abbrev[code];
	a = (struct reader){e.kind->attributes, u->abbrev_end, false};
	while (!r->bad && !a.bad) {
		uint64_t attribute = leb(&a), form = leb(&a);
		/* Of these constants none is negative. */
		int64_t implicit = form == 0x21 ? (int64_t)leb(&a) : 0;
		struct value v;

		if (!attribute && !form)
			break;
		r->bad = r->bad || u->work++ > MAX_WORK;
		v = value_of(u, r, form, implicit);
		keep(&e, attribute, &v);
	}
	r->bad = r->bad || a.bad;
	return e;
}

/* The entries behind this one's children, to r's end at most. */
static void skip_children(struct compile_unit *u, struct reader *r,
                          const struct entry *e)
{
	int depth = 1;

	if (!e->kind->children)
		return;
	if (e->sibling && u->start + e->sibling > r->at &&
	    e->sibling < (uint64_t)(u->end - u->start)) {
		r->at = u->start + e->sibling;
		return;
	}
	while (depth && !r->bad) {
		struct entry child = next_entry(u, r);

		if (!child.kind)
			depth--;
		else if (child.kind->children)
			depth++;
		/* Less than what a nesting could hide. */
		if (depth > MAX_DEPTH)
			r->bad = true;
	}
}

static struct reader at_entry(const struct compile_unit *u, uint64_t offset)
{
	struct reader r = {u->end, u->end, true};

	if (offset >= (uint64_t)(u->entries - u->start) &&
	    offset < (uint64_t)(u->end - u->start))
		r = (struct reader){u->start + offset, u->end, false};
	return r;
}

/* Elements of all dimensions; false: not known. */
static bool elements(struct compile_unit *u, struct reader *r, uint64_t *n)
{
	*n = 1;
	for (;;) {
		struct entry e = next_entry(u, r);

		if (r->bad)
			return false;
		if (!e.kind)
			return true;
		if (e.kind->tag != TAG_SUBRANGE || !e.has_count ||
		    e.count > UINT32_MAX || *n > UINT32_MAX)
			return false;
		*n *= e.count;
		skip_children(u, r, &e);
	}
}

/* Of a type; false: not known. */
static bool size_of(struct compile_unit *u, uint64_t offset, uint64_t *size)
{
	uint64_t times = 1, n;

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		struct reader r = at_entry(u, offset);
		struct entry e = next_entry(u, &r);

		if (r.bad || !e.kind)
			return false;
		if (e.has_size) {
			*size = times * e.size;
			return true;
		}
		switch (e.kind->tag) {
		case TAG_POINTER:
			*size = times * u->address;
			return true;
		case TAG_ARRAY:
			if (!e.kind->children || !elements(u, &r, &n) ||
			    times > UINT32_MAX)
				return false;
			times *= n;
			break;
		case TAG_TYPEDEF:
		case TAG_CONST:
		case TAG_VOLATILE:
			break;
		default:
			return false;
		}
		if (!e.has_type)
			return false;
		offset = e.type;
	}
	return false;
}

/* Fields of one structure, and what has been seen of them. */
struct sought {
	const struct cpl_field *field;
	size_t n;
	bool done;
};

struct search {
	struct sought *wanted;
	size_t n, left;
	int found; /* fields */
	struct cpl_error *err;
};

static int differs(const struct cpl_field *f, uint64_t offset, uint64_t size,
                   struct cpl_error *err)
{
	return cpl_fail(err,
	                "%s.%s has %zu bytes at %zu in our headers, here it "
	                "has %llu at %llu",
	                f->type, f->name, f->size, f->offset,
	                (unsigned long long)size, (unsigned long long)offset);
}

/* The members behind a structure's entry. 0: all as stated. 1: it cannot be
 * told. */
static int compare_members(struct compile_unit *u, struct reader *r,
                           const struct sought *w, struct cpl_error *err)
{
	bool *seen = calloc(w->n, sizeof(*seen));
	int rc = seen ? 0 : 1;

	while (!rc) {
		struct entry e = next_entry(u, r);
		uint64_t size = 0;

		if (!e.kind || r->bad)
			break;
		for (size_t i = 0; i < w->n && !rc && e.name; i++) {
			if (e.kind->tag != TAG_MEMBER ||
			    strcmp(e.name, w->field[i].name) != 0)
				continue;
			seen[i] = true;
			if (!e.has_location || !e.has_type ||
			    !size_of(u, e.type, &size))
				rc = 1;
			else if (e.location != w->field[i].offset ||
			         size != w->field[i].size)
				rc = differs(&w->field[i], e.location, size,
				             err);
		}
		skip_children(u, r, &e);
	}
	for (size_t i = 0; !rc && i < w->n; i++)
		if (r->bad)
			rc = 1;
		else if (!seen[i])
			rc = cpl_fail(err, "%s.%s is not there here",
			              w->field[i].type, w->field[i].name);
	free(seen);
	return rc;
}

static bool is_structure(const struct entry *e)
{
	return e->kind && e->kind->tag == TAG_STRUCT && !e->declaration &&
	       e->kind->children;
}

static int compare(struct compile_unit *u, struct reader *r, struct sought *w,
                   struct search *s)
{
	int rc = compare_members(u, r, w, s->err);

	if (rc)
		return rc < 0 ? -1 : 0;
	w->done = true;
	s->left--;
	s->found += (int)w->n;
	return 0;
}

/* Is it "X" or "struct X" for the type X_t? */
static bool is_named(const struct entry *e, const char *type)
{
	size_t n = strlen(type);

	if (e->kind->tag == TAG_TYPEDEF)
		return !strcmp(e->name, type);
	return n > 2 && strlen(e->name) == n - 2 &&
	       !strncmp(e->name, type, n - 2) && !strcmp(type + n - 2, "_t");
}

static int look_at(struct compile_unit *u, const struct reader *behind,
                   const struct entry *e, struct search *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sought *w = &s->wanted[i];
		struct reader r = *behind;
		struct entry of = *e;

		if (w->done || !is_named(e, w->field->type))
			continue;
		if (e->kind->tag == TAG_TYPEDEF) {
			if (!e->has_type)
				continue;
			r = at_entry(u, e->type);
			of = next_entry(u, &r);
		}
		if (!r.bad && is_structure(&of) && compare(u, &r, w, s))
			return -1;
	}
	return 0;
}

static int search_unit(struct compile_unit *u, struct search *s)
{
	struct reader r = {u->entries, u->end, false};
	struct entry e = next_entry(u, &r); /* the unit itself */

	if (!e.kind || !e.kind->children)
		return 0;
	while (s->left && !r.bad && r.at < r.end) {
		e = next_entry(u, &r);
		if (!e.kind || r.bad)
			break;
		if (e.name &&
		    (e.kind->tag == TAG_TYPEDEF || e.kind->tag == TAG_STRUCT) &&
		    look_at(u, &r, &e, s))
			return -1;
		skip_children(u, &r, &e);
	}
	return 0;
}

static bool read_abbrevs(struct compile_unit *u, uint64_t offset)
{
	const struct cpl_section *all = &u->file->abbrev;
	struct reader r = {all->at, all->at + all->n, false};

	skip(&r, offset);
	memset(u->abbrev, 0, MAX_ABBREVS * sizeof(*u->abbrev));
	u->abbrev_end = r.end;
	u->n_abbrevs = MAX_ABBREVS;
	u->work += UNIT_WORK;
	while (!r.bad) {
		uint64_t code = leb(&r), attribute, form;
		struct abbrev kind;

		if (!code)
			return !r.bad;
		kind.tag = leb(&r);
		kind.children = number(&r, 1);
		kind.attributes = r.at;
		do {
			attribute = leb(&r);
			form = leb(&r);
			if (form == 0x21)
				leb(&r);
			r.bad = r.bad || u->work++ > MAX_WORK;
		} while ((attribute || form) && !r.bad);
		if (code >= MAX_ABBREVS)
			return false;
		u->abbrev[code] = kind;
	}
	return false;
}

/* A unit's head; false: it is of a kind that is not read. */
static bool read_head(struct compile_unit *u, struct reader *r)
{
	uint64_t offset, type = 1;

	u->version = (unsigned)number(r, 2);
	if (u->version < 2 || u->version > 5)
		return false;
	if (u->version == 5) {
		type = number(r, 1);
		u->address = (unsigned)number(r, 1);
		offset = number(r, u->offset);
	} else {
		offset = number(r, u->offset);
		u->address = (unsigned)number(r, 1);
	}
	u->entries = r->at;
	/* DW_UT_compile and DW_UT_partial. */
	return !r->bad && u->address == sizeof(void *) &&
	       (type == 1 || type == 3) && read_abbrevs(u, offset);
}

static int search_file(const struct cpl_debugfile *file, struct search *s)
{
	struct reader all = {file->info.at, file->info.at + file->info.n,
	                     false};
	struct compile_unit u = {.file = file};
	int rc = 0;

	u.abbrev = calloc(MAX_ABBREVS, sizeof(*u.abbrev));
	while (u.abbrev && s->left && !rc && all.at < all.end) {
		uint64_t length;
		struct reader r;

		u.start = all.at;
		u.offset = 4;
		length = number(&all, 4);
		if (length == UINT32_MAX) {
			u.offset = 8;
			length = number(&all, 8);
		}
		r.at = all.at;
		skip(&all, length);
		if (all.bad)
			break;
		r = (struct reader){r.at, all.at, false};
		u.end = all.at;
		if (read_head(&u, &r))
			rc = search_unit(&u, s);
	}
	free(u.abbrev);
	return rc;
}

static struct sought *by_structure(const struct cpl_field *field, size_t n,
                                   size_t *n_structures)
{
	struct sought *w = calloc(n, sizeof(*w));
	size_t k = 0;

	for (size_t i = 0; w && i < n; i++) {
		if (!i || strcmp(field[i].type, field[i - 1].type) != 0)
			w[k++] = (struct sought){.field = &field[i]};
		w[k - 1].n++;
	}
	*n_structures = k;
	return w;
}

int cpl_debuginfo_check(const char *program, const struct cpl_field *field,
                        size_t n, struct cpl_error *err)
{
	struct search s = {.err = err};
	struct cpl_debugfile file;
	int rc = 0;

	if (!n)
		return 0;
	s.wanted = by_structure(field, n, &s.n);
	if (!s.wanted)
		return 0;
	s.left = s.n;
	if (cpl_debugfile_load(program, &file)) {
		rc = search_file(&file, &s);
		cpl_debugfile_drop(&file);
	}
	free(s.wanted);
	return rc ? -1 : s.found;
}
