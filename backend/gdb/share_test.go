package gdb

import (
	"slices"
	"testing"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestShareOfItself(t *testing.T) {
	for _, c := range []struct {
		name     string
		n, cores int
		want     int
		attached int
	}{
		{"one rank", 1, 2, 1, 1},
		{"as many gdbs as twice the cores", 4, 2, 1, 1},
		{"one rank more than that", 5, 2, 2, 3},
		{"16 on a small machine", 16, 2, 4, 8},
		{"16 on a big one", 16, 64, 1, 1},
		{"17: memory counts", 17, 64, 2, 2},
		{"64 on a small machine", 64, 2, 8, 8},
		{"64 on a big one", 64, 64, 4, 4},
		{"a full node", 128, 64, 8, 8},
		{"no gdb has more", 1000, 2, 8, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := autoShare(c.n, c.cores, false); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
			if got := autoShare(c.n, c.cores, true); got != c.attached {
				t.Errorf("attached: got %d, want %d", got, c.attached)
			}
		})
	}
}

// TestShare checks that only targets of one program, with the same settings, and all
// held or none, share a gdb.
func TestShare(t *testing.T) {
	var targets []backend.Target
	for id, program := range []string{"a", "a", "b", "a", "a", "b", "a"} {
		targets = append(targets, backend.Target{Rank: rank.ID(id), Program: program, Held: id < 6})
	}
	targets = append(targets, targets[0], targets[1], targets[3])
	for i := range targets[7:] {
		targets[7+i].Rank = rank.ID(7 + i)
		text := []string{"set print symbol off", "set print symbol on", "set print symbol off"}[i]
		targets[7+i].Before = []protocol.Command{{Name: "break"}, {Name: "gdb", Args: protocol.Args{Text: text}}}
	}
	var got [][]int
	for _, group := range (Config{RanksPerGDB: 3}).share(targets) {
		var ranks []int
		for _, t := range group {
			ranks = append(ranks, int(t.Rank))
		}
		got = append(got, ranks)
	}
	want := [][]int{{0, 1}, {3, 4}, {2, 5}, {6}, {7, 9}, {8}}
	if !slices.EqualFunc(got, want, func(a, b []int) bool { return slices.Equal(a, b) }) {
		t.Errorf("got %v, want %v", got, want)
	}
}
