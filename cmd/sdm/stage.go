package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
