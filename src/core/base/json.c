/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const char *const type_name[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string",    [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a real number", [JSON_TRUE] = "a boolean",
        [JSON_FALSE] = "a boolean",    [JSON_NULL] = "null",
};

json_t *cpl_json_parse(const char *text, size_t length, const char *name,
                       struct cpl_error *err)
{
	json_error_t je;
	json_t *root;

	if (length == 0)
		return cpl_fail_null(
		        err, "%s: is empty; a JSON object is needed", name);
	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &je);
	/* Where memory is out, jansson may have no message. */
	if (!root &&
	    (!je.text[0] || json_error_code(&je) == json_error_out_of_memory))
		cpl_fail(err, "%s: out of memory", name);
	else if (!root)
		cpl_fail(err, "%s:%d:%d: not valid JSON: %s", name, je.line,
		         je.column, je.text);
	/* It is for editors. */
	json_object_del(root, "$schema");
	return root;
}

json_t *cpl_json_load(const char *path, struct cpl_error *err)
{
	size_t length;
	char *text = cpl_file_read(path, CPL_JSON_MAX_BYTES, &length, err);
	json_t *root;

	if (!text)
		return NULL;
	root = cpl_json_parse(text, length, path, err);
	free(text);
	return root;
}

int cpl_json_expect_format(const json_t *root, const char *format,
                           struct cpl_error *err)
{
	const char *found = NULL;
	int64_t version;
	int rc;

	if (!json_is_object(root))
		return cpl_fail(err,
		                "is %s; an object with \"format\": \"%s\" is "
		                "needed",
		                type_name[json_typeof(root)], format);
	if (cpl_json_string(root, "format", &found, err) < 0)
		return -1;
	if (!found)
		return cpl_fail(err, "\"format\" is missing; it must be \"%s\"",
		                format);
	if (strcmp(found, format))
		return cpl_fail(
		        err, "\"format\" is \"%.60s\"; \"%s\" is needed here",
		        found, format);
	rc = cpl_json_int(root, "version", INT64_MIN, INT64_MAX, &version, err);
	if (rc == 0)
		return cpl_fail(err, "\"version\" is missing; it must be 1");
	if (rc == 1 && version != 1)
		return cpl_fail(err,
		                "\"version\" is %lld; this release reads 1",
		                (long long)version);
	return rc < 0 ? -1 : 0;
}

int cpl_json_known_keys(const json_t *object, const char *where,
                        const char *const *keys, struct cpl_error *err)
{
	const char *key;
	json_t *value;
	char list[CPL_ERROR_MAX];
	size_t used = 0;

	json_object_foreach((json_t *)object, key, value)
	{
		int i = 0;

		while (keys[i] && strcmp(keys[i], key))
			i++;
		if (keys[i])
			continue;
		list[0] = '\0';
		for (i = 0; keys[i] && used < sizeof(list) - 1; i++)
			used += (size_t)snprintf(list + used,
			                         sizeof(list) - used, "%s%s",
			                         i ? ", " : "", keys[i]);
		return cpl_fail(err,
		                "%s%sunknown key \"%.60s\"; the keys are %s",
		                where ? where : "", where && *where ? ": " : "",
		                key, list);
	}
	return 0;
}

static int wrong_type(const char *key, const json_t *value, const char *needed,
                      struct cpl_error *err)
{
	return cpl_fail(err, "\"%s\" is %s; %s is needed", key,
	                type_name[json_typeof(value)], needed);
}

int cpl_json_int(const json_t *object, const char *key, int64_t low,
                 int64_t high, int64_t *out, struct cpl_error *err)
{
	const json_t *value = json_object_get(object, key);
	int64_t v = json_integer_value(value);

	if (!value)
		return 0;
	if (!json_is_integer(value))
		return wrong_type(key, value, "an integer", err);
	if (v < low || v > high)
		return cpl_fail(
		        err, "\"%s\" is %lld; it must lie in %lld to %lld", key,
		        (long long)v, (long long)low, (long long)high);
	*out = v;
	return 1;
}

int cpl_json_take_int(const json_t *object, const char *key, int low, int high,
                      int *value, struct cpl_error *err)
{
	int64_t v = *value;
	int rc = cpl_json_int(object, key, low, high, &v, err);

	if (rc == 0 && *value < low)
		return cpl_fail(err,
		                "\"%s\" is missing; a number of %d to %d is "
		                "needed",
		                key, low, high);
	*value = (int)v;
	return rc < 0 ? -1 : 0;
}

int cpl_json_number(const json_t *object, const char *key, double low,
                    double high, double *out, struct cpl_error *err)
{
	const json_t *value = json_object_get(object, key);
	double v = json_number_value(value);

	if (!value)
		return 0;
	if (!json_is_number(value))
		return wrong_type(key, value, "a number", err);
	if (!isfinite(v))
		return cpl_fail(err, "\"%s\" is not finite", key);
	if (v < low || v > high)
		return cpl_fail(err, "\"%s\" is %g; it must lie in %g to %g",
		                key, v, low, high);
	*out = v;
	return 1;
}

int cpl_json_string(const json_t *object, const char *key, const char **out,
                    struct cpl_error *err)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		return 0;
	if (!json_is_string(value))
		return wrong_type(key, value, "a string", err);
	*out = json_string_value(value);
	return 1;
}

int cpl_json_bool(const json_t *object, const char *key, bool *out,
                  struct cpl_error *err)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		return 0;
	if (!json_is_boolean(value))
		return wrong_type(key, value, "true or false", err);
	*out = json_is_true(value);
	return 1;
}

int cpl_json_append(json_t *array, const char *format, ...)
{
	va_list ap;
	json_t *value;

	va_start(ap, format);
	value = json_vpack_ex(NULL, 0, format, ap);
	va_end(ap);
	return json_array_append_new(array, value);
}

int cpl_json_update(json_t *object, const char *format, ...)
{
	va_list ap;
	json_t *pairs;

	va_start(ap, format);
	pairs = json_vpack_ex(NULL, 0, format, ap);
	va_end(ap);
	return json_object_update_new(object, pairs);
}

json_t *cpl_json_ints(const int *value, int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(array, json_integer(value[i]));
	return array;
}

char *cpl_json_text(const json_t *root, size_t *length, struct cpl_error *err)
{
	char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17));

	if (!text)
		return cpl_fail_null(err, "cannot be written as JSON");
	/* The terminator's place holds the newline; the length is known. */
	*length = strlen(text) + 1;
	text[*length - 1] = '\n';
	return text;
}

int cpl_json_write_atomic(const json_t *root, const char *path, int mode,
                          struct cpl_error *err)
{
	size_t length;
	char *text = cpl_json_text(root, &length, err);
	int rc;

	if (!text)
		return cpl_fail_prefix(err, "%s: ", path);
	rc = cpl_file_write_atomic(path, text, length, mode, err);
	free(text);
	return rc;
}
