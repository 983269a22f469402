# fragment of tests/plugin
check_LTLIBRARIES =
EXTRA_DIST += tests/plugin/exports.t tests/plugin/calls.t

# Programs that stand in for Slurm's and load the SPANK plugin.
spank_tests = tests/plugin/test_spank_options tests/plugin/test_spank_order tests/plugin/test_spank_launchers tests/plugin/test_spank_keep
if HAVE_SPANK
if HAVE_CMOCKA
check_PROGRAMS += $(spank_tests)
TESTS += $(spank_tests)
endif
endif
tests_plugin_test_spank_options_SOURCES = tests/plugin/test_spank_options.c tests/plugin/spank.h
tests_plugin_test_spank_options_CPPFLAGS = -DCPL_TEST_RECORDER='"$(pkglibdir)/libcommplace-record.so"' -DCPL_TEST_NCCL_PLUGIN='"$(pkglibdir)/libnccl-profiler-commplace.so"' $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) -I$(srcdir)/src/plugins/compat -DCPL_TEST_BUILDDIR='"$(abs_top_builddir)"'
tests_plugin_test_spank_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_spank_options_LDFLAGS = -rdynamic
tests_plugin_test_spank_options_LDADD = $(CMOCKA_LIBS) -ldl

tests_plugin_test_spank_order_SOURCES = tests/plugin/test_spank_order.c tests/plugin/spank.h
tests_plugin_test_spank_order_CPPFLAGS = $(tests_plugin_test_spank_options_CPPFLAGS)
tests_plugin_test_spank_order_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_spank_order_LDFLAGS = -rdynamic
tests_plugin_test_spank_order_LDADD = $(CMOCKA_LIBS) -ldl

tests_plugin_test_spank_launchers_SOURCES = tests/plugin/test_spank_launchers.c tests/plugin/spank.h
tests_plugin_test_spank_launchers_CPPFLAGS = $(tests_plugin_test_spank_options_CPPFLAGS)
tests_plugin_test_spank_launchers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_spank_launchers_LDFLAGS = -rdynamic
tests_plugin_test_spank_launchers_LDADD = $(CMOCKA_LIBS) -ldl

tests_plugin_test_spank_keep_SOURCES = tests/plugin/test_spank_keep.c tests/plugin/spank.h
tests_plugin_test_spank_keep_CPPFLAGS = $(tests_plugin_test_spank_options_CPPFLAGS)
tests_plugin_test_spank_keep_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_spank_keep_LDFLAGS = -rdynamic
tests_plugin_test_spank_keep_LDADD = $(CMOCKA_LIBS) -ldl

# job_submit_commplace.so loaded beside libslurmfull, without a slurmctld.
job_submit_tests = tests/plugin/test_job_submit tests/plugin/test_job_submit_files tests/plugin/test_submit_planes tests/plugin/test_submit_failures
job_submit_sources = tests/plugin/submit.c tests/plugin/submit.h
if HAVE_SLURM
if HAVE_CMOCKA
check_PROGRAMS += $(job_submit_tests)
TESTS += $(job_submit_tests)
endif
endif
tests_plugin_test_job_submit_SOURCES = tests/plugin/test_job_submit.c $(job_submit_sources)
submit_test_cppflags = $(slurm_plugin_cppflags) -DCPL_TEST_COMMPLACED='"$(abs_top_builddir)/commplaced"'
tests_plugin_test_job_submit_CPPFLAGS = $(submit_test_cppflags) -DCPL_TEST_BUILDDIR='"$(abs_top_builddir)"'
tests_plugin_test_job_submit_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_job_submit_LDFLAGS = -rdynamic -L$(SLURM_PLUGIN_SYSTEM_DIR) -Wl,-rpath,$(SLURM_PLUGIN_SYSTEM_DIR)
tests_plugin_test_job_submit_LDADD = -lslurmfull $(CMOCKA_LIBS) -ldl
tests_plugin_test_job_submit_files_SOURCES = tests/plugin/test_job_submit_files.c tests/tools/own_files.h tests/tools/own_open.h $(job_submit_sources)
tests_plugin_test_job_submit_files_CPPFLAGS = $(submit_test_cppflags) -DCPL_TEST_BUILDDIR='"$(abs_top_builddir)/tests/plugin/inside"' -DCPL_TEST_COMMAND='"$(abs_top_builddir)/commplace"'
tests_plugin_test_job_submit_files_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_job_submit_files_LDFLAGS = $(tests_plugin_test_job_submit_LDFLAGS)
tests_plugin_test_job_submit_files_LDADD = $(tests_plugin_test_job_submit_LDADD)
tests_plugin_test_submit_planes_SOURCES = tests/plugin/test_submit_planes.c $(job_submit_sources)
tests_plugin_test_submit_planes_CPPFLAGS = $(tests_plugin_test_job_submit_CPPFLAGS)
tests_plugin_test_submit_planes_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_submit_planes_LDFLAGS = $(tests_plugin_test_job_submit_LDFLAGS)
tests_plugin_test_submit_planes_LDADD = $(tests_plugin_test_job_submit_LDADD)
tests_plugin_test_submit_failures_SOURCES = tests/plugin/test_submit_failures.c $(job_submit_sources)
tests_plugin_test_submit_failures_CPPFLAGS = $(submit_test_cppflags) -DCPL_TEST_BUILDDIR='"$(abs_top_builddir)/tests/plugin/inside"' -DCPL_TEST_FAILMALLOC='"$(abs_top_builddir)/tests/tools/.libs/failmalloc.so"'
tests_plugin_test_submit_failures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_submit_failures_LDFLAGS = $(tests_plugin_test_job_submit_LDFLAGS)
tests_plugin_test_submit_failures_LDADD = $(tests_plugin_test_job_submit_LDADD)

# task_commplace.so as loaded, and its sources on hand-made launch requests.
task_test_sources = tests/plugin/launch.c tests/plugin/launch.h $(task_hooks)
task_test_cppflags = $(slurm_plugin_cppflags) -I$(srcdir)/src/plugins/task -DCPL_TEST_SRCDIR='"$(abs_top_srcdir)"'
task_test_ldflags = -rdynamic -L$(SLURM_PLUGIN_SYSTEM_DIR) -Wl,-rpath,$(SLURM_PLUGIN_SYSTEM_DIR)
task_test_ldadd = libtaskroom.la $(inside_libadd) $(HWLOC_LIBS) -lslurmfull $(CMOCKA_LIBS)
task_tests = tests/plugin/test_task_load tests/plugin/test_task_plan tests/plugin/test_task_hooks tests/plugin/test_task_nodes tests/plugin/test_task_guard tests/plugin/test_task_cgroup tests/plugin/test_task_sweep
if HAVE_SLURM
if HAVE_CMOCKA
check_PROGRAMS += $(task_tests)
TESTS += $(task_tests)
endif
endif
tests_plugin_test_task_load_SOURCES = tests/plugin/test_task_load.c
tests_plugin_test_task_load_CPPFLAGS = $(slurm_plugin_cppflags) -DCPL_TEST_BUILDDIR='"$(abs_top_builddir)"' -DCPL_TEST_STOCK_DIR='"$(SLURM_PLUGIN_SYSTEM_DIR)"'
tests_plugin_test_task_load_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_task_load_LDFLAGS = $(task_test_ldflags)
tests_plugin_test_task_load_LDADD = -lslurmfull $(CMOCKA_LIBS) -ldl
tests_plugin_test_task_plan_SOURCES = tests/plugin/test_task_plan.c $(task_test_sources)
tests_plugin_test_task_plan_CPPFLAGS = $(task_test_cppflags)
tests_plugin_test_task_plan_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_task_plan_LDFLAGS = $(task_test_ldflags)
tests_plugin_test_task_plan_LDADD = $(task_test_ldadd)
tests_plugin_test_task_hooks_SOURCES = tests/plugin/test_task_hooks.c $(task_test_sources)
tests_plugin_test_task_hooks_CPPFLAGS = $(task_test_cppflags)
tests_plugin_test_task_hooks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_task_hooks_LDFLAGS = $(task_test_ldflags)
tests_plugin_test_task_hooks_LDADD = $(task_test_ldadd)
tests_plugin_test_task_guard_SOURCES = tests/plugin/test_task_guard.c $(task_test_sources)
tests_plugin_test_task_guard_CPPFLAGS = $(task_test_cppflags)
tests_plugin_test_task_guard_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_task_guard_LDFLAGS = $(task_test_ldflags)
tests_plugin_test_task_guard_LDADD = $(task_test_ldadd)
tests_plugin_test_task_nodes_SOURCES = tests/plugin/test_task_nodes.c $(task_test_sources)
tests_plugin_test_task_nodes_CPPFLAGS = $(task_test_cppflags)
tests_plugin_test_task_nodes_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_task_nodes_LDFLAGS = $(task_test_ldflags)
tests_plugin_test_task_nodes_LDADD = $(task_test_ldadd)
tests_plugin_test_task_cgroup_SOURCES = tests/plugin/test_task_cgroup.c tests/plugin/cgroups.c tests/plugin/cgroups.h tests/tools/own_open.h $(task_test_sources)
tests_plugin_test_task_cgroup_CPPFLAGS = $(task_test_cppflags)
tests_plugin_test_task_cgroup_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_task_cgroup_LDFLAGS = $(task_test_ldflags)
tests_plugin_test_task_cgroup_LDADD = $(task_test_ldadd)
tests_plugin_test_task_sweep_SOURCES = tests/plugin/test_task_sweep.c tests/plugin/cgroups.c tests/plugin/cgroups.h tests/tools/own_open.h $(task_test_sources)
tests_plugin_test_task_sweep_CPPFLAGS = $(task_test_cppflags)
tests_plugin_test_task_sweep_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_task_sweep_LDFLAGS = $(task_test_ldflags)
tests_plugin_test_task_sweep_LDADD = $(task_test_ldadd)

# The plugins of slurmctld with the engine inside, in place of the way to commplaced:
# what an engine does where memory runs out or a file hangs is looked at through the
# same hooks, by a program that can make it so.
if HAVE_SLURM
check_LTLIBRARIES += tests/plugin/inside/select_cons_tres_commplace.la tests/plugin/inside/job_submit_commplace.la
endif
inside_libadd = libcplslurm.la libcore.la $(JANSSON_LIBS)
tests_plugin_inside_select_cons_tres_commplace_la_SOURCES =
tests_plugin_inside_select_cons_tres_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -rpath /nowhere -Wl,-z,nodelete -Wl,--version-script=$(srcdir)/src/plugins/select/select.sym
tests_plugin_inside_select_cons_tres_commplace_la_LIBADD = $(select_cons_tres_commplace_la_OBJECTS) libselectroom.la $(inside_libadd)
tests_plugin_inside_job_submit_commplace_la_SOURCES =
tests_plugin_inside_job_submit_commplace_la_LDFLAGS = $(slurm_plugin_ldflags) -rpath /nowhere -Wl,-z,nodelete -Wl,--version-script=$(srcdir)/src/plugins/compat/job_submit.sym
tests_plugin_inside_job_submit_commplace_la_LIBADD = $(job_submit_commplace_la_OBJECTS) libsubmitroom.la $(inside_libadd)

# The select plugin on a program that stands in for slurmctld.
select_test_sources = tests/plugin/controller.c tests/plugin/controller.h tests/plugin/slurmctld.c tests/plugin/slurmctld.h tests/plugin/oracle.c tests/plugin/oracle.h
busy_sources = tests/plugin/busy.c tests/plugin/busy.h $(select_test_sources)
select_test_cppflags = $(slurm_plugin_cppflags) -DCPL_TEST_COMMPLACED='"$(abs_top_builddir)/commplaced"' -DCPL_TEST_PLUGIN_DIR='"$(abs_top_builddir)/.libs"' -DCPL_TEST_STOCK_DIR='"$(SLURM_PLUGIN_SYSTEM_DIR)"'
select_test_ldflags = -rdynamic -L$(SLURM_PLUGIN_SYSTEM_DIR) -Wl,-rpath,$(SLURM_PLUGIN_SYSTEM_DIR)
select_test_ldadd = libcore.la -lslurmfull $(CMOCKA_LIBS) -ldl
select_tests = tests/plugin/test_compat tests/plugin/test_layout tests/plugin/test_spread tests/plugin/test_select tests/plugin/test_select_orders tests/plugin/test_select_numbers tests/plugin/test_select_stock tests/plugin/test_select_failures tests/plugin/test_select_guard tests/plugin/test_conf_guard tests/plugin/test_select_sizes tests/plugin/test_select_usage tests/plugin/test_select_charge tests/plugin/test_select_door
if HAVE_SLURM
if HAVE_CMOCKA
check_PROGRAMS += $(select_tests)
check_LTLIBRARIES += tests/tools/failmalloc.la tests/tools/damage.la tests/tools/clock.la tests/tools/faults.la
TESTS += $(select_tests)
endif
endif
tests_plugin_test_select_SOURCES = tests/plugin/test_select.c $(busy_sources)
tests_plugin_test_select_CPPFLAGS = $(select_test_cppflags)
tests_plugin_test_select_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_LDADD = $(select_test_ldadd)
tests_plugin_test_select_guard_SOURCES = tests/plugin/test_select_guard.c $(select_test_sources)
tests_plugin_test_select_guard_CPPFLAGS = $(select_test_cppflags)
tests_plugin_test_select_guard_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_guard_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_guard_LDADD = $(select_test_ldadd)
tests_plugin_test_select_numbers_SOURCES = tests/plugin/test_select_numbers.c $(busy_sources)
tests_plugin_test_select_numbers_CPPFLAGS = $(select_test_cppflags)
tests_plugin_test_select_numbers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_numbers_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_numbers_LDADD = $(select_test_ldadd)
tests_plugin_test_select_orders_SOURCES = tests/plugin/test_select_orders.c $(busy_sources)
tests_plugin_test_select_orders_CPPFLAGS = $(select_test_cppflags)
tests_plugin_test_select_orders_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_orders_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_orders_LDADD = $(select_test_ldadd)
tests_plugin_test_select_sizes_SOURCES = tests/plugin/test_select_sizes.c $(select_test_sources)
tests_plugin_test_select_sizes_CPPFLAGS = $(select_test_cppflags)
tests_plugin_test_select_sizes_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_sizes_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_sizes_LDADD = $(select_test_ldadd)
tests_plugin_test_select_door_SOURCES = tests/plugin/test_select_door.c $(select_test_sources)
tests_plugin_test_select_door_CPPFLAGS = $(select_test_cppflags) -DCPL_TEST_COMMAND='"$(abs_top_builddir)/commplace"'
tests_plugin_test_select_door_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_door_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_door_LDADD = $(select_test_ldadd)
tests_plugin_test_select_charge_SOURCES = tests/plugin/test_select_charge.c $(select_test_sources)
tests_plugin_test_select_charge_CPPFLAGS = $(select_test_cppflags)
tests_plugin_test_select_charge_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_charge_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_charge_LDADD = $(select_test_ldadd)
tests_plugin_test_select_usage_SOURCES = tests/plugin/test_select_usage.c src/plugins/compat/ctld_usage.c $(select_test_sources)
tests_plugin_test_select_usage_CPPFLAGS = $(select_test_cppflags)
tests_plugin_test_select_usage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_usage_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_usage_LDADD = $(select_test_ldadd)
tests_plugin_test_select_stock_SOURCES = tests/plugin/test_select_stock.c $(select_test_sources)
tests_plugin_test_select_stock_CPPFLAGS = $(select_test_cppflags) -DCPL_TEST_FAILMALLOC='"$(abs_top_builddir)/tests/tools/.libs/failmalloc.so"'
tests_plugin_test_select_stock_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_stock_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_stock_LDADD = $(select_test_ldadd)
tests_plugin_test_select_failures_SOURCES = tests/plugin/test_select_failures.c $(select_test_sources)
tests_plugin_test_select_failures_CPPFLAGS = $(slurm_plugin_cppflags) -DCPL_TEST_COMMPLACED='"/no/such/program"' -DCPL_TEST_PLUGIN_DIR='"$(abs_top_builddir)/tests/plugin/inside/.libs:$(abs_top_builddir)/.libs"' -DCPL_TEST_STOCK_DIR='"$(SLURM_PLUGIN_SYSTEM_DIR)"' -DCPL_TEST_FAILMALLOC='"$(abs_top_builddir)/tests/tools/.libs/failmalloc.so"'
tests_plugin_test_select_failures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_select_failures_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_select_failures_LDADD = $(select_test_ldadd)
# Preloaded by the test; -rpath makes libtool build it shared.
tests_tools_failmalloc_la_SOURCES = tests/tools/failmalloc.c
tests_tools_failmalloc_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_tools_failmalloc_la_LIBADD = -ldl
# What a user's own sbatch may load.
if HAVE_SPANK
check_LTLIBRARIES += tests/tools/hostile_spank.la
endif
tests_tools_hostile_spank_la_SOURCES = tests/tools/hostile_spank.c
tests_tools_hostile_spank_la_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
tests_tools_hostile_spank_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
# Preloaded by live tests.
tests_tools_damage_la_SOURCES = tests/tools/damage.c
tests_tools_damage_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_tools_damage_la_LIBADD = -ldl
tests_tools_clock_la_SOURCES = tests/tools/clock.c
tests_tools_clock_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_tools_clock_la_LIBADD = -ldl
tests_tools_faults_la_SOURCES = tests/tools/faults.c tests/tools/own_open.h
tests_tools_faults_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_tools_faults_la_LIBADD = -ldl
# A site's own switch plugin, which live tests wrap.
if HAVE_SLURM_SWITCH
check_LTLIBRARIES += tests/tools/switch_test.la
tests_tools_switch_test_la_SOURCES = tests/tools/switch_test.c
tests_tools_switch_test_la_CPPFLAGS = $(slurm_plugin_cppflags)
tests_tools_switch_test_la_LDFLAGS = $(slurm_plugin_ldflags) -rpath /nowhere
endif

tests_plugin_test_compat_SOURCES = tests/plugin/test_compat.c src/plugins/compat/ctld_install.c
tests_plugin_test_compat_CPPFLAGS = $(slurm_plugin_cppflags)
tests_plugin_test_compat_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_compat_LDFLAGS = -rdynamic -L$(SLURM_PLUGIN_SYSTEM_DIR) -Wl,-rpath,$(SLURM_PLUGIN_SYSTEM_DIR)
tests_plugin_test_compat_LDADD = $(slurm_plugin_libadd) -lslurmfull $(CMOCKA_LIBS)

# Beside the public libslurm, which has less than libslurmfull.
if HAVE_SLURM
check_PROGRAMS += tests/plugin/test_public
TESTS += tests/plugin/test_public
endif
tests_plugin_test_public_SOURCES = tests/plugin/test_public.c
tests_plugin_test_public_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) -I$(srcdir)/src/plugins/compat -DCPL_TEST_PLUGIN_DIR='"$(abs_top_builddir)/.libs"' -DCPL_TEST_STOCK_DIR='"$(SLURM_PLUGIN_SYSTEM_DIR)"'
tests_plugin_test_public_LDFLAGS = -L$(SLURM_PLUGIN_SYSTEM_DIR)/.. -Wl,-rpath,$(SLURM_PLUGIN_SYSTEM_DIR)/..
tests_plugin_test_public_LDADD = -lslurm -ldl

# All that the layers plugin and live run, without the programs of others.
plugin-tests: $(filter tests/plugin/%,$(check_PROGRAMS)) $(check_LTLIBRARIES)
.PHONY: plugin-tests

tests_plugin_test_conf_guard_SOURCES = tests/plugin/test_conf_guard.c
tests_plugin_test_conf_guard_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS) -DCPL_TEST_PLUGIN_DIR='"$(abs_top_builddir)/.libs"'
if HAVE_SLURM_SWITCH
tests_plugin_test_conf_guard_CPPFLAGS += -DCPL_TEST_SWITCH
endif
tests_plugin_test_conf_guard_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_conf_guard_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_conf_guard_LDADD = -lslurmfull $(CMOCKA_LIBS) -ldl

tests_plugin_test_layout_SOURCES = tests/plugin/test_layout.c
tests_plugin_test_layout_CPPFLAGS = $(slurm_plugin_cppflags) -DCPL_TEST_LAYOUT='"$(abs_top_builddir)/commplace-layout"' -DCPL_TEST_STOCK_DIR='"$(SLURM_PLUGIN_SYSTEM_DIR)"'
tests_plugin_test_layout_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_layout_LDADD = libbase.la $(CMOCKA_LIBS)

tests_plugin_test_spread_SOURCES = tests/plugin/test_spread.c src/plugins/compat/ctld_layout.c
tests_plugin_test_spread_CPPFLAGS = $(slurm_plugin_cppflags)
tests_plugin_test_spread_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_spread_LDFLAGS = $(select_test_ldflags)
tests_plugin_test_spread_LDADD = libcore.la -lslurmfull $(CMOCKA_LIBS)
