package mpir

import (
	"errors"
	"strings"
	"testing"
)

func TestCoLaunch(t *testing.T) {
	starter := compile(t, "starter", starterSource)
	var prepared error
	r := begin(t, Spec{Argv: []string{starter}, Prepare: func(m Memory) {
		prepared = CoLaunch(m, "/bin/daemon", []string{"--a", "two words", "x"})
	}})
	r.held()
	if prepared != nil {
		t.Fatal(prepared)
	}
	r.l.Release()
	r.l.Status()
	if want := "path /bin/daemon args [--a] [two words] [x]\n"; !strings.Contains(r.text(), want) {
		t.Errorf("no %q in %q", want, r.text())
	}
}

func TestCoLaunchRefuses(t *testing.T) {
	f := newFake(1, 5)
	if err := CoLaunch(f, "/d", nil); !errors.Is(err, ErrNoCoLaunch) {
		t.Errorf("%v", err)
	}
	f.symbols[symPath], f.symbols[symArguments] = symbol{base + 60, 8}, symbol{base + 70, 8}
	for _, c := range []struct {
		path string
		args []string
		want string
	}{
		{"/too/long", []string{"a"}, "no room"},
		{"/d", []string{"much longer"}, "no room"},
		{"/d", []string{""}, "cannot be an argument"},
		{"/d", []string{"a\x00b"}, "cannot be an argument"},
	} {
		if err := CoLaunch(f, c.path, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v", c.path, c.args, err)
		}
	}
	if err := CoLaunch(f, "/d", []string{"a", "b"}); err != nil || string(f.bytes[60:63]) != "/d\x00" || string(f.bytes[70:75]) != "a\x00b\x00\x00" {
		t.Errorf("%v, %q", err, f.bytes[60:80])
	}
}
