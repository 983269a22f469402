/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With --comm-record the MPI recorder is loaded into the programs of a job, NCCL and
 * RCCL are told of the profiler plugin, unless the user has one of his own, and what
 * they recorded becomes a profile of the job's user if the job ends well.
 *
 * slurmstepd gives it to programs of batch script and steps alike, so mpirun's
 * ranks have it, too. They write into the user's home. The command moves it from
 * there to the user's store, as the user. The batch step's slurmstepd starts the
 * command; srun and salloc start it themselves. A failure costs the recording,
 * never the job.
 */
#pragma once

#include <slurm/spank.h>
#include <stdbool.h>

/* slurmctld sets these: the pattern of users' stores (site/user_dir.h), and the
 * name if it was no option. */
#define RECORD_STORE "COMM_RECORD_STORE"
#define RECORD_COPY "SLURM_SPANK_COMM_RECORD"

/* In slurmstepd, as root, this has the tasks of this step recorded as NAME. */
void spank_record_tasks(spank_t sp, const char *name);
/* This does the opposite, though the batch script around them is recorded. */
void spank_record_no_tasks(spank_t sp);

/* In a task, as its user, the first task of the step says of a program into which
 * nothing can be loaded that it is not recorded. */
void spank_record_check_program(spank_t sp);

/* In slurmstepd, as root, this tells that a task has ended. The task of a batch
 * step is the job's end, and what was recorded is kept if it ended well. A loss is
 * reported in the job's output if its user has asked for the recording, and else
 * only in the log. */
void spank_record_task_end(spank_t sp, const char *name, bool asked);

/* In srun and salloc, as the user, this keeps what the job recorded, or only the
 * srun's step, when this program ends well. name is copied. NULL means the name by
 * which the site has the job recorded, if it does, which is known when the job has
 * started; then the user hears nothing of it. */
void spank_record_at_exit(const char *name, bool step);
