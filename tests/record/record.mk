# The recorder under MPI programs, compiled by the MPI library's own wrappers;
# run.t and lammps.t run them.
record_calls = tests/record/calls.c tests/record/calls.h \
	tests/record/calls_coll.c
EXTRA_DIST += $(record_calls) tests/record/calls.F90 tests/record/loader.c \
	tests/record/calls4.c tests/record/calls_large.c \
	tests/record/sessions.c tests/record/sessions.F90 tests/record/sessions.t \
	tests/record/loops.c tests/record/stubs.c \
	tests/record/topologies.c tests/record/topologies.F90 \
	tests/record/mixed.c tests/record/reorder.t \
	tests/record/reorder-mpich.t tests/record/run.t \
	tests/record/mpich.bash tests/record/mpich.t tests/record/characterize.t tests/record/phases.t \
	tests/record/lammps.t tests/record/env.bash tests/record/expected
check_DATA =

if BUILD_RECORDER
record_programs = tests/record/calls tests/record/calls.so \
	tests/record/loader tests/record/loops tests/record/libstubs.so tests/record/stubs \
	tests/record/topologies tests/record/mixed.so
check_DATA += $(record_programs)
CLEANFILES += $(record_programs)
record_compile = $(AM_V_GEN)$(MKDIR_P) tests/record && $(MPICC) -std=gnu11 \
	-O1 -g -pthread -I$(srcdir)/tests/record

tests/record/calls: $(record_calls)
	$(record_compile) -o $@ $(srcdir)/tests/record/calls.c \
		$(srcdir)/tests/record/calls_coll.c

tests/record/calls.so: $(record_calls)
	$(record_compile) -fPIC -shared -Dmain=calls_main -o $@ \
		$(srcdir)/tests/record/calls.c \
		$(srcdir)/tests/record/calls_coll.c

tests/record/loader: tests/record/loader.c
	$(record_compile) -o $@ $(srcdir)/tests/record/loader.c

tests/record/topologies: tests/record/topologies.c
	$(record_compile) -o $@ $(srcdir)/tests/record/topologies.c

tests/record/mixed.so: tests/record/mixed.c
	$(record_compile) -fPIC -shared -o $@ $(srcdir)/tests/record/mixed.c

tests/record/loops: tests/record/loops.c
	$(record_compile) -o $@ $(srcdir)/tests/record/loops.c

tests/record/libstubs.so: tests/record/stubs.c
	$(AM_V_GEN)$(MKDIR_P) tests/record && $(CC) -DLIBRARY -fPIC -shared \
		-o $@ $(srcdir)/tests/record/stubs.c

tests/record/stubs: tests/record/stubs.c tests/record/libstubs.so
	$(AM_V_GEN)$(CC) -o $@ $(srcdir)/tests/record/stubs.c \
		-Ltests/record -lstubs -Wl,-rpath,$(abs_builddir)/tests/record

if HAVE_MPIFORT
record_fortran = tests/record/calls_mpif tests/record/calls_mpi \
	tests/record/calls_f08 tests/record/topologies_mpif \
	tests/record/topologies_mpi tests/record/topologies_f08
check_DATA += $(record_fortran)
CLEANFILES += $(record_fortran)
# -w: mpif.h has no interfaces, and buffers of different types are the point.
record_fcompile = $(AM_V_GEN)$(MKDIR_P) tests/record && $(MPIFORT) -w \
	-fallow-argument-mismatch

tests/record/calls_mpif: tests/record/calls.F90
	$(record_fcompile) -DUSE_MPIF -o $@ $(srcdir)/tests/record/calls.F90

tests/record/calls_mpi: tests/record/calls.F90
	$(record_fcompile) -DUSE_MPI -o $@ $(srcdir)/tests/record/calls.F90

tests/record/calls_f08: tests/record/calls.F90
	$(record_fcompile) -DUSE_F08 -o $@ $(srcdir)/tests/record/calls.F90

tests/record/topologies_mpif: tests/record/topologies.F90
	$(record_fcompile) -DUSE_MPIF -o $@ $(srcdir)/tests/record/topologies.F90

tests/record/topologies_mpi: tests/record/topologies.F90
	$(record_fcompile) -DUSE_MPI -o $@ $(srcdir)/tests/record/topologies.F90

tests/record/topologies_f08: tests/record/topologies.F90
	$(record_fcompile) -DUSE_F08 -o $@ $(srcdir)/tests/record/topologies.F90
endif
endif

# NCCL's plugin under a stand-in for NCCL; nccl.t runs it.
EXTRA_DIST += tests/record/nccl_job.c tests/record/nccl.t tests/record/matrix.bash
check_PROGRAMS += tests/record/nccl_job
tests_record_nccl_job_SOURCES = tests/record/nccl_job.c src/record/nccl_api.h
tests_record_nccl_job_LDADD =
tests_record_nccl_job_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src
tests_record_nccl_job_CFLAGS = $(AM_CFLAGS) -pthread
