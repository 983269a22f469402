# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the ranks of an MPI job should run, and what its messages put on the
links of the network: libcommplace from Python.

    import commplace
    net = commplace.Network.load("edison.json")
    sig = commplace.Signature.load("milc-4d-256.json")
    chosen = net.place(sig, 64, policy="traffic")
    mapped = net.map(sig, chosen.nodes)
    with net.traffic() as traffic:
        traffic.add(sig, rank_nodes=mapped.rank_nodes)
        print(traffic.max_congestion, traffic.link_bytes)

Bytes are bytes, bandwidths bytes per second and direction, congestion is seconds.
Nodes are ids, host names, or a host list in Slurm's notation. Arrays are numpy's
where that is there, else memoryviews; they are read only and not copied. One
object may be used by several threads; a call releases the interpreter's lock.
"""
from __future__ import annotations

from _thread import allocate_lock
from collections import namedtuple
from ctypes import c_double, c_int
from operator import index, itemgetter

from . import _library
from ._library import TYPE_CHECKING, Error, Handle, Object

if TYPE_CHECKING:
    import os
    from typing import Any, Iterable, NamedTuple, Union

    Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
    Nodes = Union[str, Iterable[int], Iterable[str]]

    class Numbers(NamedTuple):
        count: int  # type: ignore[assignment]
        used: int
        min: float
        q1: float
        median: float
        mean: float
        q3: float
        max: float

    class Candidate(NamedTuple):
        policy: str
        seed: int
        max_congestion: float
        mean_congestion: float
        hop_bytes: float
        mapped_max_congestion: float | None
        evaluated: bool
        chosen: bool
else:
    Numbers = namedtuple("Numbers", "count used min q1 median mean q3 max")
    Numbers.__doc__ = "How many links, how many with bytes, and six numbers of these."
    Candidate = namedtuple(
        "Candidate", "policy seed max_congestion mean_congestion hop_bytes "
        "mapped_max_congestion evaluated chosen")
    Candidate.__doc__ = "What a policy proposed, and what that came to."

__all__ = ["Binding", "Candidate", "Error", "Mapping", "Network", "Numbers",
           "Placement", "Running", "Signature", "Traffic", "bind",
           "binding_algorithms", "mapping_algorithms", "version"]

_call = _library.functions


def version() -> str:
    """Version of the library that runs."""
    return _library.said(_call.version())


def mapping_algorithms() -> list[str]:
    return _library.names(_call.mapping_algorithm)


def binding_algorithms() -> list[str]:
    return _library.names(_call.binding_algorithm)


def _table(columns: dict[str, Any]) -> Any:
    pandas = _library.optional("pandas")
    return pandas.DataFrame(columns) if pandas else columns


def _options(**said: Any) -> Handle:
    """The options that are stated, None standing for a default."""
    options = Handle(_call.options_new(), _call.options_free)
    kept = []
    for name, value in said.items():
        if value is None:
            continue
        give = getattr(_call, "options_" + name)
        if name in ("routing", "objective", "rank_mapping"):
            give(options, _library.text(value, name))
        elif name == "background":
            kept.append(value)
            give(options, value)
        elif name == "free_nodes":
            address, count, keeper = value
            give(options, address, count)
        elif name == "seconds":
            give(options, float(value))
        elif name == "raw":
            give(options, bool(value))
        elif name == "seed":
            seed = index(value)
            if not 0 <= seed < 1 << 64:
                raise Error("seed: %d is out of range" % seed)
            give(options, seed)
        else:
            give(options, _library.integer(value, name.replace("_", " ")))
    options._needs = kept
    return options


class Network(Object):
    """The machine: nodes, routers, directed links in classes, routings."""

    __slots__ = ()

    def __init__(self, path: Path) -> None:
        self._held = Handle(_call.network_load(_library.path(path)),
                            _call.network_free)

    @classmethod
    def load(cls, path: Path) -> Network:
        """Read a description, commplace-network(5)."""
        return cls(path)

    @classmethod
    def parse(cls, text: str, name: str = "text") -> Network:
        """The same of its text; name: of the text, in messages."""
        encoded = _library.document(text)
        net = cls.__new__(cls)
        net._held = Handle(
            _call.network_parse(encoded, len(encoded), _library.text(name, "name")),
            _call.network_free)
        return net

    def __repr__(self) -> str:
        if self.closed:
            return "<commplace.Network closed>"
        return "<commplace.Network %s: %s of %d nodes>" % (
            self.name, self.type, self.nodes)

    @property
    def name(self) -> str:
        return _library.said(_call.network_name(self._handle))

    @property
    def type(self) -> str:
        return _library.said(_call.network_type(self._handle))

    @property
    def nodes(self) -> int:
        return int(_call.network_nodes(self._handle))

    @property
    def routers(self) -> int:
        return int(_call.network_routers(self._handle))

    @property
    def links(self) -> int:
        return int(_call.network_links(self._handle))

    @property
    def classes(self) -> list[str]:
        """Names of the link classes, by id."""
        return _library.names(_call.network_class_name, self._handle)

    @property
    def routings(self) -> list[str]:
        return _library.names(_call.network_routing, self._handle)

    @property
    def policies(self) -> list[str]:
        """Policies of placements for this network."""
        return _library.names(_call.placement_policy_name, self._handle)

    def host(self, node: int) -> str:
        """Host name of a node id."""
        name = _call.network_host(self._handle, _library.integer(node, "node"))
        if name is None:
            raise Error("network %s has no node %d" % (self.name, node))
        return _library.said(name)

    def hosts(self, nodes: Iterable[int]) -> list[str]:
        return [self.host(node) for node in nodes]

    def node(self, host: str) -> int:
        """Node id of a host name."""
        node = _call.network_node(self._handle, _library.text(host, "host"))
        if node < 0:
            raise Error("network %s has no host %s" % (self.name, host))
        return int(node)

    def nodes_of(self, nodes: Nodes) -> list[int]:
        """Ids of nodes that are given as a host list in Slurm's notation, as host
        names or as ids."""
        if isinstance(nodes, str):
            count = c_int()
            found = _call.network_hostlist(
                self._handle, _library.text(nodes, "hosts"), count)
            return _library.take_ints(found, count.value)
        return [self.node(node) if isinstance(node, str)
                else _library.integer(node, "node") for node in nodes]

    def _numbers(self, nodes: Nodes) -> tuple[Any, int, Any]:
        if not isinstance(nodes, str) and not hasattr(nodes, "dtype"):
            nodes = list(nodes)  # type: ignore[assignment]
        if isinstance(nodes, str) or isinstance(next(iter(nodes), None), str):
            nodes = self.nodes_of(nodes)
        return _library.numbers(nodes, "i", "nodes")

    def link_table(self) -> Any:
        """From, to (routers), class and bandwidth of every link: a DataFrame of
        pandas where that is there, else a dict of arrays."""
        handle = self._handle
        ints = [(c_int * self.links)() for _ in range(3)]
        bandwidth = (c_double * self.links)()
        _call.network_read_links(handle, *ints, bandwidth)
        view = _library.view
        columns = [view(_library.locate(row), self.links, "i", row)
                   for row in ints]
        return _table(dict(
            zip(("from", "to", "class"), columns),
            bandwidth=view(_library.locate(bandwidth), self.links, "d",
                           bandwidth)))

    def traffic(self, threads: int = 1) -> Traffic:
        return Traffic(self, threads)

    def running(self, path: Path, profile_dir: str | None = None,
                routing: str | None = None) -> Running:
        """The jobs of a file, commplace-state(5)."""
        return Running(self, path, profile_dir, routing)

    def place(self, signature: Signature, nodes: int, policy: str = "auto", *,
              ranks_per_node: int | None = None, free: Nodes | None = None,
              running: Running | Traffic | None = None,
              routing: str | None = None, objective: str | None = None,
              rank_mapping: str | None = None, seed: int | None = None,
              seconds: float | None = None) -> Placement:
        """Choose so many nodes for a job by a policy, see `policies`. running: jobs
        that are there already; rank_mapping: candidates are judged with that order."""
        return Placement(self, signature, nodes, policy, ranks_per_node, free,
                         running, routing=routing, objective=objective,
                         rank_mapping=rank_mapping, seed=seed, seconds=seconds)

    def map(self, signature: Signature, nodes: Nodes, algorithm: str = "quick", *,
            ranks_per_node: int | None = None, raw: bool = False,
            running: Running | Traffic | None = None,
            routing: str | None = None, objective: str | None = None,
            seed: int | None = None, threads: int | None = None,
            seconds: float | None = None) -> Mapping:
        """Lay a job's ranks out on nodes, see `mapping_algorithms()`."""
        return Mapping(self, signature, nodes, algorithm, ranks_per_node, running,
                       raw=raw, routing=routing, objective=objective, seed=seed,
                       threads=threads, seconds=seconds)


class Signature(Object):
    """Who sends how much to whom in one run of an application."""

    __slots__ = ()

    def __init__(self, path: Path) -> None:
        self._held = Handle(_call.signature_load(_library.path(path)),
                            _call.signature_free)

    @classmethod
    def load(cls, path: Path) -> Signature:
        """Read a file, commplace-signature(5)."""
        return cls(path)

    @classmethod
    def _of(cls, pointer: int) -> Signature:
        signature = cls.__new__(cls)
        signature._held = Handle(pointer, _call.signature_free)
        return signature

    @classmethod
    def parse(cls, text: str, name: str = "text") -> Signature:
        encoded = _library.document(text)
        return cls._of(_call.signature_parse(encoded, len(encoded),
                                             _library.text(name, "name")))

    @classmethod
    def from_entries(cls, ranks: int, senders: Iterable[int],
                     receivers: Iterable[int], bytes: Iterable[float],
                     messages: Iterable[float] | None = None,
                     name: str = "matrix") -> Signature:
        """Of rows that belong together: who, to whom, bytes, messages (one each)."""
        rows = [_library.numbers(senders, "i", "senders"),
                _library.numbers(receivers, "i", "receivers"),
                _library.numbers(bytes, "d", "bytes")]
        if messages is not None:
            rows.append(_library.numbers(messages, "d", "messages"))
        if len({row[1] for row in rows}) != 1:
            raise Error("senders, receivers, bytes and messages: %s of them"
                        % ", ".join(str(row[1]) for row in rows))
        addresses = [row[0] for row in rows] + [None] * (4 - len(rows))
        return cls._of(_call.signature_make(
            _library.text(name, "name"), _library.integer(ranks, "ranks"),
            rows[0][1], *addresses))

    @classmethod
    def from_matrix(cls, matrix: Any, messages: Any = None,
                    name: str = "matrix") -> Signature:
        """Of bytes by sender and receiver: rows of numbers, an array of numpy or a
        matrix of scipy.sparse; messages in the same form."""
        ranks, entries = _entries(matrix, "matrix")
        if messages is None:
            return cls.from_entries(ranks, entries[0], entries[1], entries[2],
                                    name=name)
        others, counted = _entries(messages, "messages")
        if others != ranks:
            raise Error("matrix: %d ranks, messages: %d" % (ranks, others))
        sent, times = [list(row) for row in entries], [list(row) for row in counted]
        none, nothing = [0.0] * len(sent[0]), [0.0] * len(times[0])
        return cls.from_entries(
            ranks, sent[0] + times[0], sent[1] + times[1], sent[2] + nothing,
            none + times[2], name=name)

    @classmethod
    def gather(cls, comm: Any, row: Any, root: int = 0,
               name: str = "matrix") -> Signature | None:
        """Of a program of mpi4py: each rank gives the bytes that it sends to each
        other, as a row or as {rank: bytes}. At root; None elsewhere. Collective."""
        if not hasattr(row, "items"):
            row = {to: sent for to, sent in enumerate(row) if sent}
        rows = comm.gather({int(to): float(sent) for to, sent in row.items()}, root)
        if rows is None:
            return None
        triples = [(rank, to, sent) for rank, one in enumerate(rows)
                   for to, sent in one.items()]
        return cls.from_entries(
            len(rows), [one[0] for one in triples], [one[1] for one in triples],
            [one[2] for one in triples], name=name)

    def __repr__(self) -> str:
        if self.closed:
            return "<commplace.Signature closed>"
        return "<commplace.Signature %s: %d ranks>" % (self.name, self.ranks)

    def save(self, path: Path) -> None:
        """Write it as commplace-signature(5), in place of a file that is there."""
        _call.signature_write(self._handle, _library.path(path))

    @property
    def name(self) -> str:
        return _library.said(_call.signature_name(self._handle))

    @property
    def application(self) -> str | None:
        name = _call.signature_application(self._handle)
        return None if name is None else _library.said(name)

    @property
    def ranks(self) -> int:
        return int(_call.signature_ranks(self._handle))

    @property
    def phases(self) -> list[tuple[str, float]]:
        """Names of the phases, and how often each runs."""
        handle = self._handle
        return [(_library.said(_call.signature_phase_name(handle, i)),
                 float(_call.signature_phase_weight(handle, i)))
                for i in range(_call.signature_phases(handle))]

    def rows(self, phase: int = 0) -> tuple[Any, Any, Any, Any]:
        """The matrix of one execution of a phase in compressed rows, as
        scipy.sparse.csr_matrix takes them, without a copy: where each sender's row
        begins, receivers, bytes, messages."""
        handle = self._handle
        phase = _library.integer(phase, "phase")
        begin = _library.view(_call.signature_phase_rows(handle, phase),
                              self.ranks + 1, "q", handle)
        if not len(begin):
            raise Error("signature %s: phase %d has no matrix that is stored"
                        % (self.name, phase))
        count = int(begin[self.ranks])
        to, sent, messages = (
            _library.view(of(handle, phase), count, kind, handle)
            for of, kind in ((_call.signature_phase_to, "i"),
                             (_call.signature_phase_bytes, "d"),
                             (_call.signature_phase_messages, "d")))
        return begin, to, sent, messages

    def matrix(self, phase: int = 0) -> Any:
        """Bytes of one execution of a phase: a scipy.sparse.csr_matrix where there
        is scipy, else {(sender, receiver): bytes}."""
        begin, to, sent, _ = self.rows(phase)
        scipy = _library.optional("scipy.sparse")
        if scipy:
            return scipy.sparse.csr_matrix((sent, to, begin),
                                           shape=(self.ranks, self.ranks))
        return {(rank, to[i]): sent[i] for rank in range(self.ranks)
                for i in range(begin[rank], begin[rank + 1])}


def _entries(matrix: Any, what: str) -> tuple[int, list[Any]]:
    """Ranks, and the rows, columns and values that are not 0."""
    shape = getattr(matrix, "shape", None)
    if shape is None:
        matrix = [list(row) for row in matrix]
        shape = (len(matrix), len(matrix[0]) if matrix else 0)
        if any(len(row) != len(matrix) for row in matrix):
            raise Error("%s: its rows are not as long as it has rows" % what)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise Error("%s: it is not square" % what)
    ranks = int(shape[0])
    if hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo()
        return ranks, [sparse.row, sparse.col, sparse.data]
    if hasattr(matrix, "nonzero"):
        rows, columns = matrix.nonzero()
        return ranks, [rows, columns, matrix[rows, columns]]
    cells = [(i, k, value) for i, row in enumerate(matrix)
             for k, value in enumerate(row) if value]
    return ranks, [[cell[part] for cell in cells] for part in range(3)]


def _blocks(signature: Signature, nodes: int, ranks_per_node: int | None) -> int:
    """As many ranks on each node as are needed, where it is not said."""
    if ranks_per_node is not None:
        return _library.integer(ranks_per_node, "ranks per node")
    return -(-signature.ranks // nodes) if nodes > 0 else 1


class Traffic(Object):
    """Bytes on every link while all messages of some jobs are in flight. Jobs are
    added; the first number that is asked for evaluates them, and no more are added
    from then on."""

    __slots__ = ("network", "jobs", "_links", "_nodes", "_lock", "_done")

    #: For `numbers`, in place of the name of a link class.
    ALL, INJECTION, EJECTION = -1, -2, -3

    def __init__(self, network: Network, threads: int = 1) -> None:
        net = _library.need(network, Network, "network")
        self._held = Handle(
            _call.traffic_new(net, _library.integer(threads, "threads")),
            _call.traffic_free, net)
        self.network = network
        self.jobs = 0
        self._links, self._nodes = network.links, network.nodes
        self._lock = allocate_lock()
        self._done = False

    def add(self, signature: Signature, nodes: Nodes | None = None,
            ranks_per_node: int | None = None, *, rank_nodes: Nodes | None = None,
            routing: str | None = None) -> int:
        """Add a job, whose ranks fill nodes in turn or run where rank_nodes says,
        one for each. Its number, from 0 on."""
        sig = _library.need(signature, Signature, "signature")
        by = None if routing is None else _library.text(routing, "routing")
        if (nodes is None) == (rank_nodes is None):
            raise TypeError("either nodes or rank_nodes are needed")
        given: Any = nodes if rank_nodes is None else rank_nodes
        address, count, kept = self.network._numbers(given)
        with self._lock:
            if rank_nodes is None:
                job = _call.traffic_add(
                    self._handle, sig, address, count,
                    _blocks(signature, count, ranks_per_node), by)
            elif count != signature.ranks:
                raise Error("signature %s has %d ranks, rank_nodes %d"
                            % (signature.name, signature.ranks, count))
            else:
                job = _call.traffic_add_ranks(self._handle, sig, address, by)
            self.jobs += 1
        return int(job)

    def evaluate(self) -> Traffic:
        """Evaluate now, if not yet done."""
        self._ready
        return self

    @property
    def _ready(self) -> Handle:
        handle = self._handle
        if not self._done:
            with self._lock:
                if not self._done:
                    _call.traffic_evaluate(handle)
                    self._done = True
        return handle

    @property
    def max_congestion(self) -> float:
        return float(_call.traffic_max_congestion(self._ready))

    @property
    def mean_congestion(self) -> float:
        return float(_call.traffic_mean_congestion(self._ready))

    @property
    def nonzero_average(self) -> float:
        return float(_call.traffic_nonzero_average(self._ready))

    @property
    def nonzero_variance(self) -> float:
        return float(_call.traffic_nonzero_variance(self._ready))

    @property
    def max_injection(self) -> float:
        return float(_call.traffic_max_injection(self._ready))

    def _job(self, number: int) -> int:
        number = _library.integer(number, "job")
        if not 0 <= number < self.jobs:
            raise Error("there is no job %d of %d" % (number, self.jobs))
        return number

    def hop_bytes(self, job: int = 0) -> float:
        return float(_call.traffic_hop_bytes(self._ready, self._job(job)))

    def bytes_on_network(self, job: int = 0) -> float:
        return float(_call.traffic_bytes_on_network(self._ready, self._job(job)))

    def bytes_in_node(self, job: int = 0) -> float:
        return float(_call.traffic_bytes_in_node(self._ready, self._job(job)))

    def max_dilation(self, job: int = 0) -> float:
        return float(_call.traffic_max_dilation(self._ready, self._job(job)))

    def numbers(self, links: str | int = ALL) -> Numbers:
        """Of a link class by its name or id, of ALL, INJECTION or EJECTION."""
        if isinstance(links, str):
            classes = self.network.classes
            if links not in classes:
                raise Error("network %s has no link class %s; there are: %s" % (
                    self.network.name, links, ", ".join(classes)))
            links = classes.index(links)
        out = _library.NumbersStruct()
        _call.traffic_numbers(self._ready, _library.integer(links, "links"),
                              _library.locate(out))
        return Numbers(*(getattr(out, name) for name in Numbers._fields))

    def table(self) -> Any:
        """The numbers of each link class, of all, injection and ejection: a
        DataFrame of pandas where that is there, else a dict of columns."""
        kinds = dict({"all": self.ALL}, injection=self.INJECTION,
                     ejection=self.EJECTION)
        rows = [(name, self.numbers(name)) for name in self.network.classes]
        rows += [(name, self.numbers(kind)) for name, kind in kinds.items()]
        columns: dict[str, Any] = {"links": [name for name, _ in rows]}
        for i, field in enumerate(Numbers._fields):
            columns[field] = [numbers[i] for _, numbers in rows]
        return _table(columns)

    @property
    def link_bytes(self) -> Any:
        """Bytes by link id."""
        return _library.view(_call.traffic_link_bytes(self._ready),
                             self._links, "d", self._handle)

    @property
    def injection_bytes(self) -> Any:
        """Bytes from each node, by its id."""
        return _library.view(_call.traffic_injection_bytes(self._ready),
                             self._nodes, "d", self._handle)

    @property
    def ejection_bytes(self) -> Any:
        """Bytes to each node, by its id."""
        return _library.view(_call.traffic_ejection_bytes(self._ready),
                             self._nodes, "d", self._handle)


class Running:
    """Jobs that are on the machine already, of a file, commplace-state(5): `traffic`
    has their bytes, `busy` are their nodes."""

    __slots__ = ("traffic", "busy", "ids")

    def __init__(self, network: Network, path: Path, profile_dir: str | None = None,
                 routing: str | None = None) -> None:
        import json
        import os
        self.traffic = Traffic(network)
        self.busy: set[int] = set()
        self.ids: list[int] = []
        read: dict[str, Signature] = {}
        job: Any = None
        try:
            with open(path, encoding="utf-8") as file:
                jobs = json.load(file)["jobs"]
            jobs.sort(key=itemgetter("id"))
            for job in jobs:
                name = job.get("signature")
                if name is not None and not name.endswith(".json"):
                    if profile_dir is None:
                        raise Error("profile %s needs profile_dir" % name)
                    name = os.path.join(profile_dir, name + ".json")
                if name is not None and name not in read:
                    read[name] = Signature(name)
                self._add(job, read.get(name), routing)
        except (AttributeError, KeyError, OSError, TypeError, ValueError, Error) as why:
            said = "has no %s" % why if isinstance(why, KeyError) else why
            raise Error("%s: %s%s" % (
                os.fsdecode(path), "" if job is None else "job %s: " % (
                    job.get("id") if isinstance(job, dict) else "?"), said)) from None
        self.traffic.evaluate()

    def _add(self, job: dict[str, Any], signature: Signature | None,
             routing: str | None) -> None:
        if self.ids and job["id"] == self.ids[-1]:
            raise Error("its id is there twice")
        hosts = self.traffic.network.nodes_of(job["hosts"])
        if signature is not None and "rank_to_host" in job:
            self.traffic.add(signature, rank_nodes=job["rank_to_host"],
                             routing=routing)
        elif signature is not None:
            self.traffic.add(signature, hosts, job["ranks_per_node"],
                             routing=routing)
        self.busy.update(hosts)
        self.ids.append(job["id"])


def _background(running: Running | Traffic | None, network: Network) -> Handle | None:
    if running is None:
        return None
    traffic = running.traffic if isinstance(running, Running) else running
    _library.need(traffic, Traffic, "running")
    if traffic.network._handle is not network._handle:
        raise Error("running: its traffic is of another network")
    return traffic._ready


class Placement(Object):
    """Nodes for a job; Network.place makes it."""

    __slots__ = ("network", "ranks", "ranks_per_node", "_count")

    def __init__(self, network: Network, signature: Signature, nodes: int,
                 policy: str, ranks_per_node: int | None, free: Nodes | None,
                 running: Running | Traffic | None, **options: Any) -> None:
        net = _library.need(network, Network, "network")
        sig = _library.need(signature, Signature, "signature")
        self._count = _library.integer(nodes, "nodes")
        self.network, self.ranks = network, signature.ranks
        self.ranks_per_node = _blocks(signature, self._count, ranks_per_node)
        if isinstance(running, Running) and running.busy:
            every: Any = range(network.nodes) if free is None else \
                network.nodes_of(free)
            free = [node for node in every if node not in running.busy and
                    _call.network_host(net, node) is not None]
        listed = None if free is None else network._numbers(free)
        self._held = Handle(_call.placement_choose(
            net, sig, self._count, self.ranks_per_node,
            _library.text(policy, "policy"),
            _options(background=_background(running, network), free_nodes=listed,
                     **options)), _call.placement_free, net)

    @property
    def nodes(self) -> Any:
        """Node ids in rank order."""
        return _library.view(_call.placement_nodes(self._handle), self._count, "i",
                             self._handle)

    @property
    def hosts(self) -> list[str]:
        return self.network.hosts(self.nodes)

    @property
    def rank_nodes(self) -> Any:
        """Node of each rank as the placement was judged."""
        order = _call.placement_rank_node(self._handle)
        if order:
            return _library.view(order, self.ranks, "i", self._handle)
        return [int(self.nodes[rank // self.ranks_per_node])
                for rank in range(self.ranks)]

    @property
    def policy(self) -> str:
        """Whose candidate was taken."""
        return _library.said(_call.placement_policy(self._handle))

    @property
    def max_congestion(self) -> float:
        return float(_call.placement_max_congestion(self._handle))

    @property
    def mean_congestion(self) -> float:
        return float(_call.placement_mean_congestion(self._handle))

    @property
    def hop_bytes(self) -> float:
        return float(_call.placement_hop_bytes(self._handle))

    @property
    def candidates(self) -> list[Candidate]:
        found: list[Candidate] = []
        out = _library.CandidateStruct()
        while _call.placement_candidate(self._handle, len(found),
                                        _library.locate(out)) == 0:
            mapped = out.mapped_max_congestion
            found.append(Candidate(
                _library.said(out.policy), out.seed, out.max_congestion,
                out.mean_congestion, out.hop_bytes,
                None if mapped < 0 else mapped, out.evaluated, out.chosen))
        return found

    def table(self) -> Any:
        """The candidates: a DataFrame of pandas where that is there, else a dict of
        columns."""
        rows = self.candidates
        return _table({field: [row[i] for row in rows]
                       for i, field in enumerate(Candidate._fields)})


class Mapping(Object):
    """A node for each rank; Network.map makes it."""

    __slots__ = ("network", "ranks")

    def __init__(self, network: Network, signature: Signature, nodes: Nodes,
                 algorithm: str, ranks_per_node: int | None,
                 running: Running | Traffic | None, **options: Any) -> None:
        net = _library.need(network, Network, "network")
        sig = _library.need(signature, Signature, "signature")
        address, count, kept = network._numbers(nodes)
        self.network, self.ranks = network, signature.ranks
        self._held = Handle(_call.mapping_make(
            net, sig, address, count, _blocks(signature, count, ranks_per_node),
            _library.text(algorithm, "algorithm"),
            _options(background=_background(running, network), **options)),
            _call.mapping_free, net)

    @property
    def rank_nodes(self) -> Any:
        """Node id of each rank."""
        return _library.view(_call.mapping_rank_node(self._handle), self.ranks, "i",
                             self._handle)

    @property
    def rank_hosts(self) -> list[str]:
        return self.network.hosts(self.rank_nodes)

    @property
    def is_default(self) -> bool:
        """Nothing was better than filling nodes in turn."""
        return bool(_call.mapping_is_default(self._handle))

    @property
    def max_before(self) -> float:
        return float(_call.mapping_max_before(self._handle))

    @property
    def max_after(self) -> float:
        return float(_call.mapping_max_after(self._handle))

    @property
    def hop_bytes_before(self) -> float:
        return float(_call.mapping_hop_bytes_before(self._handle))

    @property
    def hop_bytes_after(self) -> float:
        return float(_call.mapping_hop_bytes_after(self._handle))


class Binding(Object):
    """CPUs of a node for each of its ranks; `bind` makes it."""

    __slots__ = ("ranks",)

    def __init__(self, signature: Signature, ranks: Iterable[int],
                 topology: str | None, algorithm: str, **options: Any) -> None:
        sig = _library.need(signature, Signature, "signature")
        address, self.ranks, kept = _library.numbers(ranks, "i", "ranks")
        self._held = Handle(_call.binding_make(
            sig, address, self.ranks,
            None if topology is None else _library.text(topology, "topology"),
            _library.text(algorithm, "algorithm"), _options(**options)),
            _call.binding_free)

    @property
    def cpus(self) -> list[list[int]]:
        """CPUs of each of the ranks, as the operating system numbers them."""
        return [self._list(i) for i in range(self.ranks)]

    def _list(self, i: int) -> list[int]:
        handle, count = self._handle, c_int()
        row = _call.binding_cpus(handle, i, count)
        return list((c_int * count.value).from_address(row))

    @property
    def cost(self) -> float:
        return float(_call.binding_cost(self._handle))

    @property
    def cost_packed(self) -> float:
        """The same in packed order."""
        return float(_call.binding_cost_packed(self._handle))


class Turn(Object):
    """When iterations of this job begin, so that jobs that share links send in each
    other's pauses: `commplace interleave --env`. text: PERIOD:OFFSET in seconds;
    None: of COMMPLACE_INTERLEAVE, and without it nothing waits."""

    __slots__ = ()

    def __init__(self, text: str | None = None) -> None:
        self._held = Handle(_call.turn_new(
            None if text is None else _library.text(text, "text")), _call.turn_free)

    def wait(self) -> float:
        """Wait until an iteration may begin; for how many seconds."""
        return float(_call.turn_wait(self._handle))


def bind(signature: Signature, ranks: Iterable[int], topology: str | None = None,
         algorithm: str = "treematch", *, cores_per_rank: int | None = None,
         cpus_per_rank: int | None = None) -> Binding:
    """Bind ranks of a node to its CPUs, see `binding_algorithms()`. topology: a
    file or a description of hwloc's; None: this machine."""
    return Binding(signature, ranks, topology, algorithm,
                   cores_per_rank=cores_per_rank, cpus_per_rank=cpus_per_rank)
