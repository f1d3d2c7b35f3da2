package stack

import (
	"testing"

	"sdm/protocol/rank"
)

func TestBy(t *testing.T) {
	line := func(n int, addr string) []Frame {
		return []Frame{{Func: "main", File: "w.c", Line: 50, Addr: addr}, {Func: "f", File: "w.c", Line: n, Addr: addr}, {Func: "g"}}
	}
	tree := Of(rank.Range(0, 2), line(7, "0x1")).Merge(Of(rank.Of(3), line(7, "0x2"))).Merge(Of(rank.Of(2, 4), line(9, "0x1")))
	for by, want := range map[string]string{
		"address":  "{main w.c:50 0x1 [0-2,4] x5 {f w.c:7 0x1 [0-2] {g [0-2]}} {f w.c:9 0x1 [2,4] {g [2,4]}}} {main w.c:50 0x2 [3] {f w.c:7 0x2 [3] {g [3]}}}",
		"line":     "{main w.c:50 [0-4] x6 {f w.c:7 [0-3] {g [0-3]}} {f w.c:9 [2,4] {g [2,4]}}}",
		"function": "{main [0-4] x6 {f [0-4] x6 {g [0-4] x6}}}",
	} {
		if got := tree.By(by).String(); got != want {
			t.Errorf("by %s\n%s\nwant\n%s", by, got, want)
		}
	}
	var none *Tree
	if got := none.By("function"); !got.isEmpty() {
		t.Errorf("of nothing: %v", got)
	}
	again := tree.By("function")
	if got, rest, err := Decode(again.AppendWire(nil)); len(rest) != 0 || err != nil || got.String() != again.String() {
		t.Errorf("wire form: %v, %v", got, err)
	}
}
