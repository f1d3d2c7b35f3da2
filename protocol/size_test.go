package protocol

import (
	"strings"
	"testing"

	"sdm/protocol/rank"
)

// Size has all that a group holds, and is not far from what that costs on the wire.
func TestGroupSize(t *testing.T) {
	var odd []rank.ID
	for i := range 10_000 {
		odd = append(odd, rank.ID(4*i+i*i%7%3))
	}
	scattered := rank.Of(odd...)
	long := strings.Repeat("v", 5000)
	numbers := NewColumn("n", 0, "0", 4)
	for r := range 1000 {
		numbers = numbers.Merge(NewColumn("n", rank.ID(r+1), strings.Repeat("1", r%15+1), 4))
	}
	for name, c := range map[string]struct {
		group Group
		least int
	}{
		"nothing":          {Group{Ranks: rank.Of(1)}, 30},
		"a body":           {Group{Ranks: rank.Of(1), Body: []byte(long)}, 5000},
		"a scattered set":  {Group{Ranks: scattered}, 2500},
		"a column":         {Group{Ranks: rank.Of(1), Columns: []Column{NewColumn("x", 1, long, 0)}}, 5000},
		"sets of a column": {Group{Ranks: scattered, Columns: []Column{ColumnOf("x", scattered, "1", 0)}}, 5000},
		"a summary":        {Group{Ranks: rank.Range(0, 1000), Columns: []Column{numbers}}, 1000},
		"a stack":          {Group{Ranks: rank.Of(1), Stack: NewStack(1, []StackFrame{{Func: long}})}, 5000},
	} {
		t.Run(name, func(t *testing.T) {
			if n := c.group.Size(); n < c.least || n > 4*c.least {
				t.Errorf("%d bytes, want %d and some", n, c.least)
			}
		})
	}
}
