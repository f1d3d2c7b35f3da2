package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"sdm/launch/slurm"
	"sdm/launch/ssh"
	"sdm/launch/stage"
	"sdm/master"
	"sdm/master/session"
	"sdm/protocol"
)

// baggage is an archive of gdb that is made for the nodes while they are being reached.
//
// Goroutine: one that makes the archive, from pack until it is complete or drop.
type baggage struct {
	cancel  context.CancelFunc
	packed  chan struct{} // closed when archive and err are set
	archive *stage.Archive
	err     error
}

// validateStaging checks --stage and --stage-gdb.
func (o *options) validateStaging() error {
	switch {
	case o.stage == "" && o.stageGDB:
		return errors.New("--stage-gdb: where to? (--stage DIR names a directory on each node)")
	case o.stage != "" && !filepath.IsAbs(o.stage):
		return fmt.Errorf("--stage %s: give an absolute path, of a directory on each node", o.stage)
	case o.stageGDB:
		if _, err := stage.FindGDB(o.gdb.Path); err != nil {
			return fmt.Errorf("--stage-gdb: %w", err)
		}
	}
	return nil
}

// broadcast lets Slurm copy the server of a command line to the nodes, and returns the command line
// that prefers the copy. Where there is none, each node copies the shared program itself or reports
// why it cannot.
func (s *slots) broadcast(ctx context.Context, p *plan, command func(file, to string) []string, server []string) []string {
	if p.o.stage == "" {
		return server
	}
	program, err := os.ReadFile(server[0])
	if err != nil {
		return server // the failure to start it will be reported
	}
	c := stage.CopyOf(program, server[0], p.o.stage, s.session)
	s.copied = c.Path
	line := command(server[0], c.Path)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = p.o.starterEnv()
	if said, err := cmd.CombinedOutput(); err != nil {
		p.log.Info("--stage: the nodes copy the program themselves", "because", line[0], "err", err, "said", string(said))
	}
	return c.Line(server)
}

// sweep removes the copies on nodes of our allocation that have no server.
func (s *slots) sweep(p *plan, servers int) {
	nodes, err := strconv.Atoi(p.o.lookup("SLURM_JOB_NUM_NODES"))
	if s.copied == "" || err != nil || nodes <= servers {
		return
	}
	line := slurm.OnAll(nodes, "rm", "-f", s.copied)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = p.o.starterEnv()
	if cmd.Start() == nil {
		s.turned.Go(func() { cmd.Wait() })
	}
}

// carried lets remote shells transfer the server to their hosts, before the secret. Without --stage
// it returns commands and the secret unchanged.
func (o *options) carried(s *slots, commands []ssh.Command) ([]ssh.Command, []byte, error) {
	if o.stage == "" {
		return commands, s.given, nil
	}
	own := commands[0].Argv[0] // the same for all
	program, err := os.ReadFile(own)
	if err != nil {
		return nil, nil, fmt.Errorf("--stage: %w", err)
	}
	c := stage.CopyOf(program, own, o.stage, s.session)
	for i := range commands {
		commands[i].Argv = c.LineFrom(ssh.InputFD, len(program), commands[i].Argv)
	}
	return commands, append(program, s.given...), nil
}

// pack starts to make the archive of gdb if --stage-gdb is given. drop must be called afterwards.
func (p *plan) pack() {
	if !p.o.stageGDB {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &baggage{cancel: cancel, packed: make(chan struct{})}
	p.baggage = b
	go func() {
		defer close(b.packed)
		g, err := stage.FindGDB(p.o.gdb.Path)
		if err == nil {
			b.archive, err = g.Pack(ctx)
		}
		b.err = err
	}()
}

// drop stops pack and removes the archive.
func (p *plan) drop() {
	b := p.baggage
	if b == nil {
		return
	}
	p.baggage = nil
	b.cancel()
	<-b.packed
	if b.archive != nil {
		b.archive.Close()
	}
}

// stageGDB transfers the archive of gdb to the nodes. If that fails, they use their own gdb, which
// is reported.
func (a *app) stageGDB(ctx context.Context, p *plan, m *master.Master) error {
	b := p.baggage
	if b == nil {
		return nil
	}
	defer p.drop()
	defer p.o.clock.except()()
	select {
	case <-b.packed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if b.err != nil {
		a.remark(fmt.Sprintf("--stage-gdb: %v; the nodes use their own gdb", b.err))
		return nil
	}
	p.log.Info("gdb is brought to the nodes", "MB", b.archive.Packed>>20, "unpacked", b.archive.Unpacked>>20)
	head := protocol.Piece{Dir: p.o.stage, Hash: b.archive.Hash, Packed: b.archive.Packed, Unpacked: b.archive.Unpacked}
	without, err := m.Stage(ctx, b.archive, head, a.sent(p, head.Packed))
	for _, one := range session.ByCause(without) {
		a.remark(fmt.Sprintf("--stage-gdb on %s (%s): %s; the gdb that is there is used", strings.Join(one.Hosts, ", "), rankWord(one.Ranks), one.Cause))
	}
	if err != nil && ctx.Err() == nil {
		a.remark(fmt.Sprintf("--stage-gdb: %v; the nodes use their own gdb", err))
		return nil
	}
	return err
}

// sent returns a function that shows on a terminal how much of the archive has been transferred;
// nil: there is no terminal.
func (a *app) sent(p *plan, all int64) func(int64) {
	if a.heard(p) == nil {
		return nil
	}
	return func(now int64) {
		fmt.Fprintf(a.stderr, "\rsdm: gdb is brought to the nodes: %d of %d MB", now>>20, all>>20)
		if now == all {
			fmt.Fprint(a.stderr, "\r\x1b[K")
		}
	}
}
