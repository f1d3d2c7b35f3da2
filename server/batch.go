// Ranks that are handed to the back end.

package server

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/tree"
)

// batch collects the ranks of one launch, attach or core that are handed to the back end.
type batch struct {
	id      protocol.RequestID
	limit   int // the limit of values of the column pid or core
	targets []backend.Target
	begun   []begun
	notes   map[string][]rank.ID // notes for the user, each with its ranks
}

func (b *batch) note(r rank.ID, text string) {
	if b.notes == nil {
		b.notes = map[string][]rank.ID{}
	}
	b.notes[text] = append(b.notes[text], r)
}

// begun are the ranks of one program that have been started in the same way. A job has few of
// these.
type begun struct {
	started protocol.Started
	ranks   []rank.ID
	column  string
	each    map[string][]rank.ID // the ranks of each value of the column
}

func (b *batch) add(t backend.Target, started protocol.Started) {
	column, value := "pid", strconv.Itoa(t.PID)
	if t.Core != "" {
		column, value = "core", t.Core
	}
	b.targets = append(b.targets, t)
	i := slices.IndexFunc(b.begun, func(g begun) bool { return g.started == started })
	if i < 0 {
		i = len(b.begun)
		b.begun = append(b.begun, begun{started: started, column: column, each: map[string][]rank.ID{}})
	}
	g := &b.begun[i]
	g.ranks, g.each[value] = append(g.ranks, t.Rank), append(g.each[value], t.Rank)
}

// events returns the events about the ranks of this host: one group for each program, and the
// notes.
func (b *batch) events(host string) []protocol.Group {
	var out []protocol.Group
	for _, g := range b.begun {
		values := make([]column.ValueCount, 0, len(g.each))
		for value, ranks := range g.each {
			values = append(values, column.ValueCount{Value: value, Ranks: rank.Of(ranks...)})
		}
		ranks := rank.Of(g.ranks...)
		at := []column.ValueCount{{Value: host, Ranks: ranks}}
		columns := []column.Column{column.OfValues(g.column, values, b.limit).Limited(), column.OfValues("host", at, b.limit)}
		slices.SortFunc(columns, func(a, b column.Column) int { return strings.Compare(a.Name, b.Name) })
		out = append(out, protocol.Group{Kind: protocol.KindStarted, Ranks: ranks, Body: canonical.JSON(g.started),
			Columns: columns})
	}
	for _, text := range slices.Sorted(maps.Keys(b.notes)) {
		out = append(out, protocol.Group{Kind: protocol.KindNote, Ranks: rank.Of(b.notes[text]...),
			Body: canonical.JSON(protocol.Note{Text: text})})
	}
	return out
}

// handOver reports the ranks and then gives them to the back end, with the commands that were
// given for them earlier (args.Before): events of the back end follow the events of the ranks.
func (s *Server) handOver(b batch, stopAt string, d tree.Deliver, args *protocol.Args) {
	if len(b.targets) == 0 {
		return
	}
	s.noteTargets(b.targets)
	for i := range b.targets {
		t := &b.targets[i]
		t.Size = args.Size
		t.Within, _ = time.ParseDuration(args.Within) // the master has checked it
		for _, g := range args.Before {
			if g.Ranks.Contains(t.Rank) {
				t.Before = append(t.Before, g.Command)
			}
		}
	}
	s.up.events(b.events(s.cfg.Host)...)
	if text := s.cfg.Note; text != "" {
		s.cfg.Note = ""
		s.note(text)
	}
	s.backend.Attach(b.id, b.targets, stopAt, d.Wait)
}
