# samples
networksdir = $(pkgdatadir)/networks
dist_networks_DATA = etc/networks/cascade-960.json etc/networks/edison.json etc/networks/quickstart.json etc/networks/torus-4x4x4.json etc/networks/vulcan-512.json
