package pmix

import (
	"os/exec"
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

// TestByShell has a real shell execute what a server would not, and compares with launch.Environ.
func TestByShell(t *testing.T) {
	list := []protocol.EnvDirective{
		{Op: "add", Name: "NEW", Value: "a $b 'c'"},
		{Op: "prepend", Name: "OLD", Value: "x y"}, {Op: "append", Name: "NONE", Value: "1", Sep: ","}, {Op: "append", Name: "NONE", Value: "2", Sep: ","},
		{Op: "prepend", Name: "PATH", Value: "/in/front"}, {Op: "append", Name: "PATH", Value: "/behind"},
		{Op: "unset", Name: "GONE"}, {Op: "add", Name: "STAYS", Value: "not me"}, {Op: "set", Name: "SET", Value: "s"},
	}
	infos, err := Envars(list)
	if err != nil {
		t.Fatal(err)
	}
	base := []string{"OLD=old", "PATH=/usr/bin:/bin", "GONE=1", "STAYS="}
	want, err := launch.Environ(base, list)
	if err != nil {
		t.Fatal(err)
	}
	a, err := App{Argv: []string{"env", "-0", "A=b"}, Info: infos}.byShell(Version{})
	if err != nil || len(a.Info) != 1 || a.Info[0].Key != SetEnvar {
		t.Fatal(a, err)
	}
	cmd := exec.Command(a.Argv[0], a.Argv[1:]...)
	cmd.Env = append(base, "SET=s") // as the server does
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range append(want, "A=b") {
		if !strings.Contains("\x00"+string(out), "\x00"+one+"\x00") {
			t.Errorf("no %q in %q", one, out)
		}
	}
	if strings.Contains(string(out), "GONE=") {
		t.Errorf("%q", out)
	}
	for _, one := range []Info{String(UnsetEnvar, "A.B"), OfEnvar(AddEnvar, Envar{"a;reboot", "", ":"})} {
		if _, err := (App{Argv: []string{"true"}, Info: []Info{one}}).byShell(Version{}); err == nil {
			t.Errorf("%v is not refused", one)
		}
	}
}

func TestSetByRequest(t *testing.T) {
	a := App{Env: []string{"X=1"}, Info: []Info{OfEnvar(SetEnvar, Envar{"A", "b=c", ":"}), String(UnsetEnvar, "B")}}.setByRequest()
	if !slices.Equal(a.Env, []string{"X=1", "A=b=c"}) || len(a.Info) != 1 || a.Info[0].Key != UnsetEnvar {
		t.Errorf("%+v", a)
	}
}
