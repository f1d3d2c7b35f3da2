// Servers on the nodes of a job whose ranks exist already.

package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/launch/ssh"
	"sdm/master/registration"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Placement tells where the ranks of a job are and what is known of their starter.
type Placement struct {
	Table  protocol.Proctable // of the ranks to control
	Whole  protocol.Proctable // of all its ranks
	ID     string             // replaces {jobid}
	BySrun bool               // the ranks are tasks of a step of Slurm
	// Coming is the rendezvous of the servers that the starter has started on its nodes; nil: it
	// has started none.
	Coming  *Rendezvous
	Refused error // why the starter has started none; nil: it was not asked
	// Instead is called when servers of Coming have not registered in time. It ends what is left
	// of them and chooses another way for all; nil: there is none.
	Instead func(*Placement)
	// Beside starts servers on the nodes, unless the user has chosen another way; nil: ssh does.
	Beside *Beside
}

// nodes returns the nodes that get a server. A starter or a resource manager starts one on each of
// its nodes, even where no rank is to be controlled.
func (p Placement) nodes() []protocol.Node {
	if p.Coming == nil && p.Beside == nil {
		return p.Table.Nodes()
	}
	nodes, wanted := p.Whole.Nodes(), p.Table.Ranks()
	for i := range nodes {
		nodes[i].Ranks = nodes[i].Ranks.Intersect(wanted)
	}
	return nodes
}

// Tree consists of the servers for ranks that exist already, on one or several hosts, and the
// master.
type Tree struct {
	Session session.Session
	Ranks   rank.Set         // all ranks of the job
	Absent  []session.Absent // servers that are missing; their ranks are lost from the start
	Close   func()           // ends all servers; the session must be closed already
}

// Assemble starts the servers and builds the tree. here are servers that were started already for
// the case that all ranks are on this host; nil: none. Assemble uses or closes them.
func (b *Builder) Assemble(ctx context.Context, p Placement, here *Local) (*Tree, error) {
	if b.IsChosen() {
		p.Beside = nil
	}
	if own := p.Table.Nodes(); p.Coming == nil && len(own) == 1 && IsHere(own[0].Host) {
		return b.assembleHere(ctx, p, here)
	}
	nodes := p.nodes()
	if here != nil {
		here.Close()
	}
	tree, err := b.assembleNodes(ctx, p, nodes)
	if p.Instead == nil || !errors.Is(err, errMissing) || ctx.Err() != nil {
		return tree, err
	}
	b.Remark(fmt.Sprintf("%v; they are started in another way", err))
	p.Instead(&p)
	p.Coming, p.Refused, p.Instead = nil, err, nil
	return b.Assemble(ctx, p, nil)
}

// insteadWait bounds the wait for servers if there is another way (Placement.Instead). Most servers
// register within a second; with a file system whose caches are cold they take several.
const insteadWait = 20 * time.Second

// forServers returns how long the servers of a placement may take to register; 0: no limit.
func (b *Builder) forServers(p Placement) time.Duration {
	wait := b.Clock.ForServers()
	switch {
	case p.Instead == nil:
		return wait
	case wait == 0:
		return insteadWait
	}
	return min(wait/2, insteadWait)
}

// assembleHere is Assemble for ranks that are all on this host. l are the servers that were started
// already; nil: none.
func (b *Builder) assembleHere(ctx context.Context, p Placement, l *Local) (*Tree, error) {
	n := b.Count(len(p.Table))
	if l == nil || n != 1 { // l is a single server
		if l != nil {
			l.Close()
		}
		var err error
		if l, err = b.StartLocal(n); err != nil {
			return nil, err
		}
	}
	report, err := l.Build(ctx, slices.Collect(p.Table.Ranks().All()))
	if err != nil {
		return nil, WithTrouble(err, l.Close())
	}
	return &Tree{Session: l.Master, Ranks: report.Ranks, Close: func() {
		if err := l.Close(); err != nil {
			b.Log.Warn("a server has ended badly", "err", err)
		}
	}}, nil
}

// WithTrouble adds the last messages of servers, if there are any, to an error.
func WithTrouble(err, trouble error) error {
	if trouble == nil {
		return err
	}
	return fmt.Errorf("%w\n%s", err, strings.TrimSpace(trouble.Error()))
}

// assembleNodes starts one server on each node. They register at a rendezvous of this process.
func (b *Builder) assembleNodes(ctx context.Context, p Placement, nodes []protocol.Node) (*Tree, error) {
	for {
		tree, err := b.tryNodes(ctx, p, nodes)
		if !errors.Is(err, errNetwork) {
			return tree, err
		}
		said := b.LeaveNetwork()
		if said == "" {
			return nil, err
		}
		b.Remark(said)
	}
}

// tryNodes is one attempt of assembleNodes. The error is errNetwork if srun lacks the interconnect.
func (b *Builder) tryNodes(ctx context.Context, p Placement, nodes []protocol.Node) (*Tree, error) {
	r, err := b.rendezvous(p)
	if err != nil {
		return nil, err
	}
	report, stop, err := b.startOn(ctx, r, p, nodes)
	if err == nil {
		err = b.BringGDB(ctx, r.Master)
	}
	if err != nil {
		r.Discard()
		soon, cancel := context.WithTimeout(context.Background(), failedGrace)
		defer cancel()
		stop(soon)
		if p.Refused != nil {
			err = fmt.Errorf("%w (before that: %w)", err, p.Refused)
		}
		return nil, err
	}
	return &Tree{Session: r.Master, Ranks: report.Ranks, Absent: report.Absent, Close: func() {
		r.Discard()
		inTime, cancel := Closing()
		defer cancel()
		stop(inTime)
	}}, nil
}

// failedGrace is how long what has started the servers may take to end if the start has failed or was interrupted:
// those that have registered end with their master, and the others would look for it for a while.
const failedGrace = time.Second

// rendezvous returns the rendezvous of the servers on the nodes.
func (b *Builder) rendezvous(p Placement) (*Rendezvous, error) {
	switch {
	case p.Coming != nil:
		return p.Coming, nil
	case b.StartTool != "", p.Beside != nil && !p.Beside.Pushes:
		return b.Open(true)
	}
	return b.openOwn()
}

// startOn starts the servers on the nodes and builds the tree over those that register in time. The
// ranks of the others are lost. stop waits for the end of what has started the servers, and ends it when its context
// ends.
func (b *Builder) startOn(ctx context.Context, r *Rendezvous, p Placement,
	nodes []protocol.Node) (report session.Report, stop func(context.Context), err error) {
	stop = func(context.Context) {}
	var started *tool
	server, err := r.Line()
	if err != nil {
		return report, stop, err
	}
	roll := registration.PerNode{
		Nodes: nodes, Wait: b.forServers(p), Shape: b.Shape(),
		Progress: b.ShowProgress("servers"), Overdue: b.overdue, OverdueAfter: overdueAfter,
	}
	switch {
	case p.Coming != nil: // the starter has started them
		roll.ByHost = true
	case p.Beside != nil:
		beside, err := r.startBeside(ctx, p.Beside, server, len(nodes))
		if err != nil {
			return report, stop, err
		}
		stop = beside.End
		roll.ByHost, roll.Changed, roll.Failed = true, beside.Done(), func(int) error { return besideFailed(beside) }
	case b.StartTool != "":
		if started, err = b.startTool(ctx, r, p.ID, nodes, server); err != nil {
			return report, stop, err
		}
		stop = started.end
		roll.ByHost, roll.Changed, roll.Failed = true, started.Done(), func(int) error { return started.failed() }
	default:
		commands, input, err := r.carried(commandsFor(nodes, server))
		if err != nil {
			return report, stop, err
		}
		fleet := ssh.Start(ssh.Spec{Shell: b.Shell(), Commands: commands, Input: input})
		stop = func(context.Context) { fleet.Close() }
		roll.Changed, roll.Failed = fleet.Changed(), func(i int) error { return notStarted(fleet, nodes[i].Host) }
	}
	table, absent, err := roll.Collect(ctx, r.door)
	r.dropScript() // all servers that read the script have done so
	switch {
	case errors.Is(err, registration.ErrNone) && started != nil && errors.Is(started.failed(), errNetwork):
		return report, stop, errNetwork
	case errors.Is(err, registration.ErrNone) && p.Coming == nil && p.Beside == nil && b.StartTool == "":
		return report, stop, fmt.Errorf("%w (%s)", err, ShellHint)
	case p.Instead != nil && (errors.Is(err, registration.ErrNone) || len(absent) > 0):
		return report, stop, missing(absent)
	case errors.Is(err, registration.ErrNone) && p.Coming != nil:
		return report, stop, fmt.Errorf("%w (the starter was to start them; --remote-shell ssh, or --start-tool CMD, goes another way)", err)
	case err != nil:
		return report, stop, err
	}
	r.turnAway(table.Size)
	report, err = r.Master.Init(ctx, table, b.Clock.ForServers(), absent...)
	return report, stop, err
}

// errMissing is the error that servers have not registered, where there is another way.
var errMissing = errors.New("not all servers that PMIx was to start have registered")

// missing returns errMissing with the servers that have not registered and the causes.
func missing(absent []session.Absent) error {
	var all []string
	for _, one := range session.ByCause(absent) {
		all = append(all, one.String())
	}
	return fmt.Errorf("%w: %s", errMissing, strings.Join(all, "; "))
}

// overdueAfter is how long servers may take until those missing are reported. A remote shell takes
// a second, a file system with cold caches several.
const overdueAfter = 5 * time.Second

// overdue reports the nodes whose servers are late.
func (b *Builder) overdue(late []protocol.Node, after time.Duration) {
	b.Remark(fmt.Sprintf("no server yet from %s (%v)", where(late), after.Round(time.Second)))
}

// commandsFor returns the command line of the server of each node.
func commandsFor(nodes []protocol.Node, server []string) []ssh.Command {
	commands := make([]ssh.Command, len(nodes))
	for i, n := range nodes {
		argv := append(slices.Clone(server), "--server", strconv.Itoa(i), "--size", strconv.Itoa(len(nodes)),
			"--host", n.Host, "--background", "--like-ranks")
		commands[i] = ssh.Command{Host: n.Host, Argv: argv, Local: IsHere(n.Host)}
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
