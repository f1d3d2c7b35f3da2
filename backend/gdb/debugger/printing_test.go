package debugger

import (
	"testing"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

func TestTyped(t *testing.T) {
	show, compare := &request.Command{}, &request.Command{Args: protocol.Args{Compare: true}}
	for value, want := range map[string][2]bool{
		"@0x7ffe": {true, true}, "0x7ffe <g>": {true, false}, "": {true, false}, `0x7ffe "text"`: {false, false}, "5": {false, false}, "{p = 0x1}": {false, false},
	} {
		if got := [2]bool{show.PrintsMore(value), compare.PrintsMore(value)}; got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if head := gdbtext.ReferenceHead("(const size_t &) @0x555555576ee8: 5"); head != "(const size_t &) @0x555555576ee8: " || gdbtext.ReferenceHead(`"@0x1: 2"`) != "" {
		t.Errorf("head is %q", head)
	}
}
