# The MPI recorder: libcommplace-record.so, built with $(MPICC).
