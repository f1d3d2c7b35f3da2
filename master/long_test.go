package master

import (
	"strings"
	"testing"

	"sdm/protocol"
)

func TestLongTextsAreRefused(t *testing.T) {
	long := strings.Repeat("1+", protocol.MaxText/2)
	for _, test := range []struct {
		name    string
		args    protocol.Args
		refused bool
	}{
		{"as long as may be", protocol.Args{Expr: long}, false},
		{"an expression", protocol.Args{Expr: long + "1"}, true},
		{"a line of a breakpoint's commands", protocol.Args{Expr: "n", Lines: []string{long + "1"}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			print, _ := lookup("print")
			f := checkArgs(print, test.args)
			if (f != nil) != test.refused {
				t.Fatalf("got %v", f)
			}
			if f != nil && len(f.Message) > 1000 {
				t.Errorf("the refusal has %d bytes", len(f.Message))
			}
		})
	}
}
