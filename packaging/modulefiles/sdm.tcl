#%Module1.0
# sdm for Environment Modules, and for Lmod.
proc ModulesHelp { } {
    puts stderr "sdm @VERSION@ debugs a parallel program as if it were one process: man sdm."
}
module-whatis "sdm @VERSION@: debugger of parallel programs"
conflict sdm
set prefix "@PREFIX@"
prepend-path PATH "$prefix/bin"
prepend-path MANPATH "$prefix/share/man"
