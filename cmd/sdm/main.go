// Command sdm debugs a parallel program as if it were one process: it starts the program's ranks
// under control, and a user or a script controls them all.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/original"
	"sdm/cmd/internal/startup"
	"sdm/launch/mpir"
	"sdm/master/frontend/console"
	"sdm/master/text"
)

func main() {
	mpir.KeeperMain(os.Args)
	if startup.TooLittleSpace("sdm", os.Stderr) {
		os.Exit(int(console.StatusNotStarted))
	}
	startup.KeepIgnored()
	a := app{args: os.Args[1:], env: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(int(a.run()))
}

// app is one invocation.
type app struct {
	args, env      []string // args are without the name of the program
	stdin          *os.File
	stdout, stderr *os.File

	out  *outlet // stdout for our own output; made by run
	held *held   // this is the process of a session; nil: it is not
}

// subcommand is an entry of the table of subcommands.
type subcommand struct {
	name string
	run  func(a *app, args []string) console.Status
	// whole permits the use of all processors, for subcommands that compute.
	whole bool
}

// subcommands is the table. It is read only.
var subcommands = []subcommand{
	{name: "run", run: (*app).runJob},
	{name: "attach", run: (*app).attach},
	{name: "stacks", run: (*app).stacks},
	{name: "waits", run: (*app).waits},
	{name: "open", run: (*app).open},
	{name: "diff-files", run: (*app).diffFiles},
	{name: "watch", run: (*app).watch},
	{name: "sessions", run: (*app).sessions},
	{name: "listen", run: (*app).listen},
	{name: "sim", run: (*app).simulate, whole: true},
	{name: "version", run: (*app).version},
	{name: "help", run: (*app).help},
	{name: "core", run: (*app).core},
	{name: "doctor", run: (*app).doctor},
	{name: "join", run: (*app).join},
}

// run executes the invocation.
func (a *app) run() console.Status {
	a.out = newOutlet(a.stdout, a.cannotWrite)
	return a.out.exitStatus(a.choose())
}

// choose selects and executes the subcommand.
func (a *app) choose() console.Status {
	if len(a.args) == 0 {
		io.WriteString(a.stderr, usage)
		return console.StatusUsage
	}
	if original.Is(a.args) {
		return a.original()
	}
	if a.args[0] == holdSubcommand {
		if err := a.hold(); err != nil {
			return a.fail(console.StatusUsage, err)
		}
	}
	name := a.args[0]
	switch name {
	case "-h", "--help":
		name = "help"
	case "--version":
		name = "version"
	}
	for _, s := range subcommands {
		if s.name != name {
			continue
		}
		if !s.whole {
			startup.LimitProcessors()
		}
		return s.run(a, a.args[1:])
	}
	return a.fail(console.StatusUsage, unknownSubcommand(name))
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
