#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# The JSON Schemas say what the readers take: every sample and every file that a
# command accepts is valid; of the files that it refuses, those that a schema can
# tell are not; and each object has the keys that the reader itself names.
import glob, json, os, re, subprocess, sys, tempfile

top = os.path.realpath(os.path.dirname(os.path.abspath(__file__)) + "/../..")
build = os.environ.get("COMMPLACE_BUILD", top)
commplace = os.environ.get("COMMPLACE", "commplace")
try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not there")
    sys.exit(0)

done = failed = 0


def ok(good, name, *why):
    global done, failed
    done += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", done, name.replace("#", "")))
    for line in why if not good else ():
        print("# " + str(line).replace("\n", "\n# "), file=sys.stderr)


schema = {}
for path in glob.glob(top + "/etc/schema/*.json") + glob.glob(build + "/etc/schema/*.json"):
    name = os.path.basename(path)[: -len("-1.json")]
    if name not in schema:
        schema[name] = json.load(open(path))
ok(sorted(schema) == ["machine", "model", "network", "record", "signature", "state"],
   "a schema of each format", sorted(schema))
check = {}
for name in sorted(schema):
    Draft202012Validator.check_schema(schema[name])
    check[name] = Draft202012Validator(schema[name])

formats = {"commplace-network": "network", "commplace-signature": "signature",
           "commplace-machine": "machine", "commplace-time-model": "model",
           "commplace-decision": "record"}


def kind_of(value):
    if not isinstance(value, dict):
        return None
    return formats.get(value.get("format")) or ("state" if "jobs" in value and "format" not in value else None)


def parse(text):
    """As the readers do: a key that is there twice is refused by all."""
    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("twice")
        return dict(pairs)
    return json.loads(text, object_pairs_hook=once)


# Samples, and files of tests that commands accept.
paths = glob.glob(top + "/etc/networks/*.json") + glob.glob(top + "/etc/signatures/*.json")
paths += glob.glob(top + "/tests/golden/**/*.json", recursive=True)
for path in sorted(paths):
    try:
        value = parse(open(path).read())
    except ValueError:
        continue
    kind = kind_of(value)
    if kind:
        errors = list(check[kind].iter_errors(value))
        ok(not errors, "%s is valid" % os.path.relpath(path, top), *errors[:1])

# What commands write.
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
env = dict(os.environ, LC_ALL="C", COMMPLACE_CONF=work.name + "/none")


def run(*arguments):
    return subprocess.run([commplace, *arguments], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


open("pairs.coo", "w").write("0 1 800 2\n1 2 8 1\n")
run("signature", "import", "pairs.coo", "--format", "coo", "-o", "pairs.json")
run("features", "--network", top + "/etc/networks/torus-4x4x4.json", "--signature",
    top + "/etc/signatures/halo-16.json", "--level", "flow", "--seeds", "20", "-o", "rows.csv")
run("learn", "rows.csv", "-o", "model.json")
for kind, path in (("signature", "pairs.json"), ("model", "model.json")):
    value = json.load(open(path)) if os.path.exists(path) else None
    errors = list(check[kind].iter_errors(value))
    ok(value and not errors, "a %s that a command writes is valid" % kind, *errors[:1])

# What commands refuse. A schema has to refuse what is wrong in the file by itself:
# keys, those that lack, types and words. Sums, ends of ranges that depend on other
# values, and other files are beyond it.
told = re.compile(r"unknown key|is missing|is not a class name|; it must be|^.?is (a string|an integer|a real"
                  r"|a boolean|an array|an object|null)|needed|is not valid(?! JSON)")
beyond = re.compile(r"injection, a|dims. make|power of two|square number|is a real number"
                    r"|array of 2 is|in 0 to 1$|1 to 2 ports")
rows = refused = 0
for path in sorted(glob.glob(top + "/tests/bad-input/*.tsv")):
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        field = line.rstrip("\n").split("\t")
        if (line.startswith("#") or len(field) != 5 or field[1] != "1" or field[2][:1] != "{" or
                not re.search(r"^commplace (network check|signature (check|show|predict)) .*\{F\}", field[3])):
            continue
        try:
            value = parse(field[2].replace("\\n", "\n").replace("\\t", "\t"))
        except (ValueError, RecursionError):
            continue
        kind = kind_of(value)
        if not kind:
            continue
        rows += 1
        good = not check[kind].is_valid(value)
        refused += good
        if told.search(field[4]) and not beyond.search(field[4]):
            ok(good, "%s %s is refused by the schema, too" % (os.path.basename(path), field[0]), field[4], field[2])
ok(refused * 2 > rows, "most of all refused files are: %d of %d" % (refused, rows))


# Keys: an unknown one makes the reader name those that it knows.
def resolve(spec, value):
    """Properties of the schema that hold for this object. "kinds" is of a type of its own."""
    known = dict(spec.get("properties", {}))
    for branch in spec.get("allOf", []):
        if Draft202012Validator(branch["if"]).is_valid(value):
            known.update(branch["then"].get("properties", {}))
            if branch["then"].get("additionalProperties", True) is False:
                known = {k: v for k, v in known.items() if k in branch["then"]["properties"]}
    return set(known) - {"$schema"} - ({"kinds"} if "kinds" not in value else set())


def reader_keys(kind, value):
    command = {"network": ("network", "check"), "signature": ("signature", "check")}[kind]
    with open("asked.json", "w") as out:
        json.dump(value, out)
    names = re.search(r"unknown key \"nosuch\"; the keys are (.*)", run(*command, "asked.json").stderr)
    return set(re.split(r", | and ", names.group(1).strip())) if names else None


def same_keys(name, spec, kind, value, spot):
    at = value
    for step in spot:
        at = at[step]
    at["nosuch"] = 1
    told = reader_keys(kind, value)
    del at["nosuch"]
    ours = resolve(spec, at)
    ok(told is not None and told == ours, "keys of %s" % name,
       "the reader's: %s" % sorted(told or []), "the schema's: %s" % sorted(ours))


net = schema["network"]
for type_name in net["properties"]["type"]["enum"]:
    value = {"format": "commplace-network", "version": 1, "type": type_name}
    same_keys("a %s" % type_name, net, "network", value, [])
    if type_name == "dragonfly":
        value["kinds"] = []
        same_keys("a dragonfly of kinds", net, "network", value, [])
sig = schema["signature"]
base = {"format": "commplace-signature", "version": 1, "ranks": 4, "phases": [{"pattern": {"type": "x"}}]}
same_keys("a signature", sig, "signature", base, [])
phase = sig["properties"]["phases"]["items"]
same_keys("a phase", phase, "signature", base, ["phases", 0])
pattern = phase["properties"]["pattern"]
for type_name in pattern["properties"]["type"]["enum"]:
    base["phases"][0]["pattern"]["type"] = type_name
    same_keys("pattern %s" % type_name, pattern, "signature", base, ["phases", 0, "pattern"])

# Editors find the schema by "$schema", which the readers pass over.
value = json.load(open(top + "/etc/networks/quickstart.json"))
value["$schema"] = "network-1.json"
json.dump(value, open("net.json", "w"))
ok(run("network", "check", "net.json").returncode == 0, "$schema in a network")
value = json.load(open("pairs.json"))
value["$schema"] = "signature-1.json"
json.dump(value, open("sig.json", "w"))
ok(run("signature", "check", "sig.json").returncode == 0, "$schema in a signature")
print("1..%d" % done)
os.chdir("/")
sys.exit(failed > 0)
