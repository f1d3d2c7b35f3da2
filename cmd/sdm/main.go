// Command sdm debugs a parallel program as if it were one process: it starts the program's ranks
// under control, and a user or a script controls them all.
package main

import (
	"io"
	"os"

	"sdm/cmd/internal/original"
	"sdm/cmd/internal/startup"
	"sdm/launch/mpir"
	"sdm/master/frontend/console"
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
