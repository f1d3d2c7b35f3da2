// Copies of gdb and of the server on the nodes (--stage, --stage-gdb).

package servers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/launch/stage"
	"sdm/master"
	"sdm/master/session"
	"sdm/protocol"
)

// archive is an archive of gdb that is made for the nodes while they are being reached.
//
// Goroutine: one that makes the archive, from PackGDB until it is complete or DropGDB.
type archive struct {
	cancel context.CancelFunc
	packed chan struct{} // closed when file and err are set
	file   *stage.Archive
	err    error
}

// PackGDB starts to make the archive of gdb if it is to be copied. DropGDB must be called
// afterwards.
func (b *Builder) PackGDB() {
	if !b.StageGDB {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &archive{cancel: cancel, packed: make(chan struct{})}
	b.archive = a
	go func() {
		defer close(a.packed)
		g, err := stage.FindGDB(b.GDB.Path)
		if err == nil {
			a.file, err = g.Pack(ctx)
		}
		a.err = err
	}()
}

// DropGDB stops PackGDB and removes the archive.
func (b *Builder) DropGDB() {
	a := b.archive
	if a == nil {
		return
	}
	b.archive = nil
	a.cancel()
	<-a.packed
	if a.file != nil {
		a.file.Close()
	}
}

// BringGDB transfers the archive of gdb to the nodes. If that fails, they use their own gdb, which
// is reported.
func (b *Builder) BringGDB(ctx context.Context, m *master.Master) error {
	a := b.archive
	if a == nil {
		return nil
	}
	defer b.DropGDB()
	defer b.Clock.except()()
	select {
	case <-a.packed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if a.err != nil {
		b.Remark(fmt.Sprintf("--stage-gdb: %v; the nodes use their own gdb", a.err))
		return nil
	}
	b.Log.Info("gdb is brought to the nodes", "MB", a.file.Packed>>20, "unpacked", a.file.Unpacked>>20)
	head := protocol.Piece{Dir: b.Stage, Hash: a.file.Hash, Packed: a.file.Packed, Unpacked: a.file.Unpacked}
	without, err := m.Stage(ctx, a.file, head, b.sent(head.Packed))
	for _, one := range session.ByCause(without) {
		b.Remark(fmt.Sprintf("--stage-gdb on %s (%s): %s; the gdb that is there is used", strings.Join(one.Hosts, ", "), Named(one.Ranks), one.Cause))
	}
	if err != nil && ctx.Err() == nil {
		b.Remark(fmt.Sprintf("--stage-gdb: %v; the nodes use their own gdb", err))
		return nil
	}
	return err
}

// sent returns a function that shows on the terminal how much of the archive has been transferred;
// nil: there is no terminal.
func (b *Builder) sent(all int64) func(int64) {
	if b.Progress == nil {
		return nil
	}
	return func(now int64) {
		fmt.Fprintf(b.Progress, "\rsdm: gdb is brought to the nodes: %d of %d MB", now>>20, all>>20)
		if now == all {
			fmt.Fprint(b.Progress, "\r\x1b[K")
		}
	}
}

// Broadcast lets Slurm copy the server of a command line to the nodes, and returns the command line
// that prefers the copy.
func (r *Rendezvous) Broadcast(ctx context.Context, command func(file, to string) []string, server []string) []string {
	return r.copyServer(server, func(to string) error {
		r.copied = to
		line := command(server[0], to)
		cmd := exec.CommandContext(ctx, line[0], line[1:]...)
		cmd.Env = slurm.Environ(r.b.StarterEnv)
		said, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w: %s", line[0], err, said)
		}
		return err
	})
}

// copyServer copies the server of a command line to the nodes for --stage by the function do, and
// returns the command line that prefers the copy. A node without a copy copies the shared program
// itself or reports why it cannot.
func (r *Rendezvous) copyServer(server []string, do func(to string) error) []string {
	if r.b.Stage == "" {
		return server
	}
	program, err := os.ReadFile(server[0])
	if err != nil {
		return server // the failure to start it will be reported
	}
	c := r.copyOf(program)
	if err := do(c.Path); err != nil {
		r.b.Log.Info("--stage: the nodes copy the program themselves", "because", err)
	}
	return c.Line(server)
}

// copyOf returns where the copy of a program is brought on each node.
func (r *Rendezvous) copyOf(program []byte) stage.Copy {
	return stage.CopyOf(program, r.b.Stage, stage.Name(r.key[:], "all hosts"))
}

// Sweep removes the copies of Broadcast on nodes of our allocation that have no server. servers is
// the number of those that have one.
func (r *Rendezvous) Sweep(servers int) {
	nodes, err := strconv.Atoi(r.b.Lookup("SLURM_JOB_NUM_NODES"))
	if r.copied == "" || err != nil || nodes <= servers {
		return
	}
	line := slurm.OnAll(nodes, "rm", "-f", r.copied)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = slurm.Environ(r.b.StarterEnv)
	if cmd.Start() == nil {
		r.group.Go(func() { cmd.Wait() })
	}
}

// carried returns commands that read the program of the server from their standard input before
// they execute it, and that input: the program, then the secret. Without --stage it returns commands
// and the secret unchanged.
func (r *Rendezvous) carried(commands []ssh.Command) ([]ssh.Command, []byte, error) {
	if r.b.Stage == "" {
		return commands, r.given, nil
	}
	own := commands[0].Argv[0] // the same for all
	program, err := os.ReadFile(own)
	if err != nil {
		return nil, nil, fmt.Errorf("--stage: %w", err)
	}
	c := r.copyOf(program)
	for i := range commands {
		commands[i].Argv = c.LineFrom(ssh.InputFD, len(program), commands[i].Argv)
	}
	return commands, append(program, r.given...), nil
}
