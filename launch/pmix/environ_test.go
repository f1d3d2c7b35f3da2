package pmix

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/launch"
	"sdm/protocol"
)

// applied plays a server: it applies directives to an environment.
func applied(t *rapid.T, base []string, infos []Info) []string {
	ops := map[Key]string{SetEnvar: "set", AddEnvar: "add", PrependEnvar: "prepend", AppendEnvar: "append"}
	var list []protocol.EnvDirective
	for _, i := range infos {
		if i.Key == UnsetEnvar {
			list = append(list, protocol.EnvDirective{Op: "unset", Name: i.Text})
			continue
		}
		list = append(list, protocol.EnvDirective{Op: ops[i.Key], Name: i.Envar.Name, Value: i.Envar.Value, Sep: i.Envar.Separator})
	}
	env, err := launch.Environ(base, list)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(env)
	return env
}

// TestEnvars compares the directives for a server, in both orders, with what the list does to an
// environment.
func TestEnvars(t *testing.T) {
	word := rapid.SampledFrom([]string{"x", "y", "/bin"})
	directive := rapid.Custom(func(t *rapid.T) protocol.EnvDirective {
		return protocol.EnvDirective{
			Op:   rapid.SampledFrom([]string{"set", "add", "unset", "prepend", "append"}).Draw(t, "op"),
			Name: rapid.SampledFrom([]string{"A", "B"}).Draw(t, "name"), Value: word.Draw(t, "value"),
			Sep: rapid.SampledFrom([]string{"", ";"}).Draw(t, "sep"),
		}
	})
	sent := 0
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(directive, 0, 6).Draw(t, "list")
		base := rapid.SampledFrom([][]string{nil, {"A=1"}, {"A=1", "B=2:3"}}).Draw(t, "base")
		infos, err := Envars(list)
		if err != nil {
			if !strings.Contains(err.Error(), "cannot express") {
				t.Fatal(err)
			}
			return
		}
		sent++
		want, err := launch.Environ(base, list)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		back := slices.Clone(infos)
		slices.Reverse(back)
		for _, order := range [][]Info{infos, back} {
			if got := applied(t, base, order); !slices.Equal(got, want) {
				t.Fatalf("%v: %v, want %v", order, got, want)
			}
		}
	})
	if sent < 20 {
		t.Errorf("only %d lists could be sent", sent)
	}
}
