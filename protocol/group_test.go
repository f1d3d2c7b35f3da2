package protocol

import (
	"strings"
	"testing"

	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// Size includes all contents of a group, and is close to the size of its encoding.
func TestGroupSize(t *testing.T) {
	var odd []rank.ID
	for i := range 10_000 {
		odd = append(odd, rank.ID(4*i+i*i%7%3))
	}
	scattered := rank.Of(odd...)
	long := strings.Repeat("v", 5000)
	numbers := column.New("n", 0, "0", 4)
	for r := range 1000 {
		numbers = numbers.Merge(column.New("n", rank.ID(r+1), strings.Repeat("1", r%15+1), 4))
	}
	for name, c := range map[string]struct {
		group Group
		least int
	}{
		"nothing":          {Group{Ranks: rank.Of(1)}, 30},
		"a body":           {Group{Ranks: rank.Of(1), Body: []byte(long)}, 5000},
		"a scattered set":  {Group{Ranks: scattered}, 2500},
		"a column":         {Group{Ranks: rank.Of(1), Columns: []column.Column{column.New("x", 1, long, 0)}}, 5000},
		"sets of a column": {Group{Ranks: scattered, Columns: []column.Column{column.Of("x", scattered, "1", 0)}}, 5000},
		"a summary":        {Group{Ranks: rank.Range(0, 1000), Columns: []column.Column{numbers}}, 1000},
		"a stack":          {Group{Ranks: rank.Of(1), Stack: stack.New(1, []stack.Frame{{Func: long}})}, 5000},
		"waits":            {Group{Ranks: rank.Of(1), Waits: wait.Of(scattered, wait.Rank{})}, 2500},
	} {
		t.Run(name, func(t *testing.T) {
			if n := c.group.Size(); n < c.least || n > 4*c.least {
				t.Errorf("%d bytes, want %d and some", n, c.least)
			}
		})
	}
}

// An event can be split by ranks.
func TestNarrow(t *testing.T) {
	values := column.New("args.n", 0, "1", 0)
	for r, value := range []string{"2", "2", "3"} {
		values = values.Merge(column.New("args.n", rank.ID(r+1), value, 0))
	}
	g := Group{Kind: KindStopped, Ranks: rank.Range(0, 3), Body: []byte(`{"reason":"interrupted"}`),
		Columns: []column.Column{values}}
	part, ok := g.Narrow(rank.Range(2, 9))
	if want := `stopped [2-3] {"reason":"interrupted"} args.n=2[2]|3[3]`; !ok || part.String() != want {
		t.Errorf("got %v, %v, want %s", part, ok, want)
	}
	if _, ok := g.Narrow(rank.Of(7)); ok {
		t.Error("a part of no rank")
	}
}
