// One invocation of sdm: its arguments and streams, and how it tells errors.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
	"sdm/master/frontend/console"
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
func (a *app) read(flags *flagSet, args []string) (status console.Status, done bool) {
	switch err := flags.parse(args, a.env); {
	case errors.Is(err, pflag.ErrHelp):
		io.WriteString(a.out, flags.help(flags.brief()))
		return console.StatusGood, true
	case err != nil:
		return a.fail(console.StatusUsage, err), true
	}
	return console.StatusGood, false
}

// failed reports the error that has ended the invocation, and returns the status: the error's own if it has one.
func (a *app) failed(err error, other console.Status) console.Status {
	var known *job.Error
	if errors.As(err, &known) {
		other = known.Status
	}
	return a.fail(statusOf(err, other), err)
}

// errSaid is an error of which the user has been told.
var errSaid = errors.New("the reason has been told")

// fail reports an error in one line and returns the status.
func (a *app) fail(status console.Status, err error) console.Status {
	if errors.Is(err, errPipe) || errors.Is(err, errSaid) {
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

// cannotWrite reports that standard output cannot be written. A closed pipe is not reported, since
// its reader has read enough (sdm ... | head).
func (a *app) cannotWrite(err error) {
	if !errors.Is(err, syscall.EPIPE) {
		a.remark("cannot write to standard output: " + plainError(err))
	}
}
