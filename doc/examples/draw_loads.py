#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What two placements of a job put on the links, busiest first.

    draw_loads.py NETWORK SIGNATURE NODES [POLICY...]

draws loads.svg where there is matplotlib, and bars of text elsewhere.
"""
import sys

import commplace

network, signature, nodes, *policies = sys.argv[1:]
net, sig = commplace.Network.load(network), commplace.Signature.load(signature)
curves = {}
for policy in policies or ["linear", "traffic"]:
    placed = net.place(sig, int(nodes), policy)
    with net.traffic() as traffic:
        traffic.add(sig, placed.nodes)
        curves[policy] = sorted(traffic.link_bytes, reverse=True)
        print("%-10s %.3g s on the busiest link, %d links in use" % (
            policy, traffic.max_congestion, traffic.numbers().used))
try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:
    most = max(curve[0] for curve in curves.values()) or 1
    for policy, curve in curves.items():
        print("\n" + policy)
        for rank in 0, 1, 3, 9, 31, 99, 315, 999:
            if rank < len(curve):
                print("%5d. %-50s %.3g bytes" % (
                    rank + 1, "#" * round(50 * curve[rank] / most), curve[rank]))
else:
    for policy, curve in curves.items():
        pyplot.plot(range(1, len(curve) + 1), curve, label=policy)
    pyplot.xscale("log")
    pyplot.xlabel("link, busiest first")
    pyplot.ylabel("bytes")
    pyplot.legend()
    pyplot.savefig("loads.svg")
    print("loads.svg")
