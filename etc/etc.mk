# samples
networksdir = $(pkgdatadir)/networks
dist_networks_DATA = etc/networks/cascade-960.json etc/networks/dgx-h100-4.json etc/networks/dgx-h100-16.json etc/networks/dragonfly-plus-22.json etc/networks/edison.json etc/networks/fattree-18.json etc/networks/gpc.json etc/networks/gpc-nodes.json etc/networks/haec-box.json etc/networks/hpn-15.json etc/networks/nvl72-8.json etc/networks/quickstart.json etc/networks/slingshot-16.json etc/networks/slingshot-74.json etc/networks/torus-4x4x4.json etc/networks/vulcan-512.json
signaturesdir = $(pkgdatadir)/signatures
dist_signatures_DATA = etc/signatures/alltoall-16.json etc/signatures/damselfly-4d-stencil.json etc/signatures/damselfly-many-to-many.json etc/signatures/damselfly-spread.json etc/signatures/damselfly-umesh.json etc/signatures/halo-16.json etc/signatures/milc-4d-256.json etc/signatures/umesh-512.json
samplesdir = $(pkgdatadir)
samples_DATA = etc/commplace.conf
etc/commplace.conf: $(read_keys) etc/commplace.conf.in
	$(make_keys) what=sample src/core/site/config_keys.txt $@.in >$(abs_builddir)/$@.new
	$(AM_V_at)mv $@.new $@
CLEANFILES += $(samples_DATA)
EXTRA_DIST += etc/commplace.conf.in
topologiesdir = $(pkgdatadir)/topologies
dist_topologies_DATA = etc/topologies/a64fx.txt etc/topologies/genoa-2x96.txt etc/topologies/gpu-node.xml etc/topologies/xeon-2x56-snc4.txt
# JSON Schemas, for editors and for those who write such files.
schemadir = $(pkgdatadir)/schema
dist_schema_DATA = etc/schema/machine-1.json etc/schema/model-1.json etc/schema/network-1.json etc/schema/signature-1.json etc/schema/state-1.json
schema_DATA = etc/schema/record-1.json
etc/schema/record-1.json: etc/schema/record.awk src/core/site/record.c
	$(AM_V_GEN)$(MKDIR_P) etc/schema && $(AWK) -f $(srcdir)/etc/schema/record.awk $(srcdir)/src/core/site/record.c >$@.new
	$(AM_V_at)mv $@.new $@
CLEANFILES += $(schema_DATA)
EXTRA_DIST += etc/schema/record.awk
