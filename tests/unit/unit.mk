# One cmocka program per concern. TAP on stdout: run with
# CMOCKA_MESSAGE_OUTPUT=TAP.
# Programs that say nothing else are compiled with AM_CFLAGS, so that what several of
# them have is compiled once, and linked with this.
unit_ldadd = libcore.la $(CMOCKA_LIBS)
LDADD = $(unit_ldadd)
unit_tests =
EXTRA_DIST += tests/unit/unit.h

unit_tests += tests/unit/test_base
tests_unit_test_base_SOURCES = tests/unit/test_base.c tests/unit/number.h

unit_tests += tests/unit/test_benefit
tests_unit_test_benefit_SOURCES = tests/unit/test_benefit.c

unit_tests += tests/unit/test_debuginfo
tests_unit_test_debuginfo_SOURCES = tests/unit/test_debuginfo.c
tests_unit_test_debuginfo_CPPFLAGS = $(AM_CPPFLAGS) -DCPL_TEST_LAYOUT='"$(abs_top_builddir)/commplace-layout"'

unit_tests += tests/unit/test_hostlist
tests_unit_test_hostlist_SOURCES = tests/unit/test_hostlist.c

unit_tests += tests/unit/test_json
tests_unit_test_json_SOURCES = tests/unit/test_json.c

unit_tests += tests/unit/test_rescale
tests_unit_test_rescale_SOURCES = tests/unit/test_rescale.c
unit_tests += tests/unit/test_install
tests_unit_test_install_SOURCES = tests/unit/test_install.c tests/unit/in_dir.h

unit_tests += tests/unit/test_signature
tests_unit_test_signature_SOURCES = tests/unit/test_signature.c tests/unit/comm_text.h

unit_tests += tests/unit/test_pattern
tests_unit_test_pattern_SOURCES = tests/unit/test_pattern.c tests/unit/comm_text.h

unit_tests += tests/unit/test_launch
tests_unit_test_launch_SOURCES = tests/unit/test_launch.c

unit_tests += tests/unit/test_reorder_plan
tests_unit_test_reorder_plan_SOURCES = tests/unit/test_reorder_plan.c $(reorder_plan)

unit_tests += tests/unit/test_rank_order
tests_unit_test_rank_order_SOURCES = tests/unit/test_rank_order.c

unit_tests += tests/unit/test_counters
tests_unit_test_counters_SOURCES = tests/unit/test_counters.c tests/unit/in_dir.h

unit_tests += tests/unit/test_config
tests_unit_test_config_SOURCES = tests/unit/test_config.c

unit_tests += tests/unit/test_resolve
tests_unit_test_resolve_SOURCES = tests/unit/test_resolve.c

unit_tests += tests/unit/test_campaign
tests_unit_test_campaign_SOURCES = tests/unit/test_campaign.c tests/unit/campaign_cases.h

unit_tests += tests/unit/test_campaign_backfill
tests_unit_test_campaign_backfill_SOURCES = tests/unit/test_campaign_backfill.c tests/unit/campaign_cases.h

unit_tests += tests/unit/test_campaign_bounds
tests_unit_test_campaign_bounds_SOURCES = tests/unit/test_campaign_bounds.c tests/unit/campaign_cases.h

unit_tests += tests/unit/test_campaign_log
tests_unit_test_campaign_log_SOURCES = tests/unit/test_campaign_log.c tests/unit/campaign_cases.h

unit_tests += tests/unit/test_campaign_parts
tests_unit_test_campaign_parts_SOURCES = tests/unit/test_campaign_parts.c tests/unit/campaign_cases.h tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_campaign_kinds
tests_unit_test_campaign_kinds_SOURCES = tests/unit/test_campaign_kinds.c tests/unit/campaign_cases.h tests/unit/number.h

unit_tests += tests/unit/test_state
tests_unit_test_state_SOURCES = tests/unit/test_state.c

unit_tests += tests/unit/test_usage
tests_unit_test_usage_SOURCES = tests/unit/test_usage.c tests/unit/in_dir.h

failing_alloc = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=strdup,--wrap=strndup

unit_tests += tests/unit/test_campaign_memory
tests_unit_test_campaign_memory_SOURCES = tests/unit/test_campaign_memory.c tests/unit/campaign_cases.h tests/unit/failing_alloc.h
tests_unit_test_campaign_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_site_memory
tests_unit_test_site_memory_SOURCES = tests/unit/test_site_memory.c tests/unit/failing_alloc.h
tests_unit_test_site_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_network
tests_unit_test_network_SOURCES = tests/unit/test_network.c tests/unit/number.h tests/unit/network_text.h
tests_unit_test_network_CPPFLAGS = $(AM_CPPFLAGS) -DNETWORKS='"$(abs_top_srcdir)/etc/networks"'

unit_tests += tests/unit/test_network_memory
tests_unit_test_network_memory_SOURCES = tests/unit/test_network_memory.c tests/unit/failing_alloc.h
tests_unit_test_network_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_traffic
tests_unit_test_traffic_SOURCES = tests/unit/test_traffic.c tests/unit/add_traffic.h tests/unit/brute.c tests/unit/brute.h tests/unit/number.h
tests_unit_test_traffic_CPPFLAGS = $(AM_CPPFLAGS) -DNETWORKS='"$(abs_top_srcdir)/etc/networks"' -DTABLES='"$(abs_top_srcdir)/tests/golden/links"'

unit_tests += tests/unit/test_routing
tests_unit_test_routing_SOURCES = tests/unit/test_routing.c tests/unit/add_traffic.h tests/unit/routing_cases.h tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_workload
tests_unit_test_workload_SOURCES = tests/unit/test_workload.c tests/unit/routing_cases.h tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_enumeration
tests_unit_test_enumeration_SOURCES = tests/unit/test_enumeration.c tests/unit/add_traffic.h tests/unit/routing_cases.h tests/unit/brute.c tests/unit/brute.h tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_collective_links
tests_unit_test_collective_links_SOURCES = tests/unit/test_collective_links.c tests/unit/add_traffic.h tests/unit/number.h

unit_tests += tests/unit/test_binding
tests_unit_test_binding_SOURCES = tests/unit/test_binding.c tests/unit/least_cost.h \
	tests/unit/topology_of.h

unit_tests += tests/unit/test_placement
tests_unit_test_placement_SOURCES = tests/unit/test_placement.c tests/unit/network_text.h

unit_tests += tests/unit/test_decide
tests_unit_test_decide_SOURCES = tests/unit/test_decide.c tests/unit/add_traffic.h tests/unit/decide_setting.h

unit_tests += tests/unit/test_decide_objectives
tests_unit_test_decide_objectives_SOURCES = tests/unit/test_decide_objectives.c tests/unit/decide_setting.h

unit_tests += tests/unit/test_segments
tests_unit_test_segments_SOURCES = tests/unit/test_segments.c

unit_tests += tests/unit/test_bounds_wish
tests_unit_test_bounds_wish_SOURCES = tests/unit/test_bounds_wish.c tests/unit/network_text.h

unit_tests += tests/unit/test_bounds
tests_unit_test_bounds_SOURCES = tests/unit/test_bounds.c tests/unit/network_text.h

unit_tests += tests/unit/test_decide_units
tests_unit_test_decide_units_SOURCES = tests/unit/test_decide_units.c tests/unit/decide_setting.h

unit_tests += tests/unit/test_decide_ties
tests_unit_test_decide_ties_SOURCES = tests/unit/test_decide_ties.c

unit_tests += tests/unit/test_decide_order
tests_unit_test_decide_order_SOURCES = tests/unit/test_decide_order.c

unit_tests += tests/unit/test_ptram
tests_unit_test_ptram_SOURCES = tests/unit/test_ptram.c tests/unit/mapping_jobs.h tests/unit/mapping_inputs.h tests/unit/network_text.h

unit_tests += tests/unit/test_mappers
tests_unit_test_mappers_SOURCES = tests/unit/test_mappers.c tests/unit/mapping_jobs.h tests/unit/mapping_inputs.h tests/unit/network_text.h

unit_tests += tests/unit/test_sharunov
tests_unit_test_sharunov_SOURCES = tests/unit/test_sharunov.c tests/unit/mapping_jobs.h tests/unit/mapping_inputs.h tests/unit/network_text.h

unit_tests += tests/unit/test_mapping
tests_unit_test_mapping_SOURCES = tests/unit/test_mapping.c tests/unit/mapping_jobs.h tests/unit/add_traffic.h tests/unit/mapping_inputs.h tests/unit/network_text.h tests/unit/number.h

unit_tests += tests/unit/test_mapping_properties
tests_unit_test_mapping_properties_SOURCES = tests/unit/test_mapping_properties.c tests/unit/mapping_jobs.h tests/unit/mapping_inputs.h tests/unit/network_text.h
tests_unit_test_mapping_properties_LDADD = $(unit_ldadd)
if HAVE_SCOTCH
tests_unit_test_mapping_properties_SOURCES += src/core/mapping/scotch.c
tests_unit_test_mapping_properties_LDADD += $(SCOTCH_LIBS)
endif

unit_tests += tests/unit/test_mapping_memory
tests_unit_test_mapping_memory_SOURCES = tests/unit/test_mapping_memory.c tests/unit/mapping_jobs.h tests/unit/mapping_inputs.h tests/unit/failing_alloc.h tests/unit/network_text.h
tests_unit_test_mapping_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_groups
tests_unit_test_groups_SOURCES = tests/unit/test_groups.c tests/unit/mapping_jobs.h tests/unit/mapping_inputs.h tests/unit/network_text.h

unit_tests += tests/unit/test_domains
tests_unit_test_domains_SOURCES = tests/unit/test_domains.c \
	tests/bench/domains_bound.c tests/bench/domains_bound.h \
	tests/unit/failing_alloc.h tests/unit/network_text.h tests/unit/number.h
tests_unit_test_domains_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_tile
tests_unit_test_tile_SOURCES = tests/unit/test_tile.c tests/unit/mapping_jobs.h tests/unit/mapping_inputs.h tests/unit/network_text.h

unit_tests += tests/unit/test_partition
tests_unit_test_partition_SOURCES = tests/unit/test_partition.c tests/unit/mapping_inputs.h tests/unit/network_text.h

unit_tests += tests/unit/test_best
tests_unit_test_best_SOURCES = tests/unit/test_best.c tests/unit/mapping_jobs.h tests/unit/add_traffic.h tests/unit/mapping_inputs.h tests/unit/network_text.h

unit_tests += tests/unit/test_bundles
tests_unit_test_bundles_SOURCES = tests/unit/test_bundles.c

unit_tests += tests/unit/test_best_search
tests_unit_test_best_search_SOURCES = tests/unit/test_best_search.c

unit_tests += tests/unit/test_best_starts
tests_unit_test_best_starts_SOURCES = tests/unit/test_best_starts.c

unit_tests += tests/unit/test_joint
tests_unit_test_joint_SOURCES = tests/unit/test_joint.c tests/unit/joint_jobs.h

unit_tests += tests/unit/test_decide_memory
tests_unit_test_decide_memory_SOURCES = tests/unit/test_decide_memory.c tests/unit/failing_alloc.h
tests_unit_test_decide_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_record_table
tests_unit_test_record_table_SOURCES = tests/unit/test_record_table.c src/record/table.c src/record/table.h
tests_unit_test_record_table_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src

unit_tests += tests/unit/test_record_collectives
tests_unit_test_record_collectives_SOURCES = tests/unit/test_record_collectives.c src/record/collectives.c src/record/collectives.h
tests_unit_test_record_collectives_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src

# The recorder's own kinds, loops and files.
played_run = tests/unit/played_run.h \
	src/record/events.c src/record/events.h src/record/fold.c src/record/fold.h \
	src/record/kinds.c src/record/kinds.h src/record/section.c \
	src/record/section.h src/record/table.c src/record/table.h

unit_tests += tests/unit/test_phases
tests_unit_test_phases_SOURCES = tests/unit/test_phases.c $(played_run)
tests_unit_test_phases_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src

unit_tests += tests/unit/test_phase_steps
tests_unit_test_phase_steps_SOURCES = tests/unit/test_phase_steps.c $(played_run)
tests_unit_test_phase_steps_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src

unit_tests += tests/unit/test_nccl_join
tests_unit_test_nccl_join_SOURCES = tests/unit/test_nccl_join.c $(nccl_pure)
tests_unit_test_nccl_join_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src

unit_tests += tests/unit/test_record_writer
tests_unit_test_record_writer_SOURCES = tests/unit/test_record_writer.c src/record/writer.c src/record/writer.h
tests_unit_test_record_writer_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src

unit_tests += tests/unit/test_engine
tests_unit_test_engine_SOURCES = tests/unit/test_engine.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

unit_tests += tests/unit/test_engine_ranks
tests_unit_test_engine_ranks_SOURCES = tests/unit/test_engine_ranks.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h
unit_tests += tests/unit/test_engine_reach
tests_unit_test_engine_reach_SOURCES = tests/unit/test_engine_reach.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h
unit_tests += tests/unit/test_engine_private tests/unit/test_store_rights
tests_unit_test_engine_private_SOURCES = tests/unit/test_engine_private.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h
tests_unit_test_store_rights_SOURCES = tests/unit/test_store_rights.c tests/unit/in_dir.h
unit_tests += tests/unit/test_engine_hosts
tests_unit_test_engine_hosts_SOURCES = tests/unit/test_engine_hosts.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

unit_tests += tests/unit/test_engine_segments
tests_unit_test_engine_segments_SOURCES = tests/unit/test_engine_segments.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

unit_tests += tests/unit/test_engine_former
tests_unit_test_engine_former_SOURCES = tests/unit/test_engine_former.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

unit_tests += tests/unit/test_repair
tests_unit_test_repair_SOURCES = tests/unit/test_repair.c tests/unit/decide_setting.h

unit_tests += tests/unit/test_engine_steps
tests_unit_test_engine_steps_SOURCES = tests/unit/test_engine_steps.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

unit_tests += tests/unit/test_engine_restore
tests_unit_test_engine_restore_SOURCES = tests/unit/test_engine_restore.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h
tests_unit_test_engine_restore_LDFLAGS = -Wl,--wrap=engine_live_order

unit_tests += tests/unit/test_trial
tests_unit_test_trial_SOURCES = tests/unit/test_trial.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

unit_tests += tests/unit/test_engine_site
tests_unit_test_engine_site_SOURCES = tests/unit/test_engine_site.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

# The clock is the test's.
unit_tests += tests/unit/test_engine_clock
tests_unit_test_engine_clock_SOURCES = tests/unit/test_engine_clock.c tests/unit/engine_fixture.h tests/unit/fake_scheduler.h tests/unit/in_dir.h
tests_unit_test_engine_clock_LDFLAGS = -Wl,--wrap=cpl_now

unit_tests += tests/unit/test_engine_memo
tests_unit_test_engine_memo_SOURCES = tests/unit/test_engine_memo.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

unit_tests += tests/unit/test_engine_memory
tests_unit_test_engine_memory_SOURCES = tests/unit/test_engine_memory.c tests/unit/failing_alloc.h tests/unit/fake_scheduler.h
tests_unit_test_engine_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_plot
tests_unit_test_plot_SOURCES = tests/unit/test_plot.c $(plot_sources) src/cmd/util.c
tests_unit_test_plot_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src

unit_tests += tests/unit/test_options
tests_unit_test_options_SOURCES = tests/unit/test_options.c src/cmd/options.c
tests_unit_test_options_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/cmd

unit_tests += tests/unit/test_signature_rights
tests_unit_test_signature_rights_SOURCES = tests/unit/test_signature_rights.c src/cmd/signature_rights.c
tests_unit_test_signature_rights_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/cmd
tests_unit_test_signature_rights_LDFLAGS = -Wl,--wrap=geteuid,--wrap=lstat,--wrap=stat,--wrap=cpl_user_begin

unit_tests += tests/unit/test_slurm_search
tests_unit_test_slurm_search_SOURCES = tests/unit/test_slurm_search.c src/cmd/slurm_search.c src/cmd/slurm_shell.c
tests_unit_test_slurm_search_CPPFLAGS = $(commplace_CPPFLAGS)

unit_tests += tests/unit/test_dragonfly_kinds
tests_unit_test_dragonfly_kinds_SOURCES = tests/unit/test_dragonfly_kinds.c tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_dragonfly_plus
tests_unit_test_dragonfly_plus_SOURCES = tests/unit/test_dragonfly_plus.c tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_export
tests_unit_test_export_SOURCES = tests/unit/test_export.c tests/unit/entries.h tests/unit/number.h
unit_tests += tests/unit/test_import_tools
tests_unit_test_import_tools_SOURCES = tests/unit/test_import_tools.c tests/unit/entries.h tests/unit/number.h
unit_tests += tests/unit/test_measure
tests_unit_test_measure_SOURCES = tests/unit/test_measure.c tests/unit/number.h
if HAVE_OTF2
unit_tests += tests/unit/test_otf2
tests_unit_test_otf2_SOURCES = tests/unit/test_otf2.c tests/unit/otf2_sample.c tests/unit/otf2_sample.h $(otf2_archive) $(otf2_calls) tests/unit/number.h
tests_unit_test_otf2_CPPFLAGS = $(tests_unit_test_otf2_calls_CPPFLAGS)
src/cmd/tests_unit_test_otf2-otf2_rank.$(OBJEXT): src/record/calls.inc
tests_unit_test_otf2_CFLAGS = $(AM_CFLAGS) $(OTF2_CFLAGS)
tests_unit_test_otf2_LDADD = $(unit_ldadd) $(OTF2_LIBS)

unit_tests += tests/unit/test_otf2_calls
tests_unit_test_otf2_calls_SOURCES = tests/unit/test_otf2_calls.c tests/unit/otf2_sample.c tests/unit/otf2_sample.h $(otf2_archive) $(otf2_calls) tests/unit/number.h
tests_unit_test_otf2_calls_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src -I$(top_srcdir)/src/cmd
tests_unit_test_otf2_calls_CFLAGS = $(AM_CFLAGS) $(OTF2_CFLAGS)
tests_unit_test_otf2_calls_LDADD = $(unit_ldadd) $(OTF2_LIBS)
src/cmd/tests_unit_test_otf2_calls-otf2_rank.$(OBJEXT): src/record/calls.inc
endif

unit_tests += tests/unit/test_fattree
tests_unit_test_fattree_SOURCES = tests/unit/test_fattree.c tests/unit/flow.h tests/unit/number.h tests/unit/network_text.h
tests_unit_test_fattree_CPPFLAGS = $(AM_CPPFLAGS) -DNETWORKS='"$(abs_top_srcdir)/etc/networks"'

unit_tests += tests/unit/test_graph
tests_unit_test_graph_SOURCES = tests/unit/test_graph.c tests/unit/flow.h tests/unit/number.h tests/unit/network_text.h
tests_unit_test_graph_CPPFLAGS = $(AM_CPPFLAGS) -DNETWORKS='"$(abs_top_srcdir)/etc/networks"'

unit_tests += tests/unit/test_haec
tests_unit_test_haec_SOURCES = tests/unit/test_haec.c tests/unit/add_traffic.h tests/unit/flow.h tests/unit/number.h tests/unit/network_text.h
tests_unit_test_haec_CPPFLAGS = $(AM_CPPFLAGS) -DNETWORKS='"$(abs_top_srcdir)/etc/networks"'

unit_tests += tests/unit/test_ib_plus
tests_unit_test_ib_plus_SOURCES = tests/unit/test_ib_plus.c tests/unit/routing_cases.h tests/unit/add_traffic.h tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_import_network
tests_unit_test_import_network_SOURCES = tests/unit/test_import_network.c tests/unit/flow.h tests/unit/number.h tests/unit/network_text.h
tests_unit_test_import_network_CPPFLAGS = $(AM_CPPFLAGS) -DSAMPLES='"$(abs_top_srcdir)/tests/golden/import"'

unit_tests += tests/unit/test_parallel
tests_unit_test_parallel_SOURCES = tests/unit/test_parallel.c
tests_unit_test_parallel_LDFLAGS = -Wl,--wrap=pthread_create

unit_tests += tests/unit/test_harm
tests_unit_test_harm_SOURCES = tests/unit/test_harm.c tests/unit/failing_alloc.h
tests_unit_test_harm_LDFLAGS = $(failing_alloc)
unit_tests += tests/unit/test_moves
tests_unit_test_moves_SOURCES = tests/unit/test_moves.c tests/unit/add_traffic.h tests/unit/flow.h tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_sampled
tests_unit_test_sampled_SOURCES = tests/unit/test_sampled.c tests/unit/flow.h tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_stream
tests_unit_test_stream_SOURCES = tests/unit/test_stream.c tests/unit/add_traffic.h

unit_tests += tests/unit/test_stream_many
tests_unit_test_stream_many_SOURCES = tests/unit/test_stream_many.c tests/unit/add_traffic.h tests/unit/routing_cases.h tests/unit/brute.c tests/unit/brute.h tests/unit/number.h tests/unit/network_text.h

unit_tests += tests/unit/test_stream_memory
tests_unit_test_stream_memory_SOURCES = tests/unit/test_stream_memory.c tests/unit/failing_alloc.h tests/unit/routing_cases.h tests/unit/network_text.h
tests_unit_test_stream_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_routing_properties
tests_unit_test_routing_properties_SOURCES = tests/unit/test_routing_properties.c tests/unit/add_traffic.h tests/unit/routing_cases.h tests/unit/number.h tests/unit/network_text.h

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

unit_tests += tests/unit/test_binders
tests_unit_test_binders_SOURCES = tests/unit/test_binders.c tests/unit/even_tree.h tests/unit/least_cost.h \
	tests/unit/topology_of.h
tests_unit_test_binders_CPPFLAGS = $(AM_CPPFLAGS) -DTOPOLOGIES='"$(abs_top_srcdir)/etc/topologies"'

unit_tests += tests/unit/test_gpus
tests_unit_test_gpus_SOURCES = tests/unit/test_gpus.c tests/unit/topology_of.h
tests_unit_test_gpus_CPPFLAGS = $(AM_CPPFLAGS) \
	-DNODES='"$(abs_top_srcdir)/tests/nodes"' \
	-DNODE_XML='"$(abs_top_srcdir)/tests/tools/node-xml.awk"'

unit_tests += tests/unit/test_bind_uneven
tests_unit_test_bind_uneven_SOURCES = tests/unit/test_bind_uneven.c \
	tests/unit/least_cost.h tests/unit/topology_of.h

unit_tests += tests/unit/test_binding_memory
tests_unit_test_binding_memory_SOURCES = tests/unit/test_binding_memory.c tests/unit/failing_alloc.h
tests_unit_test_binding_memory_CPPFLAGS = $(AM_CPPFLAGS) \
	-DGPU_NODE='"$(abs_top_srcdir)/etc/topologies/gpu-node.xml"'
tests_unit_test_binding_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_store
tests_unit_test_store_SOURCES = tests/unit/test_store.c tests/unit/store_fixture.h tests/unit/in_dir.h

unit_tests += tests/unit/test_worker
tests_unit_test_worker_SOURCES = tests/unit/test_worker.c

unit_tests += tests/unit/test_store_homes
tests_unit_test_store_homes_SOURCES = tests/unit/test_store_homes.c tests/unit/store_fixture.h tests/unit/in_dir.h

unit_tests += tests/unit/test_library
tests_unit_test_library_SOURCES = tests/unit/test_library.c
tests_unit_test_library_CPPFLAGS = -I$(top_srcdir)/include
tests_unit_test_library_LDADD = libcommplace.la $(CMOCKA_LIBS)

unit_tests += tests/unit/test_background
tests_unit_test_background_SOURCES = tests/unit/test_background.c

unit_tests += tests/unit/test_size
tests_unit_test_size_SOURCES = tests/unit/test_size.c

unit_tests += tests/unit/test_record_dir
tests_unit_test_record_dir_SOURCES = tests/unit/test_record_dir.c tests/unit/in_dir.h

unit_tests += tests/unit/test_times
tests_unit_test_times_SOURCES = tests/unit/test_times.c tests/unit/stages.h tests/unit/failing_alloc.h tests/unit/number.h tests/unit/network_text.h
tests_unit_test_times_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_accelerators
tests_unit_test_accelerators_SOURCES = tests/unit/test_accelerators.c tests/unit/number.h tests/unit/network_text.h
unit_tests += tests/unit/test_ports
tests_unit_test_ports_SOURCES = tests/unit/test_ports.c tests/unit/number.h tests/unit/network_text.h tests/unit/routing_cases.h tests/unit/add_traffic.h
unit_tests += tests/unit/test_simulate
tests_unit_test_simulate_SOURCES = tests/unit/test_simulate.c tests/unit/simulate_cases.h tests/unit/network_text.h

unit_tests += tests/unit/test_times_rounds
tests_unit_test_times_rounds_SOURCES = tests/unit/test_times_rounds.c tests/unit/stages.h tests/unit/number.h tests/unit/network_text.h
unit_tests += tests/unit/test_backlog
tests_unit_test_backlog_SOURCES = tests/unit/test_backlog.c tests/unit/number.h tests/unit/network_text.h tests/unit/routing_cases.h tests/unit/add_traffic.h
unit_tests += tests/unit/test_progressive
tests_unit_test_progressive_SOURCES = tests/unit/test_progressive.c tests/unit/brute.c tests/unit/brute.h tests/unit/number.h tests/unit/network_text.h tests/unit/routing_cases.h tests/unit/add_traffic.h
unit_tests += tests/unit/test_simulate_packet
tests_unit_test_simulate_packet_SOURCES = tests/unit/test_simulate_packet.c tests/unit/simulate_cases.h tests/unit/network_text.h

unit_tests += tests/unit/test_learn
tests_unit_test_learn_SOURCES = tests/unit/test_learn.c tests/unit/network_text.h

unit_tests += tests/unit/test_simulate_trace
tests_unit_test_simulate_trace_SOURCES = tests/unit/test_simulate_trace.c tests/unit/simulate_cases.h tests/unit/network_text.h tests/unit/trace_text.h

unit_tests += tests/unit/test_simulate_memory
tests_unit_test_simulate_memory_SOURCES = tests/unit/test_simulate_memory.c tests/unit/simulate_cases.h tests/unit/network_text.h tests/unit/trace_text.h tests/unit/failing_alloc.h
tests_unit_test_simulate_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_rank_boxes
tests_unit_test_rank_boxes_SOURCES = tests/unit/test_rank_boxes.c

unit_tests += tests/unit/test_door
check_PROGRAMS += tests/tools/odd_commplaced
tests_tools_odd_commplaced_SOURCES = tests/tools/odd_commplaced.c
tests_tools_odd_commplaced_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src
tests_tools_odd_commplaced_LDADD = libdoor.la libnode.la libbase.la
tests_unit_test_door_SOURCES = tests/unit/test_door.c
tests_unit_test_door_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/src -DCPL_TEST_ODD='"$(abs_top_builddir)/tests/tools/odd_commplaced"' -DCPL_TEST_COMMPLACED='"$(abs_top_builddir)/commplaced"'
tests_unit_test_door_LDADD = libdoor.la libnode.la libbase.la $(CMOCKA_LIBS)

unit_tests += tests/unit/test_tree
tests_unit_test_tree_SOURCES = tests/unit/test_tree.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h src/commplaced/tree.h src/commplaced/tree.c
tests_unit_test_tree_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src -DCPL_TEST_COMMAND='"$(abs_top_builddir)/commplace"'

unit_tests += tests/unit/test_aicb
tests_unit_test_aicb_SOURCES = tests/unit/test_aicb.c

unit_tests += tests/unit/test_llm
tests_unit_test_llm_SOURCES = tests/unit/test_llm.c

unit_tests += tests/unit/test_flags
tests_unit_test_flags_SOURCES = tests/unit/test_flags.c

unit_tests += tests/unit/test_training_memory
tests_unit_test_training_memory_SOURCES = tests/unit/test_training_memory.c tests/unit/failing_alloc.h
tests_unit_test_training_memory_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_interleave
tests_unit_test_interleave_SOURCES = tests/unit/test_interleave.c

unit_tests += tests/unit/test_measured
tests_unit_test_measured_SOURCES = tests/unit/test_measured.c tests/unit/network_text.h tests/unit/number.h

unit_tests += tests/unit/test_cabling
tests_unit_test_cabling_SOURCES = tests/unit/test_cabling.c tests/unit/failing_alloc.h tests/unit/network_text.h tests/unit/number.h
tests_unit_test_cabling_LDFLAGS = $(failing_alloc)

unit_tests += tests/unit/test_unknown
tests_unit_test_unknown_SOURCES = tests/unit/test_unknown.c tests/unit/network_text.h tests/unit/number.h

unit_tests += tests/unit/test_unknown_site
tests_unit_test_unknown_site_SOURCES = tests/unit/test_unknown_site.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h

unit_tests += tests/unit/test_measured_site
tests_unit_test_measured_site_SOURCES = tests/unit/test_measured_site.c tests/unit/engine_fixture.h tests/unit/in_dir.h tests/unit/fake_scheduler.h
