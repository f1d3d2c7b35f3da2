// How long processes are held while their stacks are read.

package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sdm/backend"
	"sdm/backend/probe"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// probeHeld measures how long processes are held: the sampler runs in this process and logs it.
func (b *bench) probeHeld(what string, pids []int, a aims) {
	h := &holdTimes{answered: make(chan protocol.Group, len(pids))}
	p := probe.New(h, slog.New(h), "")
	var targets []backend.Target
	for i, pid := range pids {
		targets = append(targets, backend.Target{Rank: rank.ID(i), PID: pid})
	}
	p.Attach(1, targets, "", patience)
	h.wait(len(pids))
	for range probeRounds {
		p.Do(backend.Request{ID: 2, Ranks: rank.Range(0, rank.ID(len(pids)-1)), Command: &protocol.Command{Name: "stacks"}})
		h.wait(len(pids))
	}
	if err := p.Close(context.Background()); err != nil {
		fatal("the sampler", err)
	}
	if len(h.held) != probeRounds {
		fatal("the sampler", fmt.Errorf("%d of %d samples are logged", len(h.held), probeRounds))
	}
	slices.Sort(h.held)
	b.table.add(row{what: "held, " + what + ": half of the samples", unit: "ms", ours: ms(h.held[probeRounds/2]), limit: limit{most: a.held}})
	b.table.add(row{what: "held, " + what + ": 99 of 100 samples", unit: "ms", ours: ms(h.held[probeRounds*99/100]), limit: limit{most: a.heldMost}})
}

// holdTimes is the sink of a sampler and the handler of its log.
type holdTimes struct {
	answered chan protocol.Group
	held     []time.Duration
}

// wait waits until all ranks have answered.
func (h *holdTimes) wait(ranks int) {
	for ranks > 0 {
		select {
		case g := <-h.answered:
			if g.Kind != protocol.KindResult {
				fatal("the sampler", fmt.Errorf("%v", g))
			}
			ranks -= g.Ranks.Len()
		case <-time.After(patience):
			fatal("the sampler", fmt.Errorf("nothing has come for %v", patience))
		}
	}
}

// Reply implements backend.Sink.
func (h *holdTimes) Reply(_ protocol.RequestID, groups ...protocol.Group) {
	for _, g := range groups {
		h.answered <- g
	}
}

// Event implements backend.Sink.
func (h *holdTimes) Event(...protocol.Group) {}

// Enabled implements slog.Handler.
func (h *holdTimes) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler. It is called by the goroutine of the sampler, which Close waits
// for.
func (h *holdTimes) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "held" {
			h.held = append(h.held, a.Value.Duration())
		}
		return true
	})
	return nil
}

// WithAttrs implements slog.Handler.
func (h *holdTimes) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h *holdTimes) WithGroup(string) slog.Handler { return h }
