# fragment of tests/plugin

# A program that stands in for Slurm's commands and loads the SPANK plugin.
if HAVE_SLURM
if HAVE_CMOCKA
check_PROGRAMS += tests/plugin/test_spank_options
TESTS += tests/plugin/test_spank_options
endif
endif
tests_plugin_test_spank_options_SOURCES = tests/plugin/test_spank_options.c
tests_plugin_test_spank_options_CPPFLAGS = $(AM_CPPFLAGS) -DCPL_TEST_BUILDDIR='"$(abs_top_builddir)"'
tests_plugin_test_spank_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_plugin_test_spank_options_LDFLAGS = -rdynamic
tests_plugin_test_spank_options_LDADD = $(CMOCKA_LIBS) -ldl
