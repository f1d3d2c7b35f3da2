package wait

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"sdm/protocol/rank"
)

// numbered returns the graph of ranks of which rank i is number numbers[i] in MPI_COMM_WORLD, and waits for the
// next one there. -1: it has not said its number.
func numbered(numbers ...int) (g *Graph) {
	for i, n := range numbers {
		r := Rank{Comms: []Comm{world(len(numbers))}, Number: n, Numbered: n >= 0}
		if n >= 0 {
			r.Waits = []Message{receive((n+1)%len(numbers), 5), receive(Any, 6)}
			r.Unexpected = []Message{{Edge{Comm: "w", Tag: 7}, (n + 1) % len(numbers)}}
		}
		if n == 0 {
			r.Calls = []Call{{Function: "MPI_Bcast", Comm: "w", Root: 1, Bytes: No}}
		}
		id := rank.ID(i)
		g = g.Merge(Of(rank.Range(id, id), r))
	}
	return g
}

func TestRenumbered(t *testing.T) {
	for _, c := range []struct {
		name string
		in   *Graph
		want string // "": the graph itself
		err  string
	}{
		{"none", nil, "", ""},
		{"the same", numbered(0, 1, -1, 3), "", ""},
		{"turned", numbered(2, 0, 1), `{MPI_Bcast("w", 2, -1, "") [1]; all receive MPI_Recv("w", 5) [0-1] → 1..2, [2] → 0; ` +
			`all receive MPI_Recv("w", 6) [0-2] → any; comm "w" MPI_COMM_WORLD of [0-2]; unexpected ("w", 7) [0-1] → 1..2, [2] → 0; unknown in "" [0-2]}`, ""},
		{"one rank does not know its number", numbered(1, -1), `{all receive MPI_Recv("w", 5) [0] → 1; all receive MPI_Recv("w", 6) [0] → any; ` +
			`comm "w" MPI_COMM_WORLD of [0-1]; unexpected ("w", 7) [0] → 1; unknown in "" [0-1]}`, ""},
		{"two ranks do not know their numbers", numbered(1, -1, -1), "", "its rank 0 is not here, or has not said its number"},
		{"two jobs", numbered(0, 0), "", "several ranks say that they are its rank 0, as those of several jobs do"},
		{"a part of a job", numbered(0, 1, 3, 2).Only(rank.Range(1, 2)), "", "its rank 0 is not here, or has not said its number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.in.Renumbered()
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("error %v, want %s", err, c.err)
				}
				return
			}
			if c.want == "" && got != c.in || c.want != "" && got.String() != c.want || err != nil {
				t.Errorf("got\n%v %v, want\n%s", got, err, c.want)
			}
			if h, rest, err := Decode(wireOf(got)); err != nil || len(rest) > 0 || h.String() != got.String() {
				t.Errorf("its encoding is that of %v: %v", h, err)
			}
		})
	}
}

// TestRenumberedPeers compares with graphs that were made with the numbers of the ranks from the start.
func TestRenumberedPeers(t *testing.T) {
	const n = 40
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		numbers := random.Perm(n) // of ranks in MPI_COMM_WORLD
		here := make([]int, n)
		for i, number := range numbers {
			here[number] = i
		}
		var in, want *Graph
		for i, number := range numbers {
			r := Rank{Comms: []Comm{world(n)}, Number: number, Numbered: true, Waits: []Message{receive(Any, 5)}}
			s := Rank{Comms: r.Comms, Waits: r.Waits}
			for range random.IntN(4) {
				peer := random.IntN(n)
				r.Waits = append(r.Waits, receive(peer, 5))
				s.Waits = append(s.Waits, receive(here[peer], 5))
			}
			in = in.Merge(Of(rank.Range(rank.ID(i), rank.ID(i)), r))
			want = want.Merge(Of(rank.Range(rank.ID(i), rank.ID(i)), s))
		}
		if got, err := in.Renumbered(); err != nil || !bytes.Equal(wireOf(got), wireOf(want)) {
			t.Fatalf("got\n%v %v, want\n%v", got, err, want)
		}
	}
}
