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
	"sync"

	"sdm/launch/slot"
	"sdm/launch/ssh"
	"sdm/master"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// crew is the servers for ranks that exist already, on this host or on several,
// and the master over them.
type crew struct {
	session session.Session
	ranks   rank.Set
	close   func()
}

// job is where the ranks are, and what is known of their starter.
type job struct {
	table protocol.Proctable
	id    string // for {jobid}
	// coming is where the servers register that the starter has started on its
	// nodes; nil: it has not.
	coming *slots
}

// assemble starts the servers and builds the tree. local are servers that have
// been started already for the case that all ranks are on this host; it takes
// them over.
func (a *app) assemble(ctx context.Context, p *plan, j job, local *cluster) (*crew, error) {
	nodes := j.table.Nodes()
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
	if c == nil || p.o.servers() != 1 { // those that were started were for one server
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

// assembleNodes has one server on each node, which registers with us.
func (a *app) assembleNodes(ctx context.Context, p *plan, j job, nodes []protocol.Node) (*crew, error) {
	s := j.coming
	if s == nil {
		var err error
		if s, err = openSlots(p); err != nil {
			return nil, err
		}
	}
	report, stop, err := a.muster(ctx, p, s, j, nodes)
	if err != nil {
		s.close(a, p.o, false)
		stop()
		return nil, err
	}
	return &crew{session: s.master, ranks: report.Ranks, close: func() {
		s.close(a, p.o, true)
		stop()
	}}, nil
}

// muster starts the servers on the nodes and builds the tree when all have come.
// stop ends what has started them.
func (a *app) muster(ctx context.Context, p *plan, s *slots, j job, nodes []protocol.Node) (report session.Report, stop func(), err error) {
	stop = func() {}
	server, err := p.o.slotServer(s)
	if err != nil {
		return report, stop, err
	}
	if p.o.connectWait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.o.connectWait, fmt.Errorf("not in %v (--connect-wait)", p.o.connectWait))
		defer cancel()
	}
	early, give := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer give(nil)
	switch {
	case j.coming != nil: // the starter has started them
	case p.o.startTool != "":
		tool, err := a.startTool(p, j, nodes, server)
		if err != nil {
			return report, stop, err
		}
		stop = func() { endTool(tool) }
		watching.Go(func() { watchTool(early, tool, give) })
	default:
		fleet := ssh.Start(ssh.Spec{Shell: strings.Fields(p.o.remoteShell), Commands: commandsFor(nodes, server)})
		stop = fleet.Close
		watching.Go(func() { watchFleet(early, fleet, nodes, give) })
	}
	table, err := master.Gathering{Servers: len(nodes), Shape: p.o.shape(), Progress: a.heard(p)}.Gather(early, s.door)
	var failed *notStarted
	switch {
	case errors.As(context.Cause(early), &failed):
		return report, stop, failed
	case err != nil:
		return report, stop, unheard(err, nodes)
	}
	if err := settle(table, nodes, j.coming != nil); err != nil {
		return report, stop, err
	}
	report, err = s.master.Init(early, table, p.o.connectWait)
	return report, stop, err
}

// settle gives each server the ranks of its node: by its number, or by its host
// where the starter has numbered them.
func settle(table protocol.RouteTable, nodes []protocol.Node, byHost bool) error {
	for i := range table.Routes {
		r := &table.Routes[i]
		at := int(r.Server)
		if byHost {
			at = slices.IndexFunc(nodes, func(n protocol.Node) bool { return sameHost(n.Host, r.Host) })
		}
		if at < 0 {
			return fmt.Errorf("the starter has put a server on %s, where its table has no ranks (--remote-shell CMD or --start-tool CMD starts them otherwise)", r.Host)
		}
		r.Ranks = nodes[at].Ranks
	}
	return nil
}

// sameHost compares names, of which one may lack the domain.
func sameHost(a, b string) bool {
	shortA, _, _ := strings.Cut(a, ".")
	shortB, _, _ := strings.Cut(b, ".")
	return a == b || shortA == shortB && (a == shortA || b == shortB)
}

// heard says on a terminal how many servers have come; nil: nowhere.
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

// unheard adds the hosts to the numbers of servers that never came.
func unheard(err error, nodes []protocol.Node) error {
	const most = 8
	var names []string
	for i, n := range nodes {
		if i == most && len(nodes) > most+1 {
			names = append(names, fmt.Sprintf("and %d more", len(nodes)-most))
			break
		}
		names = append(names, fmt.Sprintf("%d on %s", i, n.Host))
	}
	return fmt.Errorf("%w (servers: %s)", err, strings.Join(names, ", "))
}

// commandsFor is the server of each node. It takes over what its ranks have in
// their environment, which the remote shell's may not be.
func commandsFor(nodes []protocol.Node, server []string) []ssh.Command {
	commands := make([]ssh.Command, len(nodes))
	for i, n := range nodes {
		argv := append(slices.Clone(server), "--server", strconv.Itoa(i), "--size", strconv.Itoa(len(nodes)),
			"--host", n.Host, "--background", "--like", strconv.Itoa(n.Pids[0].PID))
		commands[i] = ssh.Command{Host: n.Host, Argv: argv, Local: isHere(n.Host)}
	}
	return commands
}

// watchFleet gives up when a server could not be started.
func watchFleet(ctx context.Context, f *ssh.Fleet, nodes []protocol.Node, give context.CancelCauseFunc) {
	for {
		select {
		case <-f.Changed():
		case <-ctx.Done():
			return
		}
		var bad []error
		for _, n := range nodes {
			if err, ended := f.Ended(n.Host); ended && err != nil {
				bad = append(bad, err)
			}
		}
		if len(bad) > 0 {
			give(&notStarted{fmt.Errorf("cannot start the server on %w (is ssh to it set up, without a password? --remote-shell CMD names another; --start-tool CMD starts all)", errors.Join(bad...))})
			return
		}
	}
}

// notStarted is why servers cannot come.
type notStarted struct{ because error }

func (n *notStarted) Error() string { return n.because.Error() }
func (n *notStarted) Unwrap() error { return n.because }

// startTool starts the servers by one command of the site; each finds its number
// by the name of its host.
func (a *app) startTool(p *plan, j job, nodes []protocol.Node, server []string) (*slot.Starter, error) {
	hosts := make([]string, len(nodes))
	for i, n := range nodes {
		hosts[i] = n.Host
	}
	daemon := append(slices.Clone(server), "--size", strconv.Itoa(len(nodes)), "--nodes", strings.Join(hosts, ","))
	line := toolLine(p.o.startTool, j.id, hosts, daemon)
	return slot.Start(slot.Spec{Argv: []string{"/bin/sh", "-c", line}, Env: p.o.starterEnv(), Stdout: a.stderr, Stderr: a.stderr})
}

// toolLine fills in the template of --start-tool, a line for the shell.
func toolLine(template, id string, hosts, daemon []string) string {
	words := make([]string, len(daemon))
	for i, w := range daemon {
		words[i] = ssh.Quote(w)
	}
	command := strings.Join(words, " ")
	if !strings.Contains(template, "{daemon}") {
		template += " {daemon}"
	}
	return strings.NewReplacer("{jobid}", ssh.Quote(id), "{hosts}", ssh.Quote(strings.Join(hosts, ",")),
		"{nodes}", strconv.Itoa(len(hosts)), "{daemon}", command).Replace(template)
}

func watchTool(ctx context.Context, tool *slot.Starter, give context.CancelCauseFunc) {
	select {
	case <-tool.Done():
		if tool.Status() != 0 { // one that only starts them may end
			give(&notStarted{fmt.Errorf("--start-tool: %w", tool.Ended())})
		}
	case <-ctx.Done():
	}
}

func endTool(tool *slot.Starter) {
	ctx, cancel := closing()
	defer cancel()
	tool.End(ctx)
}

// isHere tells whether a host is this one: by name, or by an address of ours.
func isHere(host string) bool {
	own, _ := os.Hostname()
	if host == "localhost" || host == own || net.ParseIP(host) == nil && sameHost(host, own) {
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

// hostName is this host's name, for tables that we make.
func hostName() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "localhost"
}
