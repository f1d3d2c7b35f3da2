// The subcommand doctor: checks what sdm needs on this machine.

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/doctor"
	"sdm/cmd/internal/startup"
	"sdm/launch/local"
	"sdm/master/frontend/console"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

const usageDoctor = `sdm doctor [flags] [HOST...]

Checks this machine, and by ssh the hosts, and shows what works, what does not, and
what to do. Exit status: 0 all that sdm needs is there; 1 something is bad.

`

// doctorOptions are the values of the flags of sdm doctor.
type doctorOptions struct {
	gdb, remoteShell, format string
}

// flags returns the flags of sdm doctor.
func (o *doctorOptions) flags() *pflag.FlagSet {
	f := startup.NewFlags("sdm doctor")
	f.SetInterspersed(true)
	f.StringVar(&o.gdb, "gdb", "", "`path` of gdb (default: gdb in PATH)")
	f.StringVar(&o.remoteShell, "remote-shell", "", "`command` in place of ssh")
	f.StringVar(&o.format, "format", "text", "how findings are written: text, ndjson")
	return f
}

// doctor executes sdm doctor.
func (a *app) doctor(args []string) console.Status {
	var o doctorOptions
	f := o.flags()
	switch err := f.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(a.out, doctorHelp())
		return console.StatusGood
	case err != nil:
		return a.fail(console.StatusUsage, fmt.Errorf("%w (sdm help doctor lists the flags)", err))
	case o.format != string(console.Text) && o.format != string(console.NDJSON):
		return a.fail(console.StatusUsage, fmt.Errorf("--format %q: give text, ndjson", o.format))
	}
	for _, host := range f.Args() {
		if err := protocol.CheckHost(host); err != nil {
			return a.fail(console.StatusUsage, err)
		}
	}
	l := newLifetime(0)
	defer l.stop()
	server, _ := local.FindServer("") // if it is missing, the doctor reports it
	m := doctor.Machine{Env: a.env, GDB: o.gdb, RemoteShell: o.remoteShell, Hosts: f.Args(), Server: server,
		Hold: holdSomething}
	all := m.Examine(l.ctx)
	if err := a.findings(o.format, all); err != nil {
		return a.fail(console.StatusRankFailed, err)
	}
	if doctor.Worst(all) == doctor.Bad {
		return console.StatusRankFailed
	}
	return console.StatusGood
}

// findings writes findings in a format.
func (a *app) findings(format string, all []doctor.Finding) error {
	if format == string(console.Text) {
		return doctor.Print(a.out, all)
	}
	for _, f := range all {
		row := struct {
			Event string `json:"event"`
			doctor.Finding
		}{"check", f}
		if _, err := a.out.Write(append(canonical.JSON(row), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// holdSomething starts a held process, as sdm run does for each rank.
func holdSomething() error {
	f := local.NewForker()
	defer f.Close()
	p, err := f.Hold(local.Spec{Program: "/bin/true"})
	if err != nil {
		return err
	}
	p.Kill()
	p.Wait()
	for _, s := range []interface{ Close() error }{p.Stdout, p.Stderr} {
		s.Close()
	}
	return nil
}

func doctorHelp() string {
	var o doctorOptions
	return usageDoctor + "Flags:\n" + o.flags().FlagUsagesWrapped(100)
}
