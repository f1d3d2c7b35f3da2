package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"sdm/protocol"
)

func parsed(t *testing.T, env []string, args ...string) (*runOptions, error) {
	t.Helper()
	o := newRunOptions(env)
	f := o.flags()
	if err := f.parse(args, env); err != nil {
		return o, err
	}
	return o, o.check(f)
}

func TestFlagsOfRun(t *testing.T) {
	o, err := parsed(t, []string{"SDM_WAIT=2s", "SDM_NP=9", "SDM_GDB_ARG=-q", "SDM_UNKNOWN=1", "SDM_CWD="},
		"-n", "4", "-x", "a.gdb", "-e", "print x", "-x", "b.gdb", "--env", "A=1=2", "--env-prepend", "P[;]=x", "--env-unset", "B",
		"--env-append", "Q=y", "--env-add", "C=", "--stdin", "all,!0", "--", "./prog", "-n", "7")
	if err != nil {
		t.Fatal(err)
	}
	if want := []scriptFlag{{"-x", "a.gdb"}, {"-e", "print x"}, {"-x", "b.gdb"}}; !cmp.Equal(o.console.scripts, want, cmp.AllowUnexported(scriptFlag{})) {
		t.Errorf("scripts: %v", o.console.scripts)
	}
	directives := []protocol.EnvDirective{
		{Op: "set", Name: "A", Value: "1=2"}, {Op: "prepend", Name: "P", Sep: ";", Value: "x"}, {Op: "unset", Name: "B"},
		{Op: "append", Name: "Q", Value: "y"}, {Op: "add", Name: "C"},
	}
	if diff := cmp.Diff(directives, o.ranks.directives); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"./prog", "-n", "7"}, o.args); diff != "" {
		t.Error(diff)
	}
	if o.np != 4 || o.console.wait != 2*time.Second || o.ranks.stopAt != "main" {
		t.Errorf("np %d, wait %v, stop at %s", o.np, o.console.wait, o.ranks.stopAt)
	}
	if diff := cmp.Diff([]string{"-q"}, o.job.Servers.GDB.Args); diff != "" {
		t.Error(diff)
	}
	if set, err := o.inputRanks(); err != nil || set.String() != "1-3" {
		t.Errorf("stdin ranks %v, %v", set, err)
	}
}

// TestWaitsScale checks that waits that are given stay, and others grow.
func TestWaitsScale(t *testing.T) {
	o := newOptions(nil)
	f := newFlags("run", usageRun)
	o.declare(f)
	if err := f.Parse([]string{"--wait", "3"}); err != nil {
		t.Fatal(err)
	}
	f.scale(4)
	if o.console.wait != 3*time.Second || o.job.Servers.ConnectWait != 2*time.Minute {
		t.Errorf("wait %v, connect-wait %v", o.console.wait, o.job.Servers.ConnectWait)
	}
}

func TestEveryFlagHasAVariable(t *testing.T) {
	env := []string{
		"SDM_NP=2", "SDM_EXECUTE=f", "SDM_BATCH=true", "SDM_FORMAT=ndjson", "SDM_TIMEOUT=1m", "SDM_STOP_AT=entry",
		"SDM_ENV=A=1", "SDM_STDIN=none", "SDM_STDIN_FILE=g", "SDM_TREE=flat", "SDM_CONNECT_WAIT=1s", "SDM_COLOR=never",
		"SDM_RC=h", "SDM_LOG=i", "SDM_LOG_LEVEL=debug", "SDM_RANKS_PER_SERVER=1", "SDM_RANKS_PER_GDB=1", "SDM_SECRET_FILE=j",
		"SDM_FOLD=1.5", "SDM_ECHO=true",
	}
	o, err := parsed(t, env, "prog")
	if err != nil {
		t.Fatal(err)
	}
	c, s := o.console, o.job.Servers
	got := []any{o.np, c.scripts[0].value, c.batch, c.format, c.timeout, o.ranks.stopAt, o.ranks.directives[0].Name, o.ranks.stdin, o.ranks.stdinFile,
		s.Tree, s.ConnectWait, c.color, c.rc, s.LogFlags.File, s.LogFlags.Level, s.PerServer, s.GDB.RanksPerGDB, s.SecretFile, c.fold, c.echo}
	want := []any{2, "f", true, "ndjson", time.Minute, "entry", "A", "none", "g",
		"flat", time.Second, "never", "h", "i", "debug", 1, "1", "j", 1500 * time.Millisecond, true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedOptions(t *testing.T) {
	for _, c := range []struct {
		name, args, want string
	}{
		{"no program", "-n 4", "which program?"},
		{"unknown flag", "--frobs 4 a", "unknown flag: --frobs"},
		{"no number", "-n four a", `--np four: give a whole number`},
		{"no ranks", "-n 0 a", "-n 0: the number of ranks is 1 to"},
		{"too many", "-n 99999999 a", "the number of ranks is 1 to"},
		{"format", "--format xml a", `--format "xml": give text, ndjson`},
		{"color", "--color blue a", `--color "blue": give auto, always, never`},
		{"level", "--log-level loud a", `--log-level "loud": give debug, info, warn, error`},
		{"negative wait", "--wait -1s a", "cannot be negative"},
		{"not a wait", "--wait soon a", `--wait soon: give a duration, such as 500ms, 2s or 1m30s`},
		{"not a time", "--timeout nan a", `--timeout nan: give a duration`},
		{"negative fold", "--fold -1 a", "--fold cannot be negative"},
		{"shared gdbs", "--ranks-per-gdb 0 a", `--ranks-per-gdb "0": give auto or a number from 1 on`},
		{"bad set", "-n 4 --stdin 4 a", "--stdin: "},
		{"bad tree", "--tree bush a", "--tree: "},
		{"bad env", "--env A a", `"A" is not NAME=VALUE`},
		{"bad unset", "--env-unset A=1 a", "give the NAME alone"},
		{"bad separator", "--env-prepend A[;=1 a", "the separator is not closed"},
		{"batch of nothing", "-b a", "-b carries out commands"},
		{"stop nowhere", "--stop-at= a", "--stop-at: where?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parsed(t, nil, strings.Fields(c.args)...)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("sdm run %s: %v; want one line with %q", c.args, err, c.want)
			}
		})
	}
}

func TestListenArgs(t *testing.T) {
	for _, c := range []struct {
		args, addr, program, wrong string
	}{
		{args: "0", addr: ":0", program: "-"},
		{args: "0 -b -e quit", addr: ":0", program: "-"},
		{args: "login:4711 -- ./a -x", addr: "login:4711", program: "./a -x"},
		{args: "[::1]:5 -- a", addr: "[::1]:5", program: "a"},
		{args: "unix:/tmp/s", addr: "unix:/tmp/s", program: "-"},
		{args: "", wrong: "listen where?"},
		{args: "-- ./a", wrong: "listen where?"},
		{args: "5 ./a", wrong: `"./a": a program comes after --`},
		{args: "nowhere", wrong: `"nowhere" is not [HOST:]PORT`},
		{args: "a:99999", wrong: `is not [HOST:]PORT`},
	} {
		o := &listenOptions{options: newOptions(nil)}
		f := o.flags()
		if err := f.parse(strings.Fields(c.args), nil); err != nil {
			t.Fatal(err)
		}
		addr, program, err := o.listenArgs(f)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q: %v, want %q", c.args, err, c.wrong)
			}
			continue
		}
		if err != nil || addr != c.addr || strings.Join(program, " ") != c.program {
			t.Errorf("%q: %q, %q, %v", c.args, addr, program, err)
		}
	}
}

// TestHelpHasGroups checks that help shows each flag of sdm run once, and first those that are used
// most.
func TestHelpHasGroups(t *testing.T) {
	f := newRunOptions(nil).flags()
	help := f.usages()
	f.VisitAll(func(flag *pflag.Flag) {
		line := regexp.MustCompile(`(?m)^ +(-\w, )?--` + flag.Name + `\b[^-]`)
		if n := len(line.FindAllString(help, -1)); n != 1 {
			t.Errorf("--%s: %d times", flag.Name, n)
		}
	})
	first, _, _ := strings.Cut(help, "\n\n")
	for _, name := range maxUsed {
		if !strings.Contains(first, "--"+name+" ") {
			t.Errorf("--%s is not in the first group:\n%s", name, first)
		}
	}
}
