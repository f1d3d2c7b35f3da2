// Ranks on their way to the back end.

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

// batch is the ranks of one launch or attach on their way to the back end.
type batch struct {
	id      protocol.RequestID
	limit   int // of the column that tells them apart
	targets []backend.Target
	begun   []begun
	notes   map[string][]rank.ID // words to the person about some of them
}

func (b *batch) note(r rank.ID, text string) {
	if b.notes == nil {
		b.notes = map[string][]rank.ID{}
	}
	b.notes[text] = append(b.notes[text], r)
}

// begun is the ranks of one program that have been started the same way; a job
// has few of these.
type begun struct {
	started protocol.Started
	ranks   []rank.ID
	column  string
	each    map[string][]rank.ID // the column's values
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

// events tells of the ranks on this host, one group for each program, and what is to be said of them.
func (b *batch) events(host string) []protocol.Group {
	var out []protocol.Group
	for _, g := range b.begun {
		values := make([]column.ValueCount, 0, len(g.each))
		for value, ranks := range g.each {
			values = append(values, column.ValueCount{Value: value, Ranks: rank.Of(ranks...)})
		}
		ranks := rank.Of(g.ranks...)
		at := []column.ValueCount{{Value: host, Ranks: ranks}}
		columns := []column.Column{column.OfValues(g.column, values, b.limit).Folded(), column.OfValues("host", at, b.limit)}
		slices.SortFunc(columns, func(a, b column.Column) int { return strings.Compare(a.Name, b.Name) })
		out = append(out, protocol.Group{Kind: protocol.KindStarted, Ranks: ranks, Body: canonical.JSON(g.started), Columns: columns})
	}
	for _, text := range slices.Sorted(maps.Keys(b.notes)) {
		out = append(out, protocol.Group{Kind: protocol.KindNote, Ranks: rank.Of(b.notes[text]...), Body: canonical.JSON(protocol.Note{Text: text})})
	}
	return out
}

// handOver tells of the ranks and then gives them to the back end, with what was said
// about them before: its events follow theirs.
func (s *Server) handOver(b batch, stopAt string, d tree.Deliver, args *protocol.Args) {
	if len(b.targets) == 0 {
		return
	}
	s.noteTargets(b.targets)
	for i := range b.targets {
		t := &b.targets[i]
		t.Size = args.Size
		t.Within, _ = time.ParseDuration(args.Within) // the master has looked at it
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
