// Command sdm debugs a parallel program as if it were one process: it starts the program's ranks
// under control, and a user or a script controls them all.
package main

import (
	"io"
	"os"

	"sdm/cmd/internal/original"
	"sdm/cmd/internal/reaper"
	"sdm/cmd/internal/startup"
	"sdm/launch/mpir"
	"sdm/master/frontend/console"
)

func main() {
	mpir.KeeperMain(os.Args)
	reaper.Main(os.Args)
	if startup.TooLittleSpace("sdm", os.Stderr) {
		os.Exit(int(console.StatusNotStarted))
	}
	startup.KeepIgnored()
	a := app{args: os.Args[1:], env: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(int(a.run()))
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
		if len(a.args) == 1 {
			return a.holdFor()
		}
		if err := a.hold(); err != nil {
			return a.fail(console.StatusUsage, err)
		}
	}
	name, args := a.args[0], a.args[1:]
	s, known := lookup(name)
	if !known || !s.whole {
		startup.LimitProcessors()
	}
	switch {
	case known:
		return a.invoke(s.make(a.env), args)
	case name == "help" || name == "-h" || name == "--help":
		return a.help(args)
	case name == "version" || name == "--version":
		return a.version(args)
	case name == "completion":
		return a.completion(args)
	case name == completeSubcommand:
		return a.complete(args)
	}
	return a.fail(console.StatusUsage, unknownSubcommand(name))
}

// invoke carries out a subcommand: its flags make a plan, and the plan is executed.
func (a *app) invoke(c command, args []string) console.Status {
	f := c.flags()
	if status, done := a.read(f, args); done {
		return status
	}
	p, err := c.plan(a, f)
	if err != nil {
		return a.failed(err, console.StatusUsage)
	}
	return a.execute(p)
}
