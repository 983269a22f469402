# Slurm plugins, if HAVE_SLURM. Each folder has its fragment.
include src/plugins/compat/compat.mk
include src/plugins/select/select.mk
include src/plugins/switch/switch.mk
include src/plugins/task/task.mk
include src/plugins/job_submit/job_submit.mk
include src/plugins/spank/spank.mk
