package protocol

import (
	"regexp"
	"testing"
)

func TestDefect(t *testing.T) {
	for name, panics := range map[string]func(){
		"own words":     func() { panic("sabotage") },
		"a nil pointer": func() { var f *Fault; f.Op = "x" },
		"an index":      func() { var a []int; a[len(a)]++ },
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			func() {
				defer func() { got = Defect("print", recover()).Error() }()
				panics()
			}()
			want := regexp.MustCompile(`^print: a defect of sdm in protocol/defect_test.go:\d+: (sabotage|runtime error: .*) \(please report it, with the stack that the log has\)$`)
			if !want.MatchString(got) {
				t.Errorf("got %s", got)
			}
		})
	}
}
