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

// baggage is the gdb that is packed for the nodes while they are being reached.
//
// Goroutine: the one that packs, from pack until it has done so or drop.
type baggage struct {
	cancel  context.CancelFunc
	packed  chan struct{} // closed when these are there
	archive *stage.Archive
	err     error
}

// validateStaging says what of --stage and --stage-gdb makes no sense.
func (o *options) validateStaging() error {
	switch {
	case o.stage == "" && o.stageGDB:
		return errors.New("--stage-gdb: where to? (--stage DIR names a directory on each node)")
	case o.stage != "" && !filepath.IsAbs(o.stage):
		return fmt.Errorf("--stage %s: give an absolute path, of a directory on each node", o.stage)
	case o.stageGDB:
		if _, err := stage.FindGDB(o.gdb); err != nil {
			return fmt.Errorf("--stage-gdb: %w", err)
		}
	}
	return nil
}

// broadcast has Slurm copy the server of a line to nodes, and gives the line that
// prefers the copy. Where there is none each node copies the shared program itself, or
// says why it cannot.
func (s *slots) broadcast(ctx context.Context, p *plan, command func(file, to string) []string, server []string) []string {
	if p.o.stage == "" {
		return server
	}
	program, err := os.ReadFile(server[0])
	if err != nil {
		return server // whoever starts it will say so
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

// sweep removes copies from nodes of our allocation where no server was to run it.
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

// carried has remote shells bring the server to their hosts, in front of the secret;
// without --stage it gives what it gets.
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

// pack begins to pack gdb, if that was asked for. drop is owed.
func (p *plan) pack() {
	if !p.o.stageGDB {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &baggage{cancel: cancel, packed: make(chan struct{})}
	p.baggage = b
	go func() {
		defer close(b.packed)
		g, err := stage.FindGDB(p.o.gdb)
		if err == nil {
			b.archive, err = g.Pack(ctx)
		}
		b.err = err
	}()
}

// drop ends the packing and forgets what was packed.
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

// stageGDB brings the packed gdb to the nodes. Where that fails they use their own,
// which is said.
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

// sent says on a terminal how far the archive has come; nil: nowhere.
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
