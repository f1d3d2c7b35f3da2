-- sdm for Lmod.
help([[sdm @VERSION@ debugs a parallel program as if it were one process: man sdm.]])
whatis("Name: sdm")
whatis("Version: @VERSION@")
whatis("Description: debugger of parallel programs")
conflict("sdm")
local prefix = "@PREFIX@"
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
