package local

import (
	"errors"
	"io"
	"syscall"
	"testing"
)

func TestTTY(t *testing.T) {
	bothWays(t, func(t *testing.T, f *Forker) {
		const script = `test -t 1 && test -t 2 && echo terminals; echo to stderr >&2; test -t 0 && echo fed; cat`
		for _, c := range []struct {
			name, typed, want string
			stdin             bool
		}{
			{"not fed", "", "terminals\nto stderr\n", false},
			{"fed", "one\ntwo\n", "terminals\nto stderr\nfed\none\ntwo\n", true},
			{"a last line without end", "one\ntwo", "terminals\nto stderr\nfed\none\ntwo", true},
			{"nothing", "", "terminals\nto stderr\nfed\n", true},
		} {
			t.Run(c.name, func(t *testing.T) {
				p := hold(t, f, Spec{Program: "sh", Args: []string{"-c", script}, TTY: true, Stdin: c.stdin})
				if p.Stderr != nil || (p.Stdin != nil) != c.stdin {
					t.Errorf("streams %v, %v", p.Stdin, p.Stderr)
				}
				if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				if c.stdin {
					if _, err := io.WriteString(p.Stdin, c.typed); err != nil {
						t.Fatal(err)
					}
					p.Stdin.Close()
				}
				out, err := io.ReadAll(p.Stdout)
				// EIO: no process has the slave open
				if string(out) != c.want || !errors.Is(err, syscall.EIO) {
					t.Errorf("%q, %v; want %q", out, err, c.want)
				}
				p.Stdout.Close()
				if exit := p.Wait(); exit.Code != 0 || exit.Signal != "" {
					t.Errorf("it ended with %+v", exit)
				}
			})
		}
	})
}
