// sdm open: a hang file in place of a job.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/master/hangfile"
	"sdm/master/hangfile/offline"
	"sdm/master/hangfile/report"
	"sdm/master/session"
)

const usageOpen = `sdm open [flags] FILE

Shows a hang file, which sdm watch writes, or sdm stacks and sdm waits (--hang-file -o FILE), on any
machine: the job need not be there. The commands are those of other sessions, as far as the file
has their answers: stacks and waits in all their forms, ranks, info hosts, info file, info output,
focus, group, expand, and what was asked of the ranks when the file was written (info file lists it).

  sdm open FILE -e waits -e 'stacks function'
  sdm open FILE -e 'waits --json' | jq .verdict
  sdm open FILE --html report.html

Exit status: 0, or that of quit N; 1 a command is not in the file or makes no sense, or standard output
cannot be written; 2 wrong usage, or FILE is no hang file; 130 interrupted.

`

// openOptions are the values of the flags of sdm open.
type openOptions struct {
	options
	connect   string // address of the front end; "": the console
	plaintext bool
	html      string // file for the report; "": none is written
}

// flags returns the flags of sdm open.
func (o *openOptions) flags() *flagSet {
	f := newFlags("open", "fold", "wait")
	f.SetInterspersed(true)
	o.ranks.stdin = "none"
	f.add("Report", func(f *pflag.FlagSet) {
		f.StringVar(&o.html, "html", "", "write the report, one HTML page, to a new `file`, and end; - is standard output")
		o.declareMode(f)
	})
	f.add("Commands and answers", o.console.declare)
	f.add("Front ends and log", func(f *pflag.FlagSet) {
		f.StringVar(&o.connect, "connect", "", "no console: dial the front end at `HOST:PORT`, unix:PATH or stdio, as sdm-master does")
		f.BoolVar(&o.plaintext, "plaintext", false, "permit a front end without TLS")
		f.StringVar(&o.job.Servers.SecretFile, "secret-file", "", "`path` of the session's secret, for --connect (default: ~/.config/sdm/secret)")
		o.job.Servers.LogFlags.Declare(f)
	})
	return f
}

// open executes sdm open.
func (a *app) open(args []string) console.Status {
	o := &openOptions{options: newOptions(a.env)}
	f := o.flags()
	if status, done := a.read(f, args, openHelp); done {
		return status
	}
	o.args = withoutReports(f.Args())
	err := o.validateOpen()
	var file *hangfile.File
	if err == nil {
		ctx, cancel := deadline(o.console.timeout)
		file, err = readHangFile(ctx, o.args[0])
		cancel()
	}
	if err != nil {
		return a.fail(statusOf(err, console.StatusUsage), err)
	}
	if o.html != "" {
		return a.writeReport(file, o.html, o.mode)
	}
	return a.within(&o.options, func(l *lifetime, p *plan) console.Status {
		if o.connect != "" {
			return a.serveFile(l.ctx, o, p, file)
		}
		return a.showFile(l, p, file)
	})
}

// withoutReports leaves out the reports of hang files that are named too, as by sdm-hang-1234*.
func withoutReports(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		file, isReport := strings.CutSuffix(name, ".html")
		return isReport && slices.Contains(names, file)
	})
}

// validateOpen checks the options.
func (o *openOptions) validateOpen() error {
	switch {
	case len(o.args) == 0:
		return errors.New("which hang file? (sdm open FILE)")
	case len(o.args) > 1:
		return fmt.Errorf("%q: one file at a time (sdm diff-files %s %s compares two)", o.args[1], o.args[0], o.args[1])
	case o.console.timeout < 0:
		return errors.New("--timeout cannot be negative (0 is no limit)")
	case o.connect != "" && (o.console.batch || len(o.console.scripts) > 0):
		return errors.New("with --connect the front end gives the commands, -b, -x and -e have no place")
	case o.html != "" && (o.connect != "" || o.console.batch || len(o.console.scripts) > 0):
		return errors.New("--html writes the report and ends, so --connect, -b, -x and -e have no place")
	case o.console.batch && len(o.console.scripts) == 0:
		return errors.New("-b carries out commands and ends, but there are none (give -x FILE or -e COMMAND)")
	}
	for _, c := range append(o.console.choices(), o.logLevels()) {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// writeReport writes the report of a file.
func (a *app) writeReport(file *hangfile.File, path string, mode os.FileMode) console.Status {
	write := func(w io.Writer) error { return report.Write(w, file) }
	if path == "-" {
		if err := write(a.out); err != nil {
			return a.fail(console.StatusRankFailed, err)
		}
		return console.StatusGood
	}
	name, err := hangfile.SaveMode(path, mode, write)
	if err != nil {
		return a.fail(console.StatusRankFailed, err)
	}
	fmt.Fprintf(a.out, "report written to %s\n", name)
	return console.StatusGood
}

// showFile runs the console over a file.
func (a *app) showFile(l *lifetime, p *plan, file *hangfile.File) console.Status {
	var err error
	if p.terminal, err = a.newTerminal(p.options); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if p.terminal.interactive {
		p.scripts = append([]console.Script{{Name: "sdm open", Lines: []string{"info file"}}}, p.scripts...)
	}
	a.breakPipes(l, p.terminal)
	l.console <- true
	defer func() { l.console <- false }()
	s := offline.New(file)
	defer s.Close(l.ctx)
	cfg := a.consoleConfig(l, p, s, file.Ranks)
	cfg.Past, cfg.HangFile = true, nil
	status, err := console.Run(l.ctx, cfg)
	if err != nil {
		return a.fail(statusOf(err, status), err)
	}
	return status
}

// serveFile connects to a front end and serves it a file.
func (a *app) serveFile(ctx context.Context, o *openOptions, p *plan, file *hangfile.File) console.Status {
	r := rpc.Options{Plaintext: o.plaintext, Build: startup.Build(), Log: p.log}
	conn, err := a.dialFrontEnd(ctx, o.connect, &o.options, r)
	if err != nil {
		return a.fail(console.StatusNoTree, err)
	}
	var opened []*offline.Session
	open := func(context.Context, rpc.Setup, func(string)) (session.Session, session.Report, error) {
		s := offline.New(file)
		opened = append(opened, s)
		return s, session.Report{Ranks: file.Ranks}, nil
	}
	err = rpc.Serve(ctx, conn, open, r)
	for _, s := range opened {
		s.Close(ctx)
	}
	if err != nil {
		return statusOf(context.Cause(ctx), a.fail(console.StatusRankFailed, err))
	}
	return console.StatusGood
}
