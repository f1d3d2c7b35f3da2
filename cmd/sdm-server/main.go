// Command sdm-server is one server of the tree: it debugs the ranks of its host. It is started by
// sdm, a starter or a batch system, not by users.
package main

import (
	"os"

	"sdm/backend/gdb/custody"
	"sdm/cmd/internal/startup"
	"sdm/launch/local"
)

func main() {
	local.ShimMain(os.Args)
	custody.Main(os.Args)
	if startup.TooLittleSpace("sdm-server", os.Stderr) {
		os.Exit(exitNotStarted)
	}
	startup.KeepIgnored()
	startup.LimitProcessors()
	os.Exit(run(os.Args, os.Environ(), backends))
}
