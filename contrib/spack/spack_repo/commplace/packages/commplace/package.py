# SPDX-License-Identifier: GPL-2.0-or-later
"""A recipe for Spack 1.0 and later: `spack repo add contrib/spack/spack_repo/commplace`,
then `spack install commplace`.

Slurm takes plugins of exactly its own version, and Spack's Slurm keeps no tree:
for the plugins give the tree of the installed Slurm,
`spack install commplace slurm_source=/path/of/slurm-24.11.5 ^slurm@24.11.5`.
"""

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Commplace(AutotoolsPackage):
    """Place MPI jobs by how they communicate: Slurm plugins, a command and a
    library that evaluate placements on dragonflies and tori."""

    homepage = "https://github.com/commplace/commplace"
    git = "https://github.com/commplace/commplace.git"

    license("GPL-2.0-or-later")

    version("main", branch="main")

    variant(
        "slurm_source",
        default="none",
        values=lambda path: path == "none" or path.startswith("/"),
        description="Source tree of the installed Slurm; none: no plugins",
    )
    variant("mpi", default=True, description="Library that records MPI programs")
    variant("scotch", default=False, description="Mapper scotch in the command")

    depends_on("c", type="build")
    depends_on("autoconf@2.69:", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("jansson@2.11:")
    depends_on("zlib-api")
    depends_on("elfutils")
    depends_on("mpi", when="+mpi")
    depends_on("scotch@7:", when="+scotch")

    def autoreconf(self, spec, prefix):
        Executable("./scripts/bootstrap")()

    def configure_args(self):
        source = self.spec.variants["slurm_source"].value
        args = self.with_or_without("mpi") + self.with_or_without("scotch")
        args.append("--without-otf2")
        if source == "none":
            args.append("--without-slurm")
        else:
            args += [
                f"--with-slurm-source={source}",
                f"--with-slurm-plugindir={self.prefix.lib.slurm}",
            ]
        return args
