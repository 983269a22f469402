/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor_checks.h"
#include "options.h"
#include "site_files.h"

static const char *const state_name[DOCTOR_STATES] = {
        [DOCTOR_OK] = "ok", [DOCTOR_NOTE] = "note", [DOCTOR_WRONG] = "wrong"};

static int count(const struct doctor *d, enum doctor_state state)
{
	int n = state == DOCTOR_WRONG ? d->left_out : 0;

	for (int i = 0; i < d->n; i++)
		n += d->finding[i].state == state;
	return n;
}

/* Those of what is wrong come before those of what is worth a note. Two
 * findings may ask for the same thing. */
static int list_todo(const struct doctor *d, const char *todo[DOCTOR_MOST])
{
	int n = 0;

	for (int state = DOCTOR_WRONG; state >= DOCTOR_NOTE; state--)
		for (int i = 0; i < d->n; i++) {
			const struct doctor_finding *f = &d->finding[i];
			int k = 0;

			while (k < n && strcmp(todo[k], f->todo))
				k++;
			if ((int)f->state == state && *f->todo && k == n)
				todo[n++] = f->todo;
		}
	return n;
}

static int print_text(const struct doctor *d)
{
	struct cmd_table *t = cmd_table_new("lll");
	const char *todo[DOCTOR_MOST];
	int n = list_todo(d, todo);

	for (int i = 0; i < d->n; i++)
		cmd_table_row(t, "%s|%s|%s", state_name[d->finding[i].state],
		              d->finding[i].what, d->finding[i].text);
	if (cmd_table_print(t))
		return CMD_FAILED;
	if (d->left_out)
		printf("and %d more\n", d->left_out);
	for (int i = 0; i < n; i++)
		printf("%s%s\n", i ? "then   " : "\nfirst  ", todo[i]);
	return CMD_OK;
}

static int print_json(const struct cmd *self, const struct doctor *d)
{
	json_t *findings = json_array(), *list = json_array();
	const char *todo[DOCTOR_MOST];
	int n = list_todo(d, todo);

	for (int i = 0; i < d->n; i++)
		cpl_json_append(findings, "{s:s, s:s, s:s, s:s}", "state",
		                state_name[d->finding[i].state], "what",
		                d->finding[i].what, "text", d->finding[i].text,
		                "todo", d->finding[i].todo);
	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_string(todo[i]));
	return cmd_print_pack(self, "{s:i, s:i, s:i, s:o, s:o}", "wrong",
	                      count(d, DOCTOR_WRONG), "notes",
	                      count(d, DOCTOR_NOTE), "left_out", d->left_out,
	                      "findings", findings, "todo", list);
}

static int run_doctor(const struct cmd *self, int argc, char **argv)
{
	static struct doctor d;
	bool json = false;
	const struct cmd_option table[] = {{"json", .flag = &json}, {0}};
	int rc = cmd_options(self, argc, argv, table, CMD_NO_WORDS), wrong;

	if (rc)
		return rc;
	doctor_look(&d);
	rc = json ? print_json(self, &d) : print_text(&d);
	wrong = count(&d, DOCTOR_WRONG);
	site_check_release(&d.site);
	if (!rc && wrong)
		rc = cmd_failf(self, "%d of %d findings are wrong", wrong,
		               d.n + d.left_out);
	return rc;
}

const struct cmd cmd_doctor = {"doctor", run_doctor};

void doctor_next(char *text, size_t size)
{
	char *path = cmd_config_path(NULL, NULL);
	struct cpl_config *config;

	config = path && !access(path, R_OK) ? cpl_config_load(path, NULL)
	                                     : NULL;
	if (config && config->mode == CPL_MODE_ON)
		snprintf(text, size,
		         "`commplace status` shows what is placed here, "
		         "`commplace doctor` what is wrong");
	else if (config)
		snprintf(text, size,
		         "Mode=%s in %.200s: no job is placed; `commplace "
		         "doctor` says what to do",
		         cpl_mode_name(config->mode), path);
	else if (doctor_slurm_is_here())
		snprintf(text, size,
		         "Slurm is here, and commplace is not set up: "
		         "`commplace doctor`");
	else
		snprintf(text, size,
		         "no Slurm is set up here; `commplace compare`, place, "
		         "map and simulate need none: commplace(1), EXAMPLES");
	cpl_config_free(config);
	free(path);
}
