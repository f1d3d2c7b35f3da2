// One invocation: what all subcommands use of it.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"sdm/master/frontend/console"
	"sdm/master/text"
)

// app is one invocation.
type app struct {
	args, env      []string // args are without the name of the program
	stdin          *os.File
	stdout, stderr *os.File

	out  *outlet // stdout for our own output; made by run
	held *held   // this is the process of a session; nil: it is not
}

// read parses the flags of a subcommand. If done is true, the invocation is over with that status:
// help was asked for, or the command line is wrong.
func (a *app) read(flags *flagSet, args []string, help func() string) (status console.Status, done bool) {
	switch err := flags.parse(args, a.env); {
	case errors.Is(err, pflag.ErrHelp):
		io.WriteString(a.out, help())
		return console.StatusGood, true
	case err != nil:
		return a.fail(console.StatusUsage, err), true
	}
	return console.StatusGood, false
}

// fail reports an error in one line and returns the status.
func (a *app) fail(status console.Status, err error) console.Status {
	if errors.Is(err, errPipe) {
		return status
	}
	a.remark(err.Error())
	return status
}

// remark writes a message of sdm to standard error.
func (a *app) remark(said string) {
	if a.held != nil {
		a.held.said.remark(cleanLines(said))
		return
	}
	fmt.Fprintf(a.stderr, "sdm: %s\n", cleanLines(said))
}

// cleanLines removes control characters from each line of a message, since it may contain text of a
// starter, a host or a file.
func cleanLines(said string) string {
	lines := strings.Split(said, "\n")
	for i := range lines {
		lines[i] = text.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
