package ssh

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestAsk checks that answers come in the order of the commands, and that each failure has its
// reason.
func TestAsk(t *testing.T) {
	path, _ := shell(t, `[ $host = bad ] && { echo "no route to $host" >&2; exit 255; }; exec sh -c "$*"`)
	var commands []Command
	for _, host := range []string{"a", "bad", "b", "long", "c"} {
		argv := []string{"/bin/sh", "-c", `echo "$0 is $1"; echo aside >&2`, "it's", host}
		if host == "long" {
			argv = []string{"/bin/sh", "-c", `head -c 5000000 /dev/zero`}
		}
		commands = append(commands, Command{Host: host, Argv: argv, Local: host == "c"})
	}
	answers := Ask(context.Background(), Spec{Shell: []string{path}, Commands: commands, AtOnce: 2})
	for i, want := range []string{"it's is a\n", "exit status 255: no route to bad", "it's is b\n", "its answer is longer than 4194304 bytes", "it's is c\n"} {
		a := answers[i]
		got := string(a.Out)
		if a.Err != nil {
			got = a.Err.Error()
		}
		if a.Host != commands[i].Host || a.Err == nil && got != want || a.Err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", a.Host, got, want)
		}
	}
	if len(Ask(context.Background(), Spec{})) != 0 {
		t.Error("an answer that was not asked for")
	}
}

// TestAskEndsWithItsContext ends a shell that hangs.
func TestAskEndsWithItsContext(t *testing.T) {
	path, _ := shell(t, `exec sleep 1000`)
	ctx, cancel := context.WithTimeoutCause(context.Background(), 200*time.Millisecond, errors.New("patience is over"))
	defer cancel()
	for _, a := range Ask(ctx, Spec{Shell: []string{path}, Commands: []Command{{Host: "a"}, {Host: "b"}}, AtOnce: 1}) {
		if a.Err == nil || !strings.Contains(a.Err.Error(), "patience is over") {
			t.Errorf("%s: %v", a.Host, a.Err)
		}
	}
}
