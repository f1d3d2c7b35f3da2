// The rendezvous at which servers register that others have started.

package servers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"sdm/cmd/internal/listen"
	"sdm/cmd/internal/startup"
	"sdm/launch/local"
	"sdm/launch/mpir"
	"sdm/launch/secret"
	"sdm/launch/ssh"
	"sdm/launch/stage"
	"sdm/master"
	"sdm/master/registration"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/overlay"
)

// Rendezvous is where the servers register that other programs have started, and their master,
// which runs in this process.
//
// Goroutines: one that refuses late servers, from the end of the registration until Close; one that
// waits for the command of Sweep.
type Rendezvous struct {
	Master *master.Master

	b       *Builder
	session string
	key     overlay.Secret
	given   []byte // the secret if the servers read it from a pipe; nil: they read a file
	script  string // script with their command line; "": none
	copied  string // the copy that Slurm has made on all nodes of the allocation; "": none
	door    *overlay.RendezvousListener
	addrs   []string           // addresses of door
	turn    context.CancelFunc // ends the refusal of late servers; nil: it has not begun
	group   sync.WaitGroup
}

// Open opens the rendezvous for servers that others start. They read the secret from the user's
// file. With partial the session goes on without the servers that do not register.
func (b *Builder) Open(partial bool) (*Rendezvous, error) {
	key, err := b.Key()
	if err != nil {
		return nil, err
	}
	return b.openFor(key, partial)
}

// openOwn is Open for servers that sdm starts itself. They get a secret for this session by a pipe,
// unless the user names a file.
func (b *Builder) openOwn() (*Rendezvous, error) {
	if b.SecretFile != "" {
		return b.Open(true)
	}
	key := secret.Fresh()
	r, err := b.openFor(key, true)
	if err == nil {
		r.given = key[:]
	}
	return r, err
}

// openFor opens a rendezvous with a secret.
func (b *Builder) openFor(key secret.Key, partial bool) (*Rendezvous, error) {
	id := make([]byte, 8)
	rand.Read(id) // never fails
	r := &Rendezvous{b: b, session: hex.EncodeToString(id)}
	r.key = overlay.Secret(key).ForSession(r.session)
	l, err := listen.All(b.listenHosts(), 0, 1)
	if err != nil {
		return nil, fmt.Errorf("listen for servers: %w", err)
	}
	r.addrs = listen.Addrs(l)
	r.door, err = overlay.NewRendezvous(l, r.key, r.identity())
	if err != nil {
		l.Close()
		return nil, err
	}
	cfg := b.masterConfig(r.dial, false)
	cfg.Partial = partial
	r.Master, err = master.New(cfg)
	if err != nil {
		r.door.Close()
	}
	return r, err
}

// listenHosts returns the addresses at which servers may register.
func (s *Spec) listenHosts() []string {
	if s.Listen != "" {
		return []string{s.Listen}
	}
	return listen.Reachable()
}

// identity returns how the master presents itself to servers.
func (r *Rendezvous) identity() overlay.Identity {
	host, _ := os.Hostname()
	path, _ := os.Executable()
	return overlay.Identity{Session: r.session, Host: host, Program: path, Build: startup.Build()}
}

// dial connects to a child of the root by its address.
func (r *Rendezvous) dial(ctx context.Context, child tree.NodeID, route protocol.Route) (overlay.Link, error) {
	link, _, err := overlay.Dial(ctx, route.Addrs, route.Ports, r.key, r.identity(), child)
	return link, err
}

// Line returns the command line of the server of a node, which registers at the rendezvous. Since
// all users of a host can read it, it contains at most the path of the secret.
func (r *Rendezvous) Line() ([]string, error) {
	binary, err := local.FindServer("")
	if err != nil {
		return nil, err
	}
	args := []string{binary, "--rendezvous", strings.Join(r.addrs, ","), "--session", r.session}
	if r.given != nil {
		args = append(args, "--secret-fd", strconv.Itoa(ssh.InputFD))
	} else {
		path, err := r.b.secretPath()
		if err != nil {
			return nil, err
		}
		args = append(args, "--secret-file", path)
	}
	if r.b.ConnectWait > 0 {
		args = append(args, "--connect-wait", r.b.ConnectWait.String())
	}
	if r.b.Output != OutputConsole {
		args = append(args, "--output", r.b.Output)
	}
	if r.b.Stage != "" {
		hash, err := stage.Hash(binary)
		if err != nil {
			return nil, fmt.Errorf("--stage: %w", err)
		}
		args = append(args, "--stage", r.b.Stage, "--stage-hash", hash)
	}
	return append(args, r.b.serverArgs()...), nil
}

// DaemonLine returns the command line of the server that a starter starts on each node.
func (r *Rendezvous) DaemonLine() ([]string, error) {
	server, err := r.Line()
	return append(server, "--by-host", "--like-ranks"), err
}

// Script writes the command line of a server to a script, for starters that accept no arguments for
// it, or fewer. The script is in the directory of the secret, which the same hosts must read.
func (r *Rendezvous) Script(line []string) (string, error) {
	path, err := r.b.secretPath()
	if err == nil {
		r.script, err = stage.Script(filepath.Dir(path), r.session, ssh.QuoteAll(line))
	}
	if err != nil {
		return "", fmt.Errorf("the command line of the servers does not fit, and cannot stand in a file in %s: %w", filepath.Dir(path), err)
	}
	return r.script, nil
}

// dropScript removes the script, if there is one.
func (r *Rendezvous) dropScript() {
	if r.script != "" {
		os.Remove(r.script)
		r.script = ""
	}
}

// Offer passes the server's command line to a starter by fill (mpir.CoLaunch or the like). If the
// line is too long for the starter's variables, it passes a script instead.
func (r *Rendezvous) Offer(fill func(path string, args []string) error) error {
	line, err := r.DaemonLine()
	if err != nil {
		return err
	}
	err = fill(line[0], line[1:])
	if !errors.Is(err, mpir.ErrNoRoom) {
		return err
	}
	script, err := r.Script(line)
	if err != nil {
		return err
	}
	return fill(script, nil)
}

// Gather waits for the servers in the slots of a starter and builds the tree over them. only are
// the ranks whose servers are awaited; nil is all. progress is called with the number of ranks that
// have their servers.
func (r *Rendezvous) Gather(ctx context.Context, only *rank.Set,
	progress func(have, want int)) (session.Report, error) {
	table, err := registration.Slots{Shape: r.b.Shape(), Progress: progress, Only: only}.Collect(ctx, r.door)
	if err != nil {
		return session.Report{}, err
	}
	r.turnAway(table.Size)
	return r.Master.Init(ctx, table, r.b.Clock.ForServers())
}

// turnAway refuses servers that register after all have done so.
func (r *Rendezvous) turnAway(servers int) {
	turning, cancel := context.WithCancel(context.Background())
	r.turn = cancel
	r.group.Go(func() { registration.RefuseLate(turning, r.door, servers) })
}

// Close ends the master, unless it has ended already, and refuses all further servers.
func (r *Rendezvous) Close(ctx context.Context) {
	r.Master.Close(ctx)
	if r.turn != nil {
		r.turn()
	}
	r.group.Wait()
	r.door.Close()
	r.dropScript()
}

// Discard closes a rendezvous within the grace period.
func (r *Rendezvous) Discard() {
	ctx, cancel := Closing()
	defer cancel()
	r.Close(ctx)
}
