// sdm why: one page that tells why a job, a hang file or a session does not go on.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/sessions"
	"sdm/launch/ssh"
	"sdm/master/frontend/console"
	"sdm/master/hangfile/offline"
	"sdm/master/language"
	"sdm/master/talk"
	"sdm/master/why"
)

// whyOptions are the values of the flags of sdm why: those of sdm waits that are about finding a job.
type whyOptions struct {
	options
	samples int
	every   string
	tools   bool // what to try next are tools of sdm mcp
}

// flags returns the flags of sdm why.
func (o *whyOptions) flags() *flagSet {
	f := newFlags("why", usageWhy, flagsOf(wayLook, missing)...)
	f.add("What is looked at", func(f *pflag.FlagSet) {
		f.IntVar(&o.samples, "samples", 0, "compare this `many` samples of ranks that run (default: 4)")
		f.StringVar(&o.every, "every", "", "time between samples (default: 150ms)")
		f.BoolVar(&o.tools, "tools", false, "for sdm mcp: what to try next are its tools")
	})
	o.declareAttach(f)
	return f
}

// plan checks the options. What the argument names decides: a session by its name, a hang file that is there, else a
// job.
func (o *whyOptions) plan(a *app, f *flagSet) (*plan, error) {
	o.args = f.Args()
	switch {
	case len(o.args) == 0 && o.match == "":
		return nil, errors.New("why of what? (sdm why PID of mpirun, a hang file, a session such as sdm-1, or what sdm attach takes)")
	case len(o.args) > 1:
		return nil, fmt.Errorf("%q: one at a time", o.args[1])
	case len(o.args) == 1 && sessions.IsID(o.args[0]):
		return o.planSession(a), o.validate()
	case len(o.args) == 1 && isFile(o.args[0]):
		return o.planFile(a)
	}
	p, err := a.attaching(&o.options, f, wayLook)
	if err != nil {
		return nil, err
	}
	o.job.Servers.Backend, o.job.Servers.StageGDB, o.console.batch = engineProbe, false, true
	p.answersOnly, p.scripts = true, []console.Script{}
	p.session = func(l *lifetime, j *job.Job) console.Status {
		status, err := a.whyJob(l.ctx, p, j, o)
		return a.end(l.ctx, j, func() error { return servers.CloseInTime(j.Session) }, status, err)
	}
	return p, nil
}

// isFile reports whether a path names a file, as no job does.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// planFile reads a hang file.
func (o *whyOptions) planFile(a *app) (*plan, error) {
	ctx, cancel := deadline(o.console.timeout)
	defer cancel()
	name := o.args[0]
	file, err := readHangFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return &plan{options: &o.options, alone: func() console.Status {
		s := offline.New(file)
		t := talk.New(s, file.Ranks)
		defer s.Close(context.Background())
		return a.writePage(context.Background(), why.Subject{Talk: t, Ranks: file.Ranks, All: file.Ranks, File: file,
			Try: func(line string) string { return "sdm open " + ssh.Quote(name) + " -e " + ssh.Quote(line) },
			Next: []string{"sdm open " + ssh.Quote(name) + " --html report.html   all of the file as a page for a browser",
				"sdm open " + ssh.Quote(name) + " -e 'info file'   when, where and with what it was written"}})
	}}, nil
}

// planSession joins a session, and leaves it again.
func (o *whyOptions) planSession(a *app) *plan {
	p := &plan{options: &o.options, scripts: []console.Script{}}
	p.serve = func(l *lifetime) console.Status {
		c, all, err := enter(l.ctx, &joinOptions{options: o.options}, o.args, introduction(doorWhy))
		if err != nil {
			return a.failed(err, console.StatusNotStarted)
		}
		t, w := talk.New(c, all), c.Welcome()
		defer func() { c.Leave(w.Cursor) }() // what the ranks wrote stays unseen
		if err := t.Heard(l.ctx, w.Snapshot); err != nil {
			return a.fail(statusOf(err, console.StatusNotStarted), err)
		}
		id := o.args[0]
		return a.writePage(l.ctx, why.Subject{Talk: t, Ranks: all, All: all, Samples: o.samples, Every: o.every,
			Try:  func(line string) string { return "sdm join " + id + " -b -e " + ssh.Quote(line) },
			Next: []string{"sdm join " + id + "   a prompt for these ranks"}})
	}
	return p
}

// whyJob attaches to the ranks of a job and writes the page.
func (a *app) whyJob(ctx context.Context, p *plan, j *job.Job, o *whyOptions) (console.Status, error) {
	t := talk.New(j.Session, j.Ranks)
	start, _, err := p.opening(j)
	if err != nil {
		return console.StatusUsage, err
	}
	start = p.clock.Tell(start)
	first := *start
	first.Wait = language.NoLimit
	answer, err := t.Ask(ctx, first)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	ranks := answer.Results()
	switch {
	case err != nil:
		return console.StatusNotStarted, err
	case ranks.IsEmpty():
		return console.StatusNotStarted, errors.New(strings.TrimSpace(why.Said(answer)))
	}
	if j.Started != nil {
		j.Started()
	}
	name := "--match " + ssh.Quote(strings.TrimPrefix(p.args[0], "match:"))
	if p.match == "" {
		name = ssh.Quote(p.args[0])
	}
	subject := why.Subject{Talk: t, Ranks: ranks, All: j.Ranks, Samples: o.samples, Every: o.every, Try: tryJob(name)}
	subject.Next = []string{
		"sdm waits " + name + " --samples 10 --every 1s   the same over ten seconds",
		"sdm waits " + name + " --hang-file -o hang   keep it all in a file for sdm why and sdm open",
		"sdm attach " + name + " --keep 15m   a session with gdb; it stops the ranks"}
	if o.tools {
		subject.Try = func(string) string { return "" } // a look at a job gives this page only
		subject.Next = []string{
			"sdm_why of=" + name + " samples=10 every=1s   the same over ten seconds: who has not moved, who works all the time",
			"sdm_start id=... attach=" + name + "   a session with gdb, for values; it STOPS the ranks: ask the user first"}
	}
	return a.writePage(ctx, subject), nil
}

// tryJob returns the subcommand that gives an answer of the console's language about a job.
func tryJob(name string) func(string) string {
	return func(line string) string {
		set := ""
		if i := strings.Index(line, "] "); strings.HasPrefix(line, "[") && i > 0 {
			set, line = " -r "+line[1:i], line[i+2:]
		}
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "stacks", word == language.Waits:
			if rest != "" {
				rest = " " + rest
			}
			return "sdm " + word + rest + set + " " + name
		}
		return "sdm attach " + name + " -b -e " + ssh.Quote(line)
	}
}

// writePage writes a page.
func (a *app) writePage(ctx context.Context, s why.Subject) console.Status {
	page, err := why.Page(ctx, s)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if page != "" {
		if _, failed := a.out.Write([]byte(page)); failed != nil {
			return console.StatusRankFailed
		}
	}
	if err != nil {
		return a.fail(statusOf(err, console.StatusRankFailed), err)
	}
	return console.StatusGood
}
