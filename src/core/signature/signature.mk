core_sources += src/core/signature/comm.h src/core/signature/signature.h 
core_sources += src/core/signature/signature_internal.h src/core/signature/comm.c src/core/signature/scan.c src/core/signature/signature.c src/core/signature/side_file.c src/core/signature/write.c src/core/signature/profile.c
core_sources += src/core/signature/pattern/pattern.h src/core/signature/pattern/pattern.c src/core/signature/pattern/stencil.c src/core/signature/pattern/many_to_many.c src/core/signature/pattern/random_partners.c src/core/signature/pattern/permutation.c src/core/signature/pattern/npb.h src/core/signature/pattern/npb.c src/core/signature/pattern/npb_lu.c src/core/signature/pattern/npb_bt.c src/core/signature/pattern/collective.c src/core/signature/pattern/two_tier.c
core_sources += src/core/signature/import/import.h src/core/signature/import/import_internal.h src/core/signature/import/import.c src/core/signature/import/coo.c src/core/signature/import/mtx.c src/core/signature/import/treematch.c
core_sources += src/core/signature/rows.c src/core/signature/rows.h
core_sources += src/core/signature/excerpt.c src/core/signature/excerpt.h
