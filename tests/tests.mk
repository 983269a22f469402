# Every layer has its fragment; ./run-tests runs them all.
include tests/unit/unit.mk
include tests/golden/golden.mk
include tests/plugin/plugin.mk
include tests/record/record.mk
include tests/fuzz/fuzz.mk
include tests/bench/bench.mk
EXTRA_DIST += tests/bad-input tests/faults tests/nodes tests/slurm tests/soak tests/tools tests/install tests/sanitizers tests/versions tests/fresh tests/packages
# make check, as of packages, keeps the limits of files, too.
LOG_COMPILER = $(srcdir)/tests/tools/limit
