# SPDX-License-Identifier: GPL-2.0-or-later
# The package gives the numbers of the command to the digit, refuses in the library's
# words, frees once, and is used by many threads.
import ctypes, json, os, shutil, subprocess, sys, tempfile, threading, time, zipfile

top = os.environ["COMMPLACE_SOURCE"]
command = os.environ.get("COMMPLACE", "commplace")
begin = time.perf_counter()
import commplace
taken = time.perf_counter() - begin
print("# import: %.1f ms" % (taken * 1000))

done = failed = 0


def ok(good, name, *why):
    global done, failed
    done += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", done, name))
    for line in why if not good else ():
        print("# " + str(line)[:2000].replace("\n", "\n# "), file=sys.stderr)


def same(got, want, name):
    ok(got == want, name, "got  %r" % (got,), "want %r" % (want,))


def run(*arguments):
    return subprocess.run([command, *arguments], stdout=subprocess.PIPE,
                          check=True, encoding="utf-8").stdout


def asked(*arguments):
    return json.loads(run(*arguments, "--json"))


def refused(kind, words, function, *arguments, **named):
    """How a call fails."""
    try:
        function(*arguments, **named)
    except Exception as why:
        ok(type(why) is kind and words in str(why), "refused: " + words, repr(why))
    else:
        ok(False, "refused: " + words)


work = tempfile.TemporaryDirectory()
os.chdir(work.name)
edison, milc = top + "/etc/networks/edison.json", top + "/etc/signatures/milc-4d-256.json"
small, halo = top + "/etc/networks/quickstart.json", top + "/etc/signatures/halo-16.json"
brought = subprocess.run(
    [sys.executable, "-c", "import sys, commplace; print(*sys.modules)"],
    stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout.split()
same([name for name in ("numpy", "pandas", "scipy", "json", "inspect")
      if name in brought], [], "import brings no module that it may not need")
# Of the processor, the least of a few, since the machine may have more to do.
took = min(float(subprocess.run(
    [sys.executable, "-c", "import time; t = time.process_time(); import commplace; "
     "print(time.process_time() - t)"], stdout=subprocess.PIPE, encoding="utf-8",
    check=True).stdout) for _ in range(7))
ok(took < 0.05, "import takes less than 50 ms: %.0f" % (took * 1000))
if shutil.which("mypy"):
    told = subprocess.run(
        ["mypy", "--strict", "--cache-dir", os.devnull, top + "/python/commplace"],
        stdout=subprocess.PIPE, encoding="utf-8").stdout
    ok("Success" in told, "mypy --strict finds nothing", told)
else:
    print("# no mypy: annotations are not checked")
same(commplace.version(), run("--version").split()[1], "version")

ok('\nversion = "%s"\n' % commplace.version() in open(top + "/python/pyproject.toml").read(),
   "that of the package is the same")

# Five examples of the guides.
net, sig = commplace.Network.load(edison), commplace.Signature.load(milc)


def numbers_of(traffic):
    return {name: traffic.numbers(kind)._asdict() for name, kind in (
        ("all", traffic.ALL), ("row", "row"), ("column", "column"),
        ("global", "global"))}


table = asked("compare", "--network", edison, "--signature", milc, "--ranks-per-node",
              "4", "--placements", "LIN,RDN,RDR,RDG,traffic", "--routings", "SD,PA")
ok(len(table["rows"]) == 10, "ten rows are compared")
for row in table["rows"]:
    name = "compare: %s, %s: " % (row["placement"], row["routing"])
    placed = net.place(sig, 64, row["placement"], ranks_per_node=4,
                       routing=row["routing"])
    with net.traffic() as traffic:
        traffic.add(sig, placed.nodes, 4, routing=row["routing"])
        same(numbers_of(traffic), row["links"], name + "links")
        same([traffic.numbers(traffic.INJECTION)._asdict(), traffic.max_congestion,
              traffic.mean_congestion, traffic.hop_bytes()],
             [row["injection"]] + [row[key] for key in (
                 "max_congestion", "mean_congestion", "hop_bytes")], name + "figures")

how = asked("place", "--network", edison, "--signature", milc, "--nodes", "64",
            "--policy", "traffic", "--node-file", "hosts")


def candidates_of(answer):
    return [(one["policy"], one["seed"], one["max_congestion"], one["mean_congestion"],
             one["hop_bytes"], one["mapped"]["max_congestion"] if "mapped" in one
             else None, one["evaluated"], one["chosen"]) for one in answer["candidates"]]


placed = net.place(sig, 64, "traffic", rank_mapping="quick")
same(placed.hosts, how["hosts"], "place: hosts")
same(placed.policy, how["policy"], "place: policy")
same([tuple(one) for one in placed.candidates], candidates_of(how), "place: candidates")
if how["rank_to_host"]:
    same(net.hosts(placed.rank_nodes), how["rank_to_host"], "place: ranks")

how = asked("map", "--network", edison, "--signature", milc, "--hosts-file", "hosts",
            "--algorithm", "quick")
mapped = net.map(sig, open("hosts").read().split())
same(mapped.rank_hosts, how["rank_to_host"], "map: ranks")
same([mapped.max_before, mapped.max_after, mapped.hop_bytes_before,
      mapped.hop_bytes_after, mapped.is_default],
     [how["metrics"][at][of] for of in ("max_congestion", "hop_bytes")
      for at in ("before", "after")] + [how["kept_default"]], "map: figures")

llm = """{ "format": "commplace-signature", "version": 1, "name": "llm-16", "ranks": 16,
  "phases": [ { "name": "step", "weight": 1000, "pattern": { "type": "llm",
    "tp": 4, "dp": 2, "pp": 2, "layers": 24, "hidden": 2048, "sequence": 2048,
    "micro_batches": 8, "vocabulary": 51200 } } ] }"""
ok(llm in open(top + "/doc/users-guide.md").read(), "the guide has that signature")
with open("llm-16.json", "w") as file:
    file.write(llm)
quick, trained = commplace.Network(small), commplace.Signature.parse(llm, "llm-16")
for algorithm in "groups", "network-order":
    how = asked("map", "--network", small, "--signature", "./llm-16.json", "--hosts",
                "n3,n9,n1,n12", "--algorithm", algorithm, "--raw",
                "--ranks-per-node", "4")
    mapped = quick.map(trained, "n3,n9,n1,n12", algorithm, raw=True)
    same(mapped.rank_hosts, how["rank_to_host"], "train: ranks by " + algorithm)
    same(mapped.max_after, how["metrics"]["after"]["max_congestion"],
         "train: congestion by " + algorithm)
same(mapped.rank_hosts[::4], ["n1", "n3", "n12", "n9"], "as the guide says")

halo_16 = commplace.Signature(halo)
ranks = ["n%d" % (16 + (5 * i) % 16) for i in range(16)]
state = {"jobs": [
    {"id": 9, "signature": halo, "hosts": ["n%d" % i for i in range(16, 32)],
     "ranks_per_node": 1, "rank_to_host": ranks},
    {"id": 5, "signature": halo, "hosts": ["n2", "n7", "n9", "n11"],
     "ranks_per_node": 4},
    {"id": 7, "hosts": ["n4"], "ranks_per_node": 1}]}
with open("now.json", "w") as file:
    json.dump(state, file)
with open("one.json", "w") as file:
    json.dump({"jobs": [job for job in state["jobs"] if job["id"] != 5]}, file)
for name, objective in (("one.json", "max-congestion"), ("one.json", "busiest"),
                        ("one.json", "interference"), ("now.json", "hop-bytes")):
    how = asked("place", "--network", small, "--signature", halo, "--nodes", "4",
                "--ranks-per-node", "4", "--policy", "auto", "--running", name,
                "--objective", objective)
    running = quick.running(name)
    placed = quick.place(halo_16, 4, "auto", running=running, rank_mapping="quick",
                         objective=objective)
    same(placed.hosts, how["hosts"], "running, %s, %s: hosts" % (name, objective))
    same([tuple(one) for one in placed.candidates], candidates_of(how),
         "running, %s, %s: candidates" % (name, objective))
same((running.ids, len(running.busy)), ([5, 7, 9], 21), "running jobs")

# Every link, and the example of the library.
hosts = "n[0-3,8-19]"
how = asked("traffic", "--network", small, "--signature", halo, "--hosts", hosts,
            "--links", "links.csv")
traffic = quick.traffic(threads=2)
traffic.add(halo_16, hosts)
rows = [line.strip().split(",") for line in open("links.csv")]
at = {key: i for i, key in enumerate(rows[0])}
table = quick.link_table()
columns = [list(table[key]) for key in ("from", "to", "class", "bandwidth")]
same([(quick.classes[kind], begin, end, width, sent) for begin, end, kind, width, sent
      in zip(*columns, traffic.link_bytes)],
     [(row[at["class"]], int(row[at["from"]]), int(row[at["to"]]),
       float(row[at["bandwidth"]]), float(row[at["bytes"]])) for row in rows[1:]],
     "each link's bytes and bandwidth")
same(traffic.max_congestion, how["max_congestion"], "the library's example: traffic")
how = asked("map", "--network", small, "--signature", halo, "--hosts", hosts,
            "--algorithm", "greedyallc")
mapped = quick.map(halo_16, hosts, "greedyallc")
same((mapped.max_after, mapped.rank_hosts),
     (how["metrics"]["after"]["max_congestion"], how["rank_to_host"]),
     "the library's example: map")
how = asked("bind", "--signature", halo, "--ranks", "0-7", "--topology",
            "pack:2 l3:2 core:4 pu:2", "--algorithm", "treematch")
same(commplace.Turn().wait(), 0.0, "without COMMPLACE_INTERLEAVE nobody waits")
waited = commplace.Turn("0.05:0.01").wait()
ok(0 <= waited < 0.05, "with turns less than a period", waited)
refused(commplace.Error, "is not PERIOD:OFFSET", commplace.Turn, "soon")
bound = commplace.bind(halo_16, range(8), "pack:2 l3:2 core:4 pu:2")
same((bound.cost, len(bound.cpus), bound.cost <= bound.cost_packed),
     (how["cost"], 8, True), "bind")
same(list(traffic.table()["count"])[-3], quick.links, "a table of numbers")
ok("auto" in quick.policies and "linear" in commplace.mapping_algorithms() and
   "treematch" in commplace.binding_algorithms() and quick.routings, "names")

# Matrices.
square = [[0, 3, 0], [0, 0, 0.5], [7, 0, 0]]
want = {(0, 1): 3, (1, 2): 0.5, (2, 0): 7}


def cells(signature):
    begin, to, sent, _ = signature.rows()
    return {(rank, int(to[i])): float(sent[i]) for rank in range(signature.ranks)
            for i in range(begin[rank], begin[rank + 1])}


made = commplace.Signature.from_matrix(square, name="made")
same(cells(made), want, "of rows of numbers")
made.save("made.json")
back = commplace.Signature("made.json")
same((back.name, back.ranks, back.phases, cells(back)),
     ("made", 3, [("all", 1.0)], want), "saved and read")
same(run("signature", "check", "made.json").split()[0] != "", True,
     "the command takes it, too")
twice = commplace.Signature.from_matrix(square, [[0, 2, 0], [0, 0, 4], [1, 0, 0]])
same((cells(twice), list(twice.rows()[3])), (want, [2, 4, 1]), "with messages")
same(cells(commplace.Signature.from_entries(3, [2, 0, 1, 0], [0, 1, 2, 1],
                                            [7, 1, 0.5, 2])), want, "of entries")


class Ranks:
    """As a communicator of mpi4py answers at root, and elsewhere."""
    def __init__(self, rank):
        self.rank = rank

    def gather(self, row, root):
        others = [{to: sent for to, sent in enumerate(one) if sent} for one in square]
        return others if self.rank == root and others[root] == row else None


same(cells(commplace.Signature.gather(Ranks(0), square[0])), want, "of mpi4py's ranks")
same(commplace.Signature.gather(Ranks(1), square[1]), None, "elsewhere nothing")
try:
    import numpy
except ImportError:
    print("# no numpy: without its arrays")
else:
    given = numpy.array(square)
    same(cells(commplace.Signature.from_matrix(given)), want, "of a numpy matrix")
    loads = traffic.link_bytes
    ok(isinstance(loads, numpy.ndarray) and not loads.flags.writeable and
       loads.ctypes.data == traffic.link_bytes.ctypes.data, "loads are not copied")
    spread = quick.traffic().add(halo_16, numpy.arange(16))
    same(spread, 0, "nodes as an array")
    refused(commplace.Error, "out of range", quick.traffic().add, halo_16,
            numpy.arange(16, dtype=numpy.int64) + (1 << 32))
    refused(TypeError, "integers", quick.traffic().add, halo_16, numpy.ones(16))
try:
    import scipy.sparse
except ImportError:
    print("# no scipy: without its matrices")
else:
    for form in "csr", "coo", "csc":
        sparse = getattr(scipy.sparse, form + "_matrix")(numpy.array(square))
        same(cells(commplace.Signature.from_matrix(sparse)), want, "of %s" % form)
    same((made.matrix() != scipy.sparse.csr_matrix(numpy.array(square))).nnz, 0,
         "back as csr")

# What the guide begins with writes the command's host file.
guide = open(top + "/doc/python.md").read().split("```")[1].replace('"etc/', '"%s/etc/' % top)
with open("ranks.py", "w") as file:
    file.write(guide)
said = subprocess.run([sys.executable, "ranks.py"], stdout=subprocess.PIPE,
                      encoding="utf-8").stdout
how = asked("traffic", "--network", edison, "--signature", milc, "--node-file", "ranks")
same(said.split()[0], repr(how["max_congestion"]), "the guide's traffic")
same(open("ranks").read(), run(
    "map", "--network", edison, "--signature", milc, "--hosts-file", "hosts",
    "--algorithm", "quick", "--format", "hostfile"), "the guide's host file")

# The script that draws, and the package as a wheel.
said = subprocess.run([sys.executable, top + "/doc/examples/draw_loads.py", small, halo,
                       "16"], stdout=subprocess.PIPE, encoding="utf-8").stdout
ok(said.startswith("linear ") and "\ntraffic " in said and
   (os.path.exists("loads.svg") or "1. #" in said), "the example draws", said)
build = "from setuptools import build_meta as b; b.build_sdist('..'); b.build_wheel('..')"
shutil.copytree(top + "/python", "built/package")
if subprocess.run([sys.executable, "-c", "import setuptools, wheel"],
                  stderr=subprocess.DEVNULL).returncode:
    print("# no setuptools with wheel: it is not built")
else:
    subprocess.run([sys.executable, "-c", build], cwd="built/package",
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    same(sorted(name.split("-")[-1] for name in os.listdir("built")),
         [commplace.version() + ".tar.gz", "any.whl", "package"], "sdist and wheel")
    wheel, = [name for name in os.listdir("built") if name.endswith(".whl")]
    listed = zipfile.ZipFile("built/" + wheel).namelist()
    same([name for name in listed if name.startswith("commplace/")],
         ["commplace/" + name for name in sorted(os.listdir(top + "/python/commplace"))
          if name != "__pycache__"], "the wheel has all")
    same(subprocess.run([sys.executable, "-c", "import commplace as c; print(c.__file__)"],
                        env=dict(os.environ, PYTHONPATH="built/" + wheel),
                        stdout=subprocess.PIPE, encoding="utf-8").stdout.count(".whl"), 1,
         "and is imported")

# Refusals.
Error = commplace.Error
refused(Error, "/no/such", commplace.Network, "/no/such")
refused(Error, "a text", commplace.Network.parse, "{", "a text")
refused(Error, "NUL", commplace.Network, "a\0b")
refused(TypeError, "", commplace.Network, 3.5)
refused(Error, "network quickstart has no host n99", quick.node, "n99")
refused(Error, "network quickstart has no host n99", quick.nodes_of, "n[1,99]")
refused(Error, "no node", quick.host, -1)
refused(Error, "out of range", quick.host, 1 << 31)
refused(Error, "out of range", quick.traffic, 1 << 32 | 1)
refused(Error, "threads: 0 is outside", quick.traffic, 0)
refused(Error, "out of range", quick.traffic().add, halo_16, [1 << 31])
refused(Error, "network quickstart has no node -1", quick.traffic().add, halo_16, [-1], 16)
refused(Error, "no nodes are given", quick.traffic().add, halo_16, [])
refused(TypeError, "either nodes", quick.traffic().add, halo_16)
refused(TypeError, "signature: a Signature is needed, not Network", quick.place,
        quick, 4)
refused(TypeError, "signature: a Signature", quick.map, None, [0])
refused(TypeError, "network: a Network", commplace.Traffic, 17)
refused(TypeError, "nodes", quick.traffic().add, halo_16, [0.5])
refused(Error, "16 ranks do not fit 8 nodes", quick.map, halo_16, "n[0-7]",
        ranks_per_node=1)
refused(Error, "given twice", quick.map, halo_16, [1] * 16)
refused(Error, "lineal", quick.map, halo_16, range(16), "lineal")
refused(Error, "speed", quick.place, halo_16, 4, objective="speed")
refused(TypeError, "objective: a text", quick.place, halo_16, 4, objective=1)
refused(Error, "nonsense", quick.place, halo_16, 4, "nonsense")
refused(Error, "seed: -1 is out of range", quick.place, halo_16, 4, seed=-1)
refused(Error, "out of range", quick.place, halo_16, 1 << 31)
refused(Error, "already evaluated", traffic.add, halo_16, range(16))
refused(Error, "no link class up", traffic.numbers, "up")
refused(Error, "no link class 99", traffic.numbers, 99)
refused(Error, "no job 1 of 1", traffic.hop_bytes, 1)
refused(Error, "16 ranks, rank_nodes 2", quick.traffic().add, halo_16, rank_nodes=[0, 1])
refused(Error, "of another network", quick.place, halo_16, 4, running=net.traffic())
refused(Error, "not as long", commplace.Signature.from_matrix, [[0, 1], [1]])
refused(Error, "entry 0: 0 sends -1", commplace.Signature.from_matrix, [[0, -1], [0, 0]])
refused(Error, "of them", commplace.Signature.from_entries, 2, [0], [1, 1], [1])
refused(Error, "ranks: 0", commplace.Signature.from_entries, 0, [], [], [])
refused(Error, "no matrix", made.rows, 1)
refused(TypeError, "a text", commplace.Network.parse, b"{}")
refused(Error, "has no 'jobs'", quick.running, halo)
refused(Error, "nowhere.json", quick.running, "nowhere.json")
for jobs, words in (
        ('[{"id": 3}]', "job 3: has no 'hosts'"), ("[3]", "bad.json"), ("{}", "bad.json"),
        ('[{"id": 3, "hosts": ["n99"]}]', "job 3: network quickstart has no host n99"),
        ('[{"id": 3, "hosts": ["n1"]}, {"id": 3, "hosts": ["n2"]}]', "job 3: its id"),
        ('[{"id": 3, "hosts": ["n1"], "signature": "a"}]', "job 3: profile a needs"),
        ('[{"id": 3, "hosts": ["n1"], "signature": "a.json"}]', "a.json: No such file"),
        ('[{"id": 3, "hosts": ["n1"], "signature": "%s", "ranks_per_node": 2147483648}]'
         % halo, "ranks per node: 2147483648 is out of range"),
        ('[{"id": 3, "hosts": ["n1"], "signature": 7}]', "job 3: "), ("[", "bad.json")):
    with open("bad.json", "w") as file:
        file.write('{"jobs": %s}' % jobs)
    refused(Error, words, quick.running, "bad.json")
for most in -1, 0, (1 << 31) - 1:
    for least in -1, 0, (1 << 31) - 1:
        refused(Error, "", quick.place, halo_16, most, "linear", ranks_per_node=least)
    if most < 1:
        refused(Error, "16 ranks do not fit", quick.map, halo_16, [1], ranks_per_node=most)
        refused(Error, "16 ranks do not fit", quick.traffic().add, halo_16, [1], most)
refused(Error, "free nodes: none", quick.place, halo_16, 4, free=[])
refused(Error, "no ranks", commplace.bind, halo_16, [])
refused(Error, "nan is not a time", quick.map, halo_16, range(16), seconds=float("nan"))
refused(Error, "/no/such/x", made.save, "/no/such/x")

# Freed once.
freed = []
library = commplace._library
free = library.functions.signature_free
held = commplace.Signature(halo)
held._held._free = lambda pointer: (freed.append(pointer), free(pointer))
view = held.rows()[2]
total = sum(view)
held.close()
held.close()
ok(held.closed and not freed, "a view keeps what it is of")
same(sum(view), total, "and is read after the end")
refused(Error, "the signature is closed", lambda: held.name)
refused(Error, "closed", quick.map, held, range(16))
del view
same(len(freed), 1, "then it is freed, once")
with commplace.Network(small) as inside:
    kept = inside.traffic()
    kept.add(halo_16, range(16))
refused(Error, "the network is closed", lambda: inside.nodes)
again = quick.traffic()
again.add(halo_16, range(16))
same(kept.max_congestion, again.max_congestion, "a traffic keeps its network")
traffic.close()
refused(Error, "the traffic is closed", lambda: traffic.max_congestion)

# Threads.
shared = quick.traffic()
shared.add(halo_16, range(16))
wants = {}
for first in range(8):
    with quick.traffic() as one:
        one.add(halo_16, range(first, first + 16))
        wants[first] = one.max_congestion, sum(one.link_bytes)
wrong = []


def work_on(first):
    for _ in range(50):
        with quick.traffic() as one:
            one.add(halo_16, range(first, first + 16))
            if (one.max_congestion, sum(one.link_bytes)) != wants[first]:
                wrong.append(first)
        if (shared.max_congestion, sum(shared.link_bytes)) != wants[0]:
            wrong.append("shared")
        try:
            quick.node("n99")
            wrong.append("n99")
        except Error as why:
            if "n99" not in str(why):
                wrong.append(str(why))


threads = [threading.Thread(target=work_on, args=(first,)) for first in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
same(wrong, [], "eight threads")

# Memory.


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


class Heap(ctypes.Structure):
    """mallinfo2 of glibc 2.33 and later."""
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
        "uordblks", "fordblks", "keepcost")]


def in_use():
    """KB that are allocated: small leaks first fill what was freed before."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if not ask:
        return 0
    ask.restype = Heap
    return ask().uordblks / 1024


def calls():
    """A hundred calls of all kinds."""
    for i in range(9):
        pair = commplace.Signature.from_entries(4, [0, 2], [1, 3], [6, 4])
        one = quick.traffic()
        one.add(pair, [0, 9], 2)
        one.max_congestion, one.link_bytes, one.numbers()
        quick.nodes_of("n[0-31]")
        try:
            quick.nodes_of("n99")
        except Error:
            pass
        if i == 0:
            quick.map(pair, [0, 5, 9, 12], "greedyallc").rank_nodes
            quick.place(pair, 4, "linear", free=range(8)).nodes
            commplace.bind(pair, range(4), "core:4 pu:1", "packed").cpus
        pair.rows()


for _ in range(100):
    calls()
before, allocated = resident(), in_use()
begin = time.perf_counter()
for _ in range(1000):
    calls()
grown, kept = resident() - before, in_use() - allocated
print("# 100,000 calls: %.1f s, %.0f KB more, %.0f KB more in use" % (
    time.perf_counter() - begin, grown, kept))
ok(grown < 512 and kept < 64, "100,000 calls leave nothing", grown, kept)
before = resident()
hoard = [commplace.Signature.from_entries(4, [0, 2], [1, 3], [6, 4])
         for _ in range(10000)]
ok(resident() - before > 512, "what is kept is seen", resident() - before)

print("1..%d" % done)
sys.exit(failed > 0)
