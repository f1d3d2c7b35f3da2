# Copyright The sdm authors
#
# SPDX-License-Identifier: MIT

from spack.package import *


class Sdm(GoPackage):
    """A debugger of parallel programs: one command goes to a set of ranks, and ranks
    that answer the same are one line. Tells why an MPI job hangs without a debugger."""

    # The address of your copy of the repository.
    homepage = "https://example.org/sdm"
    git = "https://example.org/sdm.git"

    license("MIT")

    version("main", branch="main")

    variant("pmix", default=False, description="Build sdm-pmix, which asks PMIx servers")

    depends_on("go@1.26:", type="build")
    depends_on("gmake", type="build")
    depends_on("c", type="build", when="+pmix")
    depends_on("pkgconfig", type="build", when="+pmix")
    depends_on("pmix@4:", when="+pmix")
    depends_on("gdb@10:", type="run")

    def build(self, spec, prefix):
        make("build", "WITH_PMIX={0}".format("bin/sdm-pmix" if spec.satisfies("+pmix") else ""))

    def check(self):
        make("unit")

    def install(self, spec, prefix):
        make("install", "WITH_PMIX={0}".format("bin/sdm-pmix" if spec.satisfies("+pmix") else ""), "PREFIX={0}".format(prefix))
