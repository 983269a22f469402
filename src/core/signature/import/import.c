/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "commplace-config.h"
#include "signature/import/import.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/gunzip.h"
#include "base/json.h"
#include "signature/import/import_internal.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* This copies the next field, or returns 0 at the end of the line. */
static int field(struct cpl_lines *in, const char *what, char *out, size_t size)
{
	size_t n = 0;

	if (cpl_lines_end(in))
		return 0;
	while (in->p < in->line_end && !is_blank(*in->p) && n + 1 < size)
		out[n++] = *in->p++;
	out[n] = '\0';
	if (strlen(out) != n || (in->p < in->line_end && !is_blank(*in->p)))
		return cpl_lines_fail(in, "%s: %.20s... is not a number", what,
		                      out);
	return 1;
}

int import_integer(struct cpl_lines *in, const char *what, int64_t low,
                   int64_t high, int64_t *out)
{
	char text[64], *end;
	int rc = field(in, what, text, sizeof(text));

	if (rc <= 0)
		return rc;
	errno = 0;
	*out = strtoll(text, &end, 10);
	if (*end || end == text)
		return cpl_lines_fail(in, "%s: '%s' is not an integer", what,
		                      text);
	if (errno || *out < low || *out > high)
		return cpl_lines_fail(in, "%s: %s must lie in %lld to %lld",
		                      what, text, (long long)low,
		                      (long long)high);
	return 1;
}

int import_amount(struct cpl_lines *in, const char *what, double *out)
{
	char text[64], *end;
	int rc = field(in, what, text, sizeof(text));

	if (rc <= 0)
		return rc;
	*out = strtod(text, &end);
	if (*end || end == text || strpbrk(text, "xX"))
		return cpl_lines_fail(in, "%s: '%s' is not a number", what,
		                      text);
	if (!(*out >= 0.0 && *out <= SIGNATURE_MAX_AMOUNT))
		return cpl_lines_fail(in, "%s: %s must lie in 0 to 1e18", what,
		                      text);
	return 1;
}

void import_lost(struct matrix *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(m->lost_text, sizeof(m->lost_text), fmt, args);
	va_end(args);
	m->lost = m->lost_text;
}

static const struct import_format *find_format(const char *name,
                                               struct cpl_error *err)
{
	const struct cpl_entry *found = cpl_registry_find(
	        &cpl_importers, name, strlen(name), NULL, NULL);
	char list[160];

	if (!found)
		cpl_fail(
		        err,
		        !strcmp(name, "otf2")
		                ? "format %.40s is not in this program: it was "
		                  "built without libotf2; it must be one of %s"
		                : "unknown format '%.40s'; it must be one of "
		                  "%s",
		        name,
		        cpl_registry_names(&cpl_importers, 0, NULL, NULL, list,
		                           sizeof(list)));
	return (const struct import_format *)found;
}

/* The text for "recorded" tells where the numbers came from. */
static char *origin(const char *format, const char *source,
                    const struct matrix *m)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "tool",
	                           "commplace signature import", "format",
	                           format, "file", cpl_path_base(source));
	char *text = NULL;
	int rc = 0;

	if (!object) /* a file name that is not UTF-8 */
		object = json_pack("{s:s, s:s}", "tool",
		                   "commplace signature import", "format",
		                   format);
	if (m->lost)
		rc |= json_object_set_new(object, "left_out",
		                          json_string(m->lost));
	if (m->communication)
		rc |= json_object_set(object, "communication",
		                      m->communication);
	if (!rc)
		text = json_dumps(object, 0);
	json_decref(object);
	return text;
}

static int ranks_of(struct matrix *m, struct cpl_error *err)
{
	int most = 0;

	for (int i = 0; i < m->n_phases; i++)
		if (entries_check(&m->phase[i].list, m->ranks, "entry", err))
			return -1;
	if (m->ranks)
		return entries_check(&m->list, m->ranks, "entry", err);
	for (int64_t i = 0; i < m->list.n; i++) {
		const struct cpl_comm_entry *e = &m->list.entry[i];

		most = e->from >= most ? e->from + 1 : most;
		most = e->to >= most ? e->to + 1 : most;
	}
	if (most == 0)
		return cpl_fail(err, "holds no entries and states no ranks");
	m->ranks = most;
	return 0;
}

static int make_phases(struct matrix *m, struct cpl_signature *sig,
                       struct cpl_error *err)
{
	struct import_phase all = {"all", 1.0, m->list};
	struct import_phase *phase = m->n_phases ? m->phase : &all;
	int n = m->n_phases ? m->n_phases : 1;

	sig->phase = calloc((size_t)n, sizeof(*sig->phase));
	if (!sig->phase)
		return cpl_fail_memory(err);
	sig->n_phases = n;
	for (int i = 0; i < n; i++) {
		struct cpl_phase *p = &sig->phase[i];

		p->name = strdup(phase[i].name);
		p->weight = phase[i].weight;
		if (!p->name)
			return cpl_fail_memory(err);
		p->comm = cpl_comm_build(m->ranks, phase[i].list.entry,
		                         phase[i].list.n, err);
		if (!p->comm)
			return -1;
	}
	return 0;
}

static struct cpl_signature *make(struct matrix *m, const char *format,
                                  const char *source, const char *name,
                                  const char *application,
                                  struct cpl_error *err)
{
	struct cpl_signature *sig = calloc(1, sizeof(*sig));

	if (!sig)
		return cpl_fail_null_memory(err);
	sig->ranks = m->ranks;
	sig->name = strdup(name);
	sig->application = application ? strdup(application) : NULL;
	sig->recorded = origin(format, source, m);
	if (!sig->name || (application && !sig->application) || !sig->recorded)
		cpl_fail_memory(err);
	else if (!make_phases(m, sig, err))
		return sig;
	cpl_signature_free(sig);
	return NULL;
}

/* This makes a signature of what was read, whose list remains the caller's. */
static struct cpl_signature *finish(struct matrix *m, const char *format,
                                    const char *source, const char *name,
                                    const char *application,
                                    struct cpl_error *err)
{
	if (cpl_signature_text_check("name", name, err) ||
	    (application &&
	     cpl_signature_text_check("application", application, err)))
		return NULL;
	if (ranks_of(m, err)) {
		cpl_fail_prefix(err, "%s: ", source);
		return NULL;
	}
	return make(m, format, source, name, application, err);
}

struct import_text {
	char *text;
	size_t length;
	const char *source;
};

/* This reads all texts into the matrix. */
static int read_all(const struct import_format *f,
                    const struct import_text *text, int n, struct matrix *m,
                    struct cpl_error *err)
{
	int rc = 0;

	for (int i = 0; i < n && !rc; i++) {
		struct cpl_lines in = cpl_lines_of(text[i].source, text[i].text,
		                                   text[i].length, err);

		rc = f->read(&in, m);
	}
	if (!rc && f->finish && f->finish(m, err))
		rc = cpl_fail_prefix(err, "%s: ", text[0].source);
	else if (rc && f->release)
		f->release(m->state);
	return rc;
}

static struct cpl_signature *import(const struct import_text *text, int n,
                                    const struct import_format *f,
                                    const struct cpl_import_options *options,
                                    const char *name, const char *application,
                                    struct cpl_error *err)
{
	struct cpl_signature *sig = NULL;
	struct matrix m = {.ranks = options->ranks,
	                   .ep = options->ep,
	                   .step = options->step};
	locale_t c_locale, before;
	int rc;

	if ((m.ranks || m.ep || m.step) && !(f->flags & IMPORT_STEPS))
		return cpl_fail_null(
		        err, "format %s tells no steps of training", f->name);
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return cpl_fail_null_memory(err);
	/* This numbers have a point, whatever the process's locale is. */
	before = uselocale(c_locale);
	rc = read_all(f, text, n, &m, err);
	uselocale(before);
	freelocale(c_locale);
	if (!rc)
		sig = finish(&m, f->name, text[0].source, name, application,
		             err);
	free(m.list.entry);
	for (int i = 0; i < m.n_phases; i++)
		free(m.phase[i].list.entry);
	free(m.phase);
	json_decref(m.communication);
	return sig;
}

struct cpl_signature *
cpl_signature_import_text(const char *text, size_t length, const char *source,
                          const char *format, const char *name,
                          const char *application, struct cpl_error *err)
{
	const struct import_format *f = find_format(format, err);
	const struct cpl_import_options none = {0};
	struct import_text one = {(char *)text, length, source};

	return f ? import(&one, 1, f, &none, name, application, err) : NULL;
}

struct cpl_signature *
cpl_signature_import_entries(struct cpl_comm_entry *entry, int64_t n, int ranks,
                             const char *lost, const char *source,
                             const char *format, const char *name,
                             const char *application, struct cpl_error *err)
{
	struct matrix m = {
	        .ranks = ranks, .list = {entry, n, false}, .lost = lost};

	return finish(&m, format, source, name, application, err);
}

struct cpl_signature *
cpl_signature_import(const char *const *path, int n, const char *format,
                     const struct cpl_import_options *options, const char *name,
                     const char *application, struct cpl_error *err)
{
	const struct import_format *f = find_format(format, err);
	struct import_text *text = f ? calloc((size_t)n, sizeof(*text)) : NULL;
	struct cpl_signature *sig = NULL;
	int read = 0;

	if (f && !text)
		cpl_fail_memory(err);
	if (text && n > 1 && !(f->flags & IMPORT_FILES)) {
		cpl_fail(err, "format %s is of one file, not of %d", f->name,
		         n);
		n = 0;
	}
	while (text && read < n) {
		struct import_text *t = &text[read];

		t->source = path[read];
		t->text = cpl_file_read_gunzip(path[read], CPL_JSON_MAX_BYTES,
		                               &t->length, err);
		if (!t->text)
			break;
		read++;
	}
	if (text && n && read == n)
		sig = import(text, n, f, options, name, application, err);
	for (int i = 0; i < read; i++)
		free(text[i].text);
	free(text);
	return sig;
}
