core_sources += src/core/signature/comm.h src/core/signature/signature.h 
core_sources += src/core/signature/signature_internal.h src/core/signature/comm.c src/core/signature/scan.c src/core/signature/signature.c src/core/signature/side_file.c src/core/signature/write.c src/core/signature/profile.c src/core/signature/pattern.c
