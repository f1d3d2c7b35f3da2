package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/launch/slot"
	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/master/frontend/console"
	"sdm/master/registration"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// crew consists of the servers for ranks that exist already, on one or several hosts, and the
// master.
type crew struct {
	session session.Session
	ranks   rank.Set         // all ranks of the job
	absent  []session.Absent // servers that are missing; their ranks are lost from the start
	close   func()
}

// job tells where the ranks are and what is known of their starter.
type job struct {
	table protocol.Proctable // of the ranks to control
	whole protocol.Proctable // of all its ranks
	id    string             // replaces {jobid}
	// coming is the rendezvous of the servers that the starter has started on its nodes; nil:
	// it has started none.
	coming *slots
	passed error // why the starter has started no servers; nil: it was not asked
}

// nodes returns the nodes that get a server. A starter starts one on each of its nodes, even where
// no rank is to be controlled.
func (j job) nodes() []protocol.Node {
	if j.coming == nil {
		return j.table.Nodes()
	}
	nodes, wanted := j.whole.Nodes(), j.table.Ranks()
	for i := range nodes {
		nodes[i].Ranks = nodes[i].Ranks.Intersect(wanted)
	}
	return nodes
}

// assemble starts the servers and builds the tree. local is servers that are started already for
// the case that all ranks are on this host; nil: none. assemble uses or closes them.
func (a *app) assemble(ctx context.Context, p *plan, j job, local *cluster) (*crew, error) {
	nodes := j.nodes()
	if j.coming == nil && len(nodes) == 1 && isHere(nodes[0].Host) {
		return a.assembleHere(ctx, p, j, local)
	}
	if local != nil {
		local.close()
	}
	return a.assembleNodes(ctx, p, j, nodes)
}

func (a *app) assembleHere(ctx context.Context, p *plan, j job, c *cluster) (*crew, error) {
	p.o.np = len(j.table)
	if c == nil || p.o.servers() != 1 { // those that were started are a single server
		if c != nil {
			c.close()
		}
		var err error
		if c, err = startCluster(p.o, p.log); err != nil {
			return nil, err
		}
	}
	report, err := c.buildOver(ctx, p.o, slices.Collect(j.table.Ranks().All()))
	if err != nil {
		if trouble := c.close(); trouble != nil {
			err = fmt.Errorf("%w\n%s", err, strings.TrimSpace(trouble.Error()))
		}
		return nil, err
	}
	return &crew{session: c.master, ranks: report.Ranks, close: func() {
		if err := c.close(); err != nil {
			p.log.Warn("a server has ended badly", "err", err)
		}
	}}, nil
}

// assembleNodes starts one server on each node. They register at a rendezvous of this process.
func (a *app) assembleNodes(ctx context.Context, p *plan, j job, nodes []protocol.Node) (*crew, error) {
	open := func() (*slots, error) { return j.coming, nil }
	switch {
	case j.coming == nil && p.o.startTool != "":
		open = func() (*slots, error) { return openSlots(p, true) }
	case j.coming == nil:
		open = func() (*slots, error) { return openOwn(p) }
	}
	s, err := open()
	if err != nil {
		return nil, err
	}
	report, stop, err := a.muster(ctx, p, s, j, nodes)
	if err == nil {
		err = a.stageGDB(ctx, p, s.master)
	}
	if err != nil {
		s.close(a, p.o, false)
		stop()
		if j.passed != nil {
			err = fmt.Errorf("%w (before that: %w)", err, j.passed)
		}
		return nil, err
	}
	return &crew{session: s.master, ranks: report.Ranks, absent: report.Absent, close: func() {
		s.close(a, p.o, true)
		stop()
	}}, nil
}

// muster starts the servers on the nodes and builds the tree over those that register in time. The
// ranks of the others are lost. stop ends what has started the servers.
func (a *app) muster(ctx context.Context, p *plan, s *slots, j job, nodes []protocol.Node) (report session.Report, stop func(), err error) {
	stop = func() {}
	server, err := p.o.nodeServer(s)
	if err != nil {
		return report, stop, err
	}
	roll := registration.PerNode{
		Nodes: nodes, Wait: p.o.clock.servers(), Shape: p.o.shape(),
		Progress: a.heard(p), Overdue: a.overdue, OverdueAfter: overdueAfter,
	}
	switch {
	case j.coming != nil: // the starter has started them
		roll.ByHost = true
	case p.o.startTool != "":
		tool, err := a.startTool(ctx, p, s, j, nodes, server)
		if err != nil {
			return report, stop, err
		}
		stop = func() { endTool(tool) }
		roll.ByHost, roll.Changed, roll.Failed = true, tool.Done(), func(int) error { return toolFailed(tool) }
	default:
		commands, input, err := p.o.carried(s, commandsFor(nodes, server))
		if err != nil {
			return report, stop, err
		}
		fleet := ssh.Start(ssh.Spec{Shell: strings.Fields(p.o.remoteShell), Commands: commands, Input: input})
		stop = fleet.Close
		roll.Changed, roll.Failed = fleet.Changed(), func(i int) error { return notStarted(fleet, nodes[i].Host) }
	}
	table, absent, err := roll.Collect(ctx, s.door)
	s.dropScript() // all who read the script have done so
	switch {
	case errors.Is(err, registration.ErrNone) && roll.Changed != nil && p.o.startTool == "":
		return report, stop, fmt.Errorf("%w (%s)", err, shellHint)
	case errors.Is(err, registration.ErrNone) && j.coming != nil:
		return report, stop, fmt.Errorf("%w (the starter was to start them; --remote-shell ssh, or --start-tool CMD, goes another way)", err)
	case err != nil:
		return report, stop, err
	}
	s.turnAway(table.Size)
	report, err = s.master.Init(ctx, table, p.o.clock.servers(), absent...)
	return report, stop, err
}

// overdueAfter is how long servers may take until those missing are reported. A remote shell takes
// a second, a file system with cold caches several.
const overdueAfter = 5 * time.Second

// overdue reports the nodes whose servers are late.
func (a *app) overdue(late []protocol.Node, after time.Duration) {
	a.remark(fmt.Sprintf("no server yet from %s (%v)", whereOf(late), after.Round(time.Second)))
}

// whereOf names nodes and their ranks, at most eight or nine of them.
func whereOf(nodes []protocol.Node) string {
	const most = 8
	var names []string
	for i, n := range nodes {
		if i == most && len(nodes) > most+1 {
			names = append(names, fmt.Sprintf("and %d more", len(nodes)-most))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", n.Host, rankWord(n.Ranks)))
	}
	return strings.Join(names, ", ")
}

// rankWord returns "rank 3" or "ranks 4-7".
func rankWord(s rank.Set) string {
	if s.Len() == 1 {
		return "rank " + s.String()
	}
	return "ranks " + s.String()
}

// heard returns a function that shows on a terminal how many servers have registered; nil: there is
// no terminal.
func (a *app) heard(p *plan) func(have, want int) {
	if p.o.format != string(console.Text) || !isTerminal(a.stderr) {
		return nil
	}
	return func(have, want int) {
		fmt.Fprintf(a.stderr, "\rsdm: %d of %d servers are there", have, want)
		if have == want {
			fmt.Fprint(a.stderr, "\r\x1b[K")
		}
	}
}

// commandsFor returns the command line of the server of each node.
func commandsFor(nodes []protocol.Node, server []string) []ssh.Command {
	commands := make([]ssh.Command, len(nodes))
	for i, n := range nodes {
		argv := append(slices.Clone(server), "--server", strconv.Itoa(i), "--size", strconv.Itoa(len(nodes)),
			"--host", n.Host, "--background", "--like-ranks")
		commands[i] = ssh.Command{Host: n.Host, Argv: argv, Local: isHere(n.Host)}
	}
	return commands
}

// notStarted returns why a remote shell has started no server on a host; nil: it has, or may still.
func notStarted(f *ssh.Fleet, host string) error {
	err, ended := f.Ended(host)
	var failure *ssh.Failure
	switch {
	case !ended || err == nil:
		return nil
	case errors.As(err, &failure):
		return fmt.Errorf("the server cannot be started: %s", failure.Because())
	}
	return err
}

// shellHint is the advice for remote shells that start no server.
const shellHint = "is ssh set up, without a password? --remote-shell CMD names another; --start-tool CMD starts all"

// startTool starts all servers by one command of the site. Each server finds its number by the name
// of its host.
func (a *app) startTool(ctx context.Context, p *plan, s *slots, j job, nodes []protocol.Node, server []string) (*slot.Starter, error) {
	hosts := make([]string, len(nodes))
	for i, n := range nodes {
		hosts[i] = n.Host
	}
	daemon := append(slices.Clone(server), "--size", strconv.Itoa(len(nodes)), "--by-host", "--like-ranks")
	if p.o.startTool == slurm.Tool {
		daemon = s.broadcast(ctx, p, func(file, to string) []string {
			return slurm.BroadcastTo(j.id, hosts, file, to)
		}, daemon)
	}
	line := toolLine(p.o.startTool, j.id, hosts, daemon)
	return slot.Start(slot.Spec{Argv: []string{"/bin/sh", "-c", line}, Env: p.o.starterEnv(), Stdout: a.stderr, Stderr: a.stderr})
}

// toolLine fills in the template of --start-tool and returns a line for the shell.
func toolLine(template, id string, hosts, daemon []string) string {
	if !strings.Contains(template, "{daemon}") {
		template += " {daemon}"
	}
	return strings.NewReplacer("{jobid}", ssh.Quote(id), "{hosts}", ssh.Quote(strings.Join(hosts, ",")),
		"{nodes}", strconv.Itoa(len(hosts)), "{daemon}", ssh.QuoteAll(daemon)).Replace(template)
}

// toolFailed returns why missing servers will not register; nil: they still may.
func toolFailed(tool *slot.Starter) error {
	select {
	case <-tool.Done():
	default:
		return nil
	}
	if tool.Status() == 0 { // a tool that only starts them may end
		return nil
	}
	return fmt.Errorf("--start-tool: %w", tool.Ended())
}

func endTool(tool *slot.Starter) {
	ctx, cancel := closing()
	defer cancel()
	tool.End(ctx)
}

// isHere reports whether host is this host, by name or by address.
func isHere(host string) bool {
	own, _ := os.Hostname()
	if host == "localhost" || host == own || net.ParseIP(host) == nil && protocol.SameHost(host, own) {
		return true
	}
	addrs, err := net.LookupHost(host)
	if err != nil {
		return false
	}
	mine, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, m := range mine {
		if n, ok := m.(*net.IPNet); ok && slices.Contains(addrs, n.IP.String()) {
			return true
		}
	}
	return false
}

// hostName returns the name of this host, for tables made by sdm.
func hostName() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "localhost"
}
