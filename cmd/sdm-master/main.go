// Command sdm-master is the master of a session as a program of its own. An IDE or a batch job
// starts it. It connects to its front end and builds the tree of servers as the front end asks.
package main

import (
	"os"

	"sdm/cmd/internal/startup"
)

func main() {
	if startup.TooLittleSpace("sdm-master", os.Stderr) {
		os.Exit(exitNoTree)
	}
	startup.KeepIgnored()
	startup.LimitProcessors()
	os.Exit(run(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
