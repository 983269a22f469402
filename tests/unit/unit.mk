# One cmocka program per concern. TAP on stdout: run with
# CMOCKA_MESSAGE_OUTPUT=TAP.
unit_cflags = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
unit_ldadd = libcore.la $(CMOCKA_LIBS)
unit_tests =

unit_tests += tests/unit/test_base
tests_unit_test_base_SOURCES = tests/unit/test_base.c
tests_unit_test_base_CFLAGS = $(unit_cflags)
tests_unit_test_base_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_hostlist
tests_unit_test_hostlist_SOURCES = tests/unit/test_hostlist.c
tests_unit_test_hostlist_CFLAGS = $(unit_cflags)
tests_unit_test_hostlist_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_binding
tests_unit_test_binding_SOURCES = tests/unit/test_binding.c
tests_unit_test_binding_CFLAGS = $(unit_cflags)
tests_unit_test_binding_LDADD = $(unit_ldadd) $(HWLOC_LIBS)

unit_tests += tests/unit/test_placement
tests_unit_test_placement_SOURCES = tests/unit/test_placement.c
tests_unit_test_placement_CFLAGS = $(unit_cflags)
tests_unit_test_placement_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_decide
tests_unit_test_decide_SOURCES = tests/unit/test_decide.c
tests_unit_test_decide_CFLAGS = $(unit_cflags)
tests_unit_test_decide_LDADD = $(unit_ldadd)

unit_tests += tests/unit/test_mapping
tests_unit_test_mapping_SOURCES = tests/unit/test_mapping.c
tests_unit_test_mapping_CFLAGS = $(unit_cflags)
tests_unit_test_mapping_LDADD = $(unit_ldadd)

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
