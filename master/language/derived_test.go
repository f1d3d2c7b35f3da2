package language

import (
	"testing"

	"sdm/protocol"
)

// The word of a row takes the argument that its columns tell.
func TestWordOf(t *testing.T) {
	lacksLocation := func(a protocol.Args) bool { return a.Location == "" }
	for _, c := range []struct {
		name  string
		info  protocol.CommandInfo
		rest  string
		usage string
		want  protocol.Args
		bad   string
	}{
		{name: "nothing", rest: "x", bad: "w takes no argument, not \"x\""},
		{name: "expression", info: protocol.CommandInfo{Args: []string{"expr"}}, rest: "a + 1", usage: "[EXPR]", want: protocol.Args{Expr: "a + 1"}},
		{name: "location", info: protocol.CommandInfo{Args: []string{"location", "expr"}, Lacks: lacksLocation}, rest: "f.c:7", usage: "LOCATION", want: protocol.Args{Location: "f.c:7"}},
		{name: "lacks", info: protocol.CommandInfo{Args: []string{"location"}, Lacks: lacksLocation, Asks: "a location"}, usage: "LOCATION", bad: "w needs a location"},
		{name: "option", info: protocol.CommandInfo{Args: []string{"location"}}, rest: "-force f", usage: "[LOCATION]", bad: "w: the option -force is not available"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.info.Name = "w"
			w := wordOf(c.info)
			if w.Usage != c.usage || !w.Derived() || w.Command() != "w" {
				t.Errorf("the word is %+v", w)
			}
			read := w.parse
			if read == nil {
				read = parseNothing
			}
			got := Command{Name: "w", Rest: c.rest}
			m := read(&got)
			switch {
			case c.bad != "" && (m == nil || m.Text != c.bad):
				t.Errorf("got %v, want the mistake %q", m, c.bad)
			case c.bad == "" && (m != nil || got.Args.Expr != c.want.Expr || got.Args.Location != c.want.Location):
				t.Errorf("got %+v, %v", got.Args, m)
			}
		})
	}
}

// The word of a command is in the table once, unless the command is for programs.
func TestDerived(t *testing.T) {
	known, _ := protocol.LookupCommand("print")
	hidden := protocol.CommandInfo{Name: "hidden", NoWord: true}
	got := derived([]protocol.CommandInfo{known, hidden, {Name: "info news"}})
	if len(got) != 1 || got[0].Name != "info news" || got[0].Topic != Look {
		t.Errorf("derived words are %+v", got)
	}
}
