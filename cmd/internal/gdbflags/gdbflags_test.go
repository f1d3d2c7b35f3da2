package gdbflags

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// parse reads a command line of these flags.
func parse(t *testing.T, args []string) *Values {
	t.Helper()
	v, f := &Values{}, pflag.NewFlagSet("gdb", pflag.ContinueOnError)
	v.Declare(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLine checks that a server which is started with Line has the same values.
func TestLine(t *testing.T) {
	for _, args := range []string{
		"",
		"--gdb /opt/gdb --gdb-arg -q --gdb-arg -nh",
		"--ranks-per-gdb 4 --index-cache off",
		"--reverse --ignore-aborts --eager-symbols",
	} {
		want := parse(t, strings.Fields(args))
		if diff := cmp.Diff(want, parse(t, want.Line())); diff != "" {
			t.Errorf("%q becomes %q: %s", args, want.Line(), diff)
		}
		if got := strings.Join(want.Line(), " "); len(got) != len(args) {
			t.Errorf("%q becomes %q", args, got)
		}
	}
}

func TestCheck(t *testing.T) {
	for args, want := range map[string]string{
		"--ranks-per-gdb 0":   `--ranks-per-gdb "0": give auto or a number from 1 on`,
		"--index-cache cache": `--index-cache "cache": give auto, off, or the absolute path of a directory`,
	} {
		if err := parse(t, strings.Fields(args)).Check(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if err := (&Values{}).Check(); err != nil {
		t.Errorf("no flags: %v", err)
	}
}
