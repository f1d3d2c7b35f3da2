// Command sdm-master is the master of a session alone: an IDE or a batch job
// starts it, it dials its front end and builds the tree of servers as the front
// end says.
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
