// sdm web: a page in place of the console.

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/servers"
	"sdm/launch/ssh"
	"sdm/master/dial"
	"sdm/master/frontend/console"
	"sdm/master/frontend/web"
	"sdm/master/hangfile/offline"
	"sdm/protocol"
)

// webOptions are the values of the flags of sdm web.
type webOptions struct {
	joinOptions
	listen string // "unix:PATH" or "[HOST:]PORT"; "": see webAddress
	allow  string
}

func newWebOptions(env []string) *webOptions {
	return &webOptions{joinOptions: joinOptions{options: newOptions(env)}}
}

// flags returns the flags of sdm web.
func (o *webOptions) flags() *flagSet {
	f := newFlags("web", usageWeb)
	f.SetInterspersed(true)
	f.foot = "" // the ranks are the business of the session
	f.add("The page", func(f *pflag.FlagSet) {
		f.StringVar(&o.listen, "listen", "", "where browsers find the page: unix:PATH, for ssh -L, or `[HOST:]PORT` of this host (default: a Unix socket in a login by ssh, else any port)")
		f.StringVar(&o.allow, "allow", "look", "what it may do: `look`, or steer: also interrupt and continue ranks and set breakpoints; or change: also a command line as at the prompt")
	})
	f.add("Sessions on other hosts", func(f *pflag.FlagSet) {
		f.StringVar(&o.job.Servers.RemoteShell, "remote-shell", "", "`command` used instead of ssh to reach them")
	})
	f.add("Log", o.job.Servers.LogFlags.Declare)
	return f
}

// plan checks the options: a page is shown of a session that runs, or of a hang file.
func (o *webOptions) plan(a *app, f *flagSet) (*plan, error) {
	allow, ok := protocol.ParsePermission(o.allow)
	p := &plan{options: &o.options}
	p.serve = func(l *lifetime) console.Status { return a.serveWeb(l.ctx, o, p, f.Args(), allow) }
	switch {
	case f.NArg() > 1:
		return nil, fmt.Errorf("%q: one session or hang file at a time", f.Arg(1))
	case !ok:
		return nil, fmt.Errorf("--allow %s: there are look, steer and change", o.allow)
	}
	return p, o.logLevels().check()
}

// serveWeb shows the page until it is interrupted or the session has ended.
func (a *app) serveWeb(ctx context.Context, o *webOptions, p *plan, args []string,
	allow protocol.Permission) console.Status {
	cfg, leave, err := a.webTarget(ctx, o, args)
	if err != nil {
		return a.failed(err, console.StatusNotStarted)
	}
	cfg.Log, cfg.Allow = p.log, allow
	door := web.New(cfg)
	defer func() {
		leave(door.Seen())
		<-door.Over()
	}()
	l, clean, err := o.awaitBrowsers(a.env)
	if err != nil {
		return a.fail(console.StatusUsage, fmt.Errorf("--listen: %w", err))
	}
	defer clean()
	show := func() { fmt.Fprint(a.out, webLink(l.Addr(), servers.HostName(), door.Token())) }
	show()
	if isTerminal(a.stdin) {
		fmt.Fprintln(a.out, "a link opens once, within 5 minutes; Enter makes another one, Ctrl-C ends this")
		in := dial.Interruptible(a.stdin)
		var reading sync.WaitGroup // one, until the input is closed
		reading.Go(func() {
			for lines := bufio.NewScanner(in); lines.Scan(); {
				show()
			}
		})
		defer func() {
			in.Close()
			reading.Wait()
		}()
	}
	err = door.Serve(ctx, web.Peers(l, p.log))
	switch {
	case errors.Is(err, web.ErrOver):
		a.remark(err.Error())
	case err != nil:
		return a.fail(console.StatusRankFailed, err)
	case ctx.Err() != nil:
		return statusOf(context.Cause(ctx), console.StatusGood)
	}
	return console.StatusGood
}

// webTarget joins the session, or opens the hang file, that the arguments name. leave parts from it.
func (a *app) webTarget(ctx context.Context, o *webOptions, args []string) (
	c web.Config, leave func(uint64), err error) {
	if len(args) > 0 && (strings.Contains(args[0], "/") || isFile(args[0])) {
		file, err := readHangFile(ctx, args[0])
		if err != nil {
			return c, nil, err
		}
		s := offline.New(file)
		return web.Config{Session: s, Ranks: file.Ranks, Past: true, Program: filepath.Base(args[0])},
			func(uint64) { s.Close(context.Background()) }, nil
	}
	client, all, err := enter(ctx, &o.joinOptions, args, introduction(doorWeb))
	if err != nil {
		return c, nil, err
	}
	w := client.Welcome()
	return web.Config{Session: client, Ranks: all, Welcome: &w, Program: w.Session}, client.Leave, nil
}

// awaitBrowsers listens as --listen says, or else at a Unix socket in a folder of its own where the user has come by
// ssh, so that the browser is on another host, or at a port of this host. clean removes what was made.
func (o *webOptions) awaitBrowsers(env []string) (l net.Listener, clean func(), err error) {
	addr, folder := cmp.Or(o.listen, "127.0.0.1:0"), ""
	far := slices.ContainsFunc(env, func(x string) bool { return strings.HasPrefix(x, "SSH_CONNECTION=") })
	if far && o.listen == "" {
		if folder, err = os.MkdirTemp("", "sdm-web-"); err != nil { // 0700
			return nil, nil, err
		}
		addr = "unix:" + filepath.Join(folder, "page")
	}
	clean = func() {
		if folder != "" {
			os.RemoveAll(folder)
		}
	}
	if l, err = listenWithin(addr, "--listen unix:PATH and ssh -L 8080:PATH HOST"); err != nil {
		clean()
	}
	return l, clean, err
}

// webLink returns what a person has to do to see the page.
func webLink(at net.Addr, host, token string) string {
	if at.Network() == "unix" {
		return fmt.Sprintf("where the browser is:  ssh -L 8080:%s %s\nthen open:             http://localhost:8080/#%s\n",
			ssh.Quote(at.String()), host, token)
	}
	return fmt.Sprintf("http://%s/#%s\n", at, token)
}
