# Figures, not tests: built and run by hand,
# make tests/bench/bench_decide &&
#	tests/bench/bench_decide $(srcdir)/etc/networks/edison.json
EXTRA_PROGRAMS += tests/bench/bench_decide
tests_bench_bench_decide_SOURCES = tests/bench/bench_decide.c tests/bench/stencil_job.h tests/bench/cpu_time.h
tests_bench_bench_decide_LDADD = libcore.la
CLEANFILES += tests/bench/bench_decide

# tests/bench/bench_work torus, and tests/bench/bench_work $(srcdir)/etc/networks/edison.json
EXTRA_PROGRAMS += tests/bench/bench_work
tests_bench_bench_work_SOURCES = tests/bench/bench_work.c tests/bench/cpu_time.h
tests_bench_bench_work_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_work

# tests/bench/bench_traffic $(srcdir)/etc/networks/edison.json 512, which has 4
# links between two groups; with 24 as the machine has them: what commplace
# network import --format aries makes of its link list
EXTRA_PROGRAMS += tests/bench/bench_traffic
tests_bench_bench_traffic_SOURCES = tests/bench/bench_traffic.c tests/bench/stencil_job.h tests/bench/cpu_time.h
tests_bench_bench_traffic_LDADD = libcore.la
CLEANFILES += tests/bench/bench_traffic

# tests/bench/bench_load
EXTRA_PROGRAMS += tests/bench/bench_load
tests_bench_bench_load_SOURCES = tests/bench/bench_load.c tests/bench/cpu_time.h
tests_bench_bench_load_LDADD = libcore.la
CLEANFILES += tests/bench/bench_load

# tests/bench/bench_progressive $(srcdir)/etc/networks/slingshot-16.json 512
EXTRA_PROGRAMS += tests/bench/bench_progressive
tests_bench_bench_progressive_SOURCES = tests/bench/bench_progressive.c tests/bench/cpu_time.h
tests_bench_bench_progressive_LDADD = libcore.la
CLEANFILES += tests/bench/bench_progressive

# tests/bench/bench_ports [40], and tests/bench/bench_ports time
EXTRA_PROGRAMS += tests/bench/bench_ports
tests_bench_bench_ports_SOURCES = tests/bench/bench_ports.c tests/bench/cpu_time.h
tests_bench_bench_ports_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_ports

# tests/bench/progressive_packet: rows of doc/reproduction/simulation.md
EXTRA_PROGRAMS += tests/bench/progressive_packet
tests_bench_progressive_packet_SOURCES = tests/bench/progressive_packet.c tests/bench/messages_job.h
tests_bench_progressive_packet_LDADD = libcore.la -lm
CLEANFILES += tests/bench/progressive_packet

# tests/bench/bench_scale [-t THREADS] [-k K] [cases] [messages] [routers] [threads] [adaptive]
EXTRA_PROGRAMS += tests/bench/bench_scale
tests_bench_bench_scale_SOURCES = tests/bench/bench_scale.c
tests_bench_bench_scale_LDADD = libcore.la
CLEANFILES += tests/bench/bench_scale

# tests/bench/bench_mapping [-g scotch_gmap] [-m FOLDER]
EXTRA_PROGRAMS += tests/bench/bench_mapping
tests_bench_bench_mapping_SOURCES = tests/bench/bench_mapping.c \
	tests/bench/mapping_bench.h tests/bench/mapping_jobs.c \
	tests/bench/mapping_gmap.c tests/bench/mapping_folder.c
tests_bench_bench_mapping_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_mapping

# PLOT_ROWS=tests/bench/plot_rows BENCH_SCALE=tests/bench/bench_scale
# BENCH_ADAPTIVE=tests/bench/bench_adaptive
# tests/bench/reproduce-damselfly ./commplace WORK >doc/reproduction/damselfly.md
# COMMPLACE_BUILD=. $(srcdir)/tests/bench/bench-applications, bench-pet, and
# $(MPICC) -o halo_job $(srcdir)/tests/bench/halo_job.c for reproduce-rescale
EXTRA_DIST += tests/bench/bench-applications tests/bench/bench-pet tests/bench/pet_job.c \
	tests/bench/halo_job.c tests/bench/reproduce-clustering
EXTRA_DIST += tests/bench/reproduce-damselfly tests/bench/reproduce-damselfly.pl
EXTRA_DIST += doc/reproduction
# perl tests/bench/reproduction-index doc/reproduction >README.md there, and its figures:
# perl tests/bench/plot-tables doc/reproduction
EXTRA_DIST += tests/bench/reproduction-index tests/bench/plot-tables

# Where SimGrid and a C++ compiler are: make tests/bench/simgrid_check, then
# tests/bench/simgrid-check tests/bench/simgrid_check >doc/reproduction/simgrid.md
EXTRA_DIST += tests/bench/simgrid-check tests/bench/simgrid_flows.cpp
if HAVE_SIMGRID
EXTRA_PROGRAMS += tests/bench/simgrid_check
tests_bench_simgrid_check_SOURCES = tests/bench/simgrid_check.c tests/bench/simgrid_flows.h
tests_bench_simgrid_check_LDADD = tests/bench/simgrid_flows.o libcore.la $(SIMGRID_LIBS) -lstdc++
tests_bench_simgrid_check_DEPENDENCIES = tests/bench/simgrid_flows.o libcore.la
tests/bench/simgrid_flows.o: tests/bench/simgrid_flows.cpp tests/bench/simgrid_flows.h
	$(AM_V_GEN)$(MKDIR_P) tests/bench && $(CXX) -O2 -Wall -Wextra $(SIMGRID_CFLAGS) -c -o $@ $(srcdir)/tests/bench/simgrid_flows.cpp
CLEANFILES += tests/bench/simgrid_check tests/bench/simgrid_flows.o

# tests/bench/simgrid_moments NETWORK LOG MAP POLICY,POLICY... MOMENTS JOBS
EXTRA_PROGRAMS += tests/bench/simgrid_moments
tests_bench_simgrid_moments_SOURCES = tests/bench/simgrid_moments.c tests/bench/simgrid_flows.h
tests_bench_simgrid_moments_LDADD = tests/bench/simgrid_flows.o libcore.la $(SIMGRID_LIBS) -lstdc++ -lm
tests_bench_simgrid_moments_DEPENDENCIES = tests/bench/simgrid_flows.o libcore.la
CLEANFILES += tests/bench/simgrid_moments

# tests/bench/simulate_simgrid CASES [MESSAGES]
EXTRA_PROGRAMS += tests/bench/simulate_simgrid
tests_bench_simulate_simgrid_SOURCES = tests/bench/simulate_simgrid.c tests/bench/cpu_time.h tests/bench/simgrid_flows.h
tests_bench_simulate_simgrid_LDADD = tests/bench/simgrid_flows.o libcore.la $(SIMGRID_LIBS) -lstdc++ -lm
tests_bench_simulate_simgrid_DEPENDENCIES = tests/bench/simgrid_flows.o libcore.la
CLEANFILES += tests/bench/simulate_simgrid
endif

# tests/bench/flow_moments NETWORK LOG MAP POLICY,POLICY... MOMENTS JOBS [VARIANT]
EXTRA_PROGRAMS += tests/bench/flow_moments
tests_bench_flow_moments_SOURCES = tests/bench/simgrid_moments.c tests/bench/moments_flows.c tests/bench/simgrid_flows.h
tests_bench_flow_moments_LDADD = libcore.la -lm
CLEANFILES += tests/bench/flow_moments

# tests/bench/bench_adaptive $(srcdir)/etc/networks/cascade-960.json stencil RDR AH 2
EXTRA_PROGRAMS += tests/bench/bench_adaptive
tests_bench_bench_adaptive_SOURCES = tests/bench/bench_adaptive.c
tests_bench_bench_adaptive_LDADD = libcore.la
CLEANFILES += tests/bench/bench_adaptive
# tests/bench/bench_times [stages]
EXTRA_PROGRAMS += tests/bench/bench_times
tests_bench_bench_times_SOURCES = tests/bench/bench_times.c
tests_bench_bench_times_LDADD = libcore.la
CLEANFILES += tests/bench/bench_times

# tests/bench/bench_scaling [-l LIMIT] [-n LARGEST] [-d] [MAPPER]...
EXTRA_PROGRAMS += tests/bench/bench_scaling
tests_bench_bench_scaling_SOURCES = tests/bench/bench_scaling.c tests/bench/cpu_time.h
tests_bench_bench_scaling_LDADD = libcore.la
if HAVE_SCOTCH
tests_bench_bench_scaling_SOURCES += src/core/mapping/scotch.c
tests_bench_bench_scaling_LDADD += $(SCOTCH_LIBS)
endif
CLEANFILES += tests/bench/bench_scaling

# tests/bench/reproduce-mapping ./commplace WORK >doc/reproduction/mapping.md
EXTRA_DIST += tests/bench/reproduce-campaign
EXTRA_DIST += tests/bench/reproduce-studies
EXTRA_DIST += tests/bench/reproduce-metrics tests/bench/reproduce-metrics.pl
EXTRA_DIST += tests/bench/bench-record tests/bench/record_rate.c tests/bench/cpu_time.h
EXTRA_DIST += tests/bench/reproduce-allocations tests/bench/reproduce-mapping tests/bench/reproduce-mapping.pl
# tests/bench/bench_binding [-p RANKS] dense | nas | plan
EXTRA_PROGRAMS += tests/bench/bench_binding
tests_bench_bench_binding_SOURCES = tests/bench/bench_binding.c tests/bench/cpu_time.h
tests_bench_bench_binding_LDADD = libcore.la -lm
if HAVE_SCOTCH
tests_bench_bench_binding_SOURCES += src/core/binding/scotch.c src/core/mapping/scotch.c
tests_bench_bench_binding_LDADD += $(SCOTCH_LIBS)
endif
CLEANFILES += tests/bench/bench_binding

# tests/bench/bench_partition
if HAVE_SCOTCH
EXTRA_PROGRAMS += tests/bench/bench_partition
tests_bench_bench_partition_SOURCES = tests/bench/bench_partition.c tests/bench/cpu_time.h
tests_bench_bench_partition_LDADD = libcore.la $(SCOTCH_LIBS) -lscotcherr
CLEANFILES += tests/bench/bench_partition
endif

# plot_rows: what PLOT_ROWS names
EXTRA_PROGRAMS += tests/bench/plot_rows
tests_bench_plot_rows_SOURCES = tests/bench/plot_rows.c src/cmd/plot/svg.c src/cmd/plot/box.c src/cmd/plot/plot.h src/cmd/util.c src/cmd/cmd.h
tests_bench_plot_rows_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src/cmd
tests_bench_plot_rows_LDADD = libcore.la
CLEANFILES += tests/bench/plot_rows
EXTRA_DIST += tests/bench/bench-launch

# tests/bench/bench_communication speed $(srcdir)/etc/networks/edison.json; for
# the others see its head
EXTRA_PROGRAMS += tests/bench/bench_communication
tests_bench_bench_communication_SOURCES = tests/bench/bench_communication.c tests/bench/stencil_job.h tests/bench/cpu_time.h
tests_bench_bench_communication_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_communication
# COMMPLACE=./commplace $(srcdir)/tests/bench/bench-campaign
EXTRA_DIST += tests/bench/bench-campaign
# make tests/bench/fake_nodes tests/bench/slurm_calls, then as root
# tests/bench/bench-slurmctld, tests/bench/live-campaign LOGS or tests/bench/live-starts
EXTRA_DIST += tests/bench/bench-slurmctld tests/bench/live-campaign tests/bench/live-starts \
	tests/bench/fake_cluster.bash
if HAVE_SLURM
EXTRA_PROGRAMS += tests/bench/fake_nodes tests/bench/slurm_calls
tests_bench_fake_nodes_SOURCES = tests/bench/fake_nodes.c
tests_bench_fake_nodes_CPPFLAGS = $(slurm_plugin_cppflags)
tests_bench_fake_nodes_LDFLAGS = -L$(SLURM_PLUGIN_SYSTEM_DIR) -Wl,-rpath,$(SLURM_PLUGIN_SYSTEM_DIR)
tests_bench_fake_nodes_LDADD = -lslurmfull
tests_bench_slurm_calls_SOURCES = tests/bench/slurm_calls.c
tests_bench_slurm_calls_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_bench_slurm_calls_LDFLAGS = -L$(SLURM_PLUGIN_SYSTEM_DIR)/.. -Wl,-rpath,$(SLURM_PLUGIN_SYSTEM_DIR)/..
tests_bench_slurm_calls_LDADD = -lslurm
CLEANFILES += tests/bench/fake_nodes tests/bench/slurm_calls
endif
# tests/bench/bench_engine [-tsl] [-p POLICY] [-n CALLS] [-d DIR] [-c LINE]...
EXTRA_DIST += tests/bench/compare-records
EXTRA_PROGRAMS += tests/bench/bench_engine
tests_bench_bench_engine_SOURCES = tests/bench/bench_engine.c
tests_bench_bench_engine_LDADD = libcore.la
CLEANFILES += tests/bench/bench_engine
# tests/bench/bench_joint draws | mappers [NETWORK.json NODES]
EXTRA_PROGRAMS += tests/bench/bench_joint
tests_bench_bench_joint_SOURCES = tests/bench/bench_joint.c tests/bench/stencil_job.h tests/bench/cpu_time.h tests/unit/joint_jobs.h
tests_bench_bench_joint_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_joint
# tests/bench/time_order PLACEMENTS [ROWS.csv]
EXTRA_PROGRAMS += tests/bench/time_order
tests_bench_time_order_SOURCES = tests/bench/time_order.c tests/bench/time_cases.h
tests_bench_time_order_LDADD = libcore.la -lm
CLEANFILES += tests/bench/time_order

# Are seconds told as well for large messages as for small ones?
# tests/bench/time_sizes [PLACEMENTS]
EXTRA_PROGRAMS += tests/bench/time_sizes
tests_bench_time_sizes_SOURCES = tests/bench/time_sizes.c tests/bench/time_cases.h
tests_bench_time_sizes_LDADD = libcore.la -lm
CLEANFILES += tests/bench/time_sizes
# tests/bench/time_error run NETWORK PLACEMENTS [SCALE] >ROWS.csv
# tests/bench/time_error tell <ROWS.csv
EXTRA_PROGRAMS += tests/bench/time_error
tests_bench_time_error_SOURCES = tests/bench/time_error.c tests/bench/time_cases.h
tests_bench_time_error_LDADD = libcore.la -lm
CLEANFILES += tests/bench/time_error
# tests/bench/time_placements CASES [HOW [ROWS.csv]] [order]
EXTRA_PROGRAMS += tests/bench/time_placements
tests_bench_time_placements_SOURCES = tests/bench/time_placements.c tests/bench/busy_machine.h tests/bench/time_cases.h
tests_bench_time_placements_LDADD = libcore.la -lm
CLEANFILES += tests/bench/time_placements
# tests/bench/bench_measured CASES [NOISE [SEED]]
EXTRA_PROGRAMS += tests/bench/bench_measured
tests_bench_bench_measured_SOURCES = tests/bench/bench_measured.c tests/bench/busy_machine.h tests/bench/time_cases.h
tests_bench_bench_measured_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_measured
# tests/bench/bench_unknown MOMENTS [NOISE [SEED]]
EXTRA_PROGRAMS += tests/bench/bench_unknown
tests_bench_bench_unknown_SOURCES = tests/bench/bench_unknown.c tests/bench/busy_machine.h tests/bench/time_cases.h
tests_bench_bench_unknown_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_unknown
# tests/bench/bench_simulate packet NETWORK - RANKS MESSAGES BYTES; see its head
EXTRA_PROGRAMS += tests/bench/bench_simulate
tests_bench_bench_simulate_SOURCES = tests/bench/bench_simulate.c tests/bench/cpu_time.h tests/bench/messages_job.h
tests_bench_bench_simulate_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_simulate

# tests/bench/latency_load NETWORK PATTERN ROUTING LOAD...; beside BookSim:
# tests/bench/latency-load-peer BOOKSIM tests/bench/latency_load
EXTRA_DIST += tests/bench/latency-load-peer
EXTRA_PROGRAMS += tests/bench/latency_load
tests_bench_latency_load_SOURCES = tests/bench/latency_load.c
tests_bench_latency_load_LDADD = libcore.la -lm
CLEANFILES += tests/bench/latency_load

# tests/bench/bench-aicb FILE... [-- FLAG...]: workloads of AICB
EXTRA_DIST += tests/bench/bench-aicb

# tests/bench/bench-import [NODES]: tables of nodes
EXTRA_DIST += tests/bench/bench-import

# tests/bench/bench-domains NETWORK RANKS-PER-NODE PART DRAWS SIGNATURE...
# (bounds by domains_least, if that is made)
EXTRA_DIST += tests/bench/bench-domains
EXTRA_PROGRAMS += tests/bench/domains_least
tests_bench_domains_least_SOURCES = tests/bench/domains_least.c \
	tests/bench/domains_bound.c tests/bench/domains_bound.h
tests_bench_domains_least_LDADD = libcore.la -lm
CLEANFILES += tests/bench/domains_least

# tests/bench/bench-interleave: as root, the same
EXTRA_DIST += tests/bench/bench-interleave

# tests/bench/bench-links: as root, on a kernel with network namespaces
EXTRA_DIST += tests/bench/bench-links tests/bench/links_job.c tests/bench/links_job.h \
	tests/bench/reproduce-rescale

# make benches: all that stands here and needs no library that may be missing
benches: $(EXTRA_PROGRAMS)
.PHONY: benches
# tests/bench/bench_nccl .libs/libnccl-profiler-commplace.so
EXTRA_PROGRAMS += tests/bench/bench_nccl
tests_bench_bench_nccl_SOURCES = tests/bench/bench_nccl.c src/record/nccl_api.h
tests_bench_bench_nccl_LDADD =
tests_bench_bench_nccl_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src
tests_bench_bench_nccl_CFLAGS = $(AM_CFLAGS) -pthread
CLEANFILES += tests/bench/bench_nccl

# tests/bench/bench_spread [INSTANCES [SEED]]: rows of doc/reproduction/spread.md
EXTRA_PROGRAMS += tests/bench/bench_spread
tests_bench_bench_spread_SOURCES = tests/bench/bench_spread.c tests/bench/cpu_time.h
tests_bench_bench_spread_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_spread

# tests/bench/bench_benefit 1000 [NOISE [ROW [SEED]]]
EXTRA_PROGRAMS += tests/bench/bench_benefit
tests_bench_bench_benefit_SOURCES = tests/bench/bench_benefit.c
tests_bench_bench_benefit_LDADD = libcore.la -lm
CLEANFILES += tests/bench/bench_benefit
# tests/bench/bench-learn [FIRST-SEED]: the same page
EXTRA_DIST += tests/bench/bench-learn

# tests/bench/bench-segments [JOBS [SEED [POLICIES]]]: the same page
EXTRA_DIST += tests/bench/bench-segments tests/bench/segments-bound
