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

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/master/frontend/web"
	"sdm/master/hangfile"
	"sdm/master/hangfile/offline"
	"sdm/master/session"
	"sdm/protocol/userfile"
)

// openOptions are the values of the flags of sdm open.
type openOptions struct {
	options
	connect   string // address of the front end; "": the console
	plaintext bool
	html      string // file for the report; "": none is written
}

// flags returns the flags of sdm open.
func (o *openOptions) flags() *flagSet {
	f := newFlags("open", usageOpen, flagsOf(wayOpen, missing)...)
	f.SetInterspersed(true)
	f.foot = "" // no ranks are there to end
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

// plan checks the options and reads the file.
func (o *openOptions) plan(a *app, f *flagSet) (*plan, error) {
	o.args = withoutReports(f.Args())
	if err := o.check(f); err != nil {
		return nil, err
	}
	ctx, cancel := deadline(o.console.timeout)
	defer cancel()
	file, err := readHangFile(ctx, o.args[0])
	if err != nil {
		return nil, err
	}
	p := a.planned(&o.options, func(context.Context, *plan) (*job.Job, error) {
		return &job.Job{Session: offline.New(file), Ranks: file.Ranks}, nil
	})
	p.past, p.greeting = true, []string{"info file"}
	switch {
	case o.html != "":
		p.alone = func() console.Status { return a.writeReport(file, o.html, o.mode) }
	case o.connect != "":
		p.serve = func(l *lifetime) console.Status { return a.serveFile(l.ctx, o, p, file) }
	}
	return p, nil
}

// withoutReports leaves out the reports of hang files that are named too, as by sdm-hang-1234*.
func withoutReports(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		file, isReport := strings.CutSuffix(name, ".html")
		return isReport && slices.Contains(names, file)
	})
}

// check checks the options.
func (o *openOptions) check(f *flagSet) error {
	some := []way{wayOpen}
	if o.connect != "" {
		some = append(some, wayFrontEnd)
	}
	if o.html != "" {
		some = append(some, wayReport)
	}
	switch {
	case len(o.args) == 0:
		return errors.New("which hang file? (sdm open FILE)")
	case len(o.args) > 1:
		return fmt.Errorf("%q: one file at a time (sdm diff-files %s %s compares two)", o.args[1], o.args[0], o.args[1])
	case o.console.timeout < 0:
		return errors.New("--timeout cannot be negative (0 is no limit)")
	}
	if err := o.refusal(f, some...); err != nil {
		return err
	}
	if err := o.console.checkBatch(); err != nil {
		return err
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
	write := func(w io.Writer) error { return web.WriteFile(w, file) }
	if path == "-" {
		if err := write(a.out); err != nil {
			return a.fail(console.StatusRankFailed, err)
		}
		return console.StatusGood
	}
	name, err := userfile.Create(path, mode, write)
	if err != nil {
		return a.fail(console.StatusRankFailed, err)
	}
	fmt.Fprintf(a.out, "report written to %s\n", name)
	return console.StatusGood
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
