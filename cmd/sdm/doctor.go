// sdm doctor: what works on this machine.

package main

import (
	"github.com/spf13/pflag"

	"sdm/cmd/internal/doctor"
	"sdm/launch/local"
	"sdm/master/frontend/console"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// doctorOptions are the values of the flags of sdm doctor.
type doctorOptions struct {
	gdb, remoteShell, format string
}

// flags returns the flags of sdm doctor.
func (o *doctorOptions) flags() *flagSet {
	f := newFlags("doctor", usageDoctor)
	f.foot = "" // its exit statuses are its own
	f.SetInterspersed(true)
	f.add("Flags", func(f *pflag.FlagSet) {
		f.StringVar(&o.gdb, "gdb", "", "`path` of gdb (default: gdb in PATH)")
		f.StringVar(&o.remoteShell, "remote-shell", "", "`command` in place of ssh")
		f.StringVar(&o.format, "format", "text", "how findings are written: text, ndjson")
	})
	return f
}

// plan checks the options.
func (o *doctorOptions) plan(a *app, f *flagSet) (*plan, error) {
	if err := (choice{"--format", o.format, flagValues["format"]}).check(); err != nil {
		return nil, err
	}
	for _, host := range f.Args() {
		if err := protocol.CheckHost(host); err != nil {
			return nil, err
		}
	}
	return &plan{alone: func() console.Status { return a.examine(o, f.Args()) }}, nil
}

// examine examines this machine and others.
func (a *app) examine(o *doctorOptions, hosts []string) console.Status {
	l := newLifetime(0)
	defer l.stop()
	server, _ := local.FindServer("") // if it is missing, the doctor reports it
	m := doctor.Machine{Env: a.env, GDB: o.gdb, RemoteShell: o.remoteShell, Hosts: hosts, Server: server,
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
