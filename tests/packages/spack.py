# SPDX-License-Identifier: GPL-2.0-or-later
"""Spack's recipe without Spack: the arguments that it has for configure.

    spack.py RECIPE PREFIX [VARIANT=VALUE]...

Prints one per line; a bool's VALUE is yes or no.
"""

import pathlib
import sys
import types

recipe, prefix, *given = sys.argv[1:]
variants = {}


class AutotoolsPackage:
    def with_or_without(self, name):
        on = self.spec.variants[name].value
        return [f"--with{'' if on else 'out'}-{name}"]


def variant(name, default, description, values=lambda value: True):
    assert isinstance(default, bool) or values(default), name
    variants[name] = types.SimpleNamespace(value=default, allows=values)


def known(*args, **options):
    """What has no say in configure's arguments."""


class Prefix(str):
    def __getattr__(self, name):
        return Prefix(f"{self}/{name}")


names = dict(license=known, version=known, depends_on=known, variant=variant)
modules = {
    "spack": {},
    "spack.package": names,
    "spack_repo": {},
    "spack_repo.builtin": {},
    "spack_repo.builtin.build_systems": {},
    "spack_repo.builtin.build_systems.autotools": {
        "AutotoolsPackage": AutotoolsPackage
    },
}
for name, content in modules.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)
scope = {}
exec(compile(pathlib.Path(recipe).read_text(), recipe, "exec"), scope)
package = scope["Commplace"]()
package.prefix = Prefix(prefix)
package.spec = types.SimpleNamespace(variants=variants)
for name, value in (one.split("=", 1) for one in given):
    if isinstance(variants[name].value, bool):
        variants[name].value = value == "yes"
    elif variants[name].allows(value):
        variants[name].value = value
    else:
        sys.exit(f"{name} does not take {value}")
print("\n".join(package.configure_args()))
