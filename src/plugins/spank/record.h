/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --comm-record: the MPI recorder is loaded into the programs of a job, and what
 * they recorded becomes a profile of the job's user when the job has ended well.
 *
 * Programs get it from slurmstepd, batch script and steps alike, so mpirun's
 * ranks have it, too. They write into the user's home. The command takes it from
 * there to the user's store, as the user: started by the batch step's
 * slurmstepd; of srun and salloc, by themselves. Whatever fails costs the
 * recording, never the job.
 */
#ifndef CPL_SPANK_RECORD_H
#define CPL_SPANK_RECORD_H

#include <slurm/spank.h>
#include <stdbool.h>

/* Set by slurmctld: the pattern of users' stores (site/user_dir.h), and the name,
 * where it was no option. */
#define RECORD_STORE "COMM_RECORD_STORE"
#define RECORD_COPY "SLURM_SPANK_COMM_RECORD"

/* In slurmstepd, as root: have the tasks of this step recorded as NAME. */
void spank_record_tasks(spank_t sp, const char *name);
/* The same: not recorded, though the batch script around them is. */
void spank_record_no_tasks(spank_t sp);

/* In slurmstepd, as root: a task has ended. That of a batch step is the job's
 * end; what was recorded is kept if it ended well. A loss is reported in the
 * job's output where its user has asked for the recording, and else in the log
 * only. */
void spank_record_task_end(spank_t sp, const char *name, bool asked);

/*
 * In srun and salloc, as the user: keep what the job recorded, or the srun's
 * step only, when this program ends well. name is copied; NULL: as what the site
 * has the job recorded, if it does, which is known when the job has begun. Of
 * that the user hears nothing.
 */
void spank_record_at_exit(const char *name, bool step);

#endif
