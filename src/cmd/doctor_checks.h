/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `commplace doctor` finds of an installation. */
#pragma once

#include "config.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_NOTE,  /* it works; there is something to do, or to know */
	DOCTOR_WRONG, /* something does not work */
	DOCTOR_STATES
};

struct doctor_finding {
	enum doctor_state state;
	const char *what;         /* was looked at */
	char text[CPL_ERROR_MAX]; /* and how it is */
	char todo[CPL_ERROR_MAX]; /* "": nothing */
};

#define DOCTOR_MOST 48

struct doctor {
	struct site_check site;
	struct doctor_finding finding[DOCTOR_MOST];
	int n;
	int left_out; /* findings for which there was no room */
};

/*
 * Look at everything, in the order in which a site is set up:
 * commplace.conf and what it names, slurm.conf, files of plugins, slurmctld, its
 * nodes, commplaced, counters. What cannot be looked at because of something
 * before it is left out; on a host with neither Slurm nor a commplace.conf nothing is
 * wrong. *d is {0}; site_check_release(&d->site) afterwards.
 */
void doctor_look(struct doctor *d);
/* A slurm.conf, or a SlurmctldHost to ask for one. */
bool doctor_slurm_is_here(void);
