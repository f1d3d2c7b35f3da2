package launch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAsk(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	for _, c := range []struct{ script, want, err string }{
		{"echo a; echo b >&2", "a\n", ""},
		{"echo a; echo why >&2; echo because >&2; exit 3", "", "because"},
		{"exit 3", "", "/bin/sh -c exit 3: exit status 3"},
		{"yes | head -c 70000000", "", "more than 64 MB"},
	} {
		got, err := Ask(ctx, nil, []string{"/bin/sh", "-c", c.script})
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.script, got, err, c.want, c.err)
		}
	}
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the time is over")) })
	if _, err := Ask(ctx, nil, []string{"/bin/sh", "-c", "sleep 60; true"}); err == nil || !strings.HasSuffix(err.Error(), "has not answered: the time is over") {
		t.Errorf("a command that hangs: %v", err)
	}
}

// TestAskOfACommandThatLeavesAProcess has a command succeed whose child keeps its output open.
func TestAskOfACommandThatLeavesAProcess(t *testing.T) {
	t.Parallel()
	got, err := Ask(t.Context(), nil, []string{"sh", "-c", "sleep 5 & echo answer; echo warning >&2"})
	if got != "answer\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
