package main

import (
	"io"
	"log/slog"
	"slices"
	"testing"
)

func TestAdoptedEnvironment(t *testing.T) {
	got := mergedEnviron(
		[]string{"PATH=/rank/bin", "HOME=/home/u", "LD_LIBRARY_PATH=/lib/x", "LD_PRELOAD=/lib/spy.so", "PMI_RANK=3", "OMPI_COMM_WORLD_RANK=3", "SDM_PORT=1", "", "nonsense"},
		[]string{"PATH=/bin", "SDM_LOG=x", "LANG=C"})
	want := []string{"PATH=/rank/bin", "HOME=/home/u", "LD_LIBRARY_PATH=/lib/x", "SDM_LOG=x"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEnvironmentsOfGDB checks what a gdb gets that does not start with the environment of this process:
// in the slots of a starter that is what the ranks were to have, so it is started without what leads the
// loader. gdbs that were started ahead have no other.
func TestEnvironmentsOfGDB(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "/bad")
	t.Setenv("LD_LIBRARY", "x")
	for _, c := range []struct {
		args []string
		want string // how it is started; "": there is no other way
	}{
		{[]string{"--rendezvous", "h:1", "--session", "s", "--per-node", "--", "ring"}, "without LD_LIBRARY_PATH and the like"},
		{[]string{"--link-fd", "3"}, "without LD_LIBRARY_PATH and the like"},
		{[]string{"--link-fd", "3", "--gdbs-ahead", "2"}, ""},
	} {
		o, err := parse(append([]string{"sdm-server"}, c.args...), nil, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := o.configGDB(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		how, env := "", []string(nil)
		if cfg.OwnEnvironment != nil {
			env, how = cfg.OwnEnvironment()
		}
		if how != c.want || how != "" && (slices.Contains(env, "LD_LIBRARY_PATH=/bad") || !slices.Contains(env, "LD_LIBRARY=x")) {
			t.Errorf("%q: %q, %q", c.args, how, env)
		}
	}
	if env := withoutLoader([]string{"PATH=/bin"}); env != nil {
		t.Errorf("there is nothing to leave out, and %q is tried", env)
	}
}
