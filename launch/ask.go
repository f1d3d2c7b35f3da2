// Commands of resource managers whose output is wanted.

package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// MaxAnswer bounds the output of a command of a resource manager, in bytes: some 64 for each of a
// million ranks.
const MaxAnswer = 64 << 20

// maxSaid bounds the part of a line on standard error that becomes an error, in bytes.
const maxSaid = 400

// afterAsk is how long to wait for the end of the output of a command that has ended: a descendant
// may keep the output open.
const afterAsk = time.Second

// Ask runs a command of a resource manager to its end, or until ctx ends, and returns its standard
// output, at most MaxAnswer bytes. If the command fails, the error is the last line of the first
// 4 KB of its standard error. The command gets env (nil: this process's) and no input.
func Ask(ctx context.Context, env, argv []string) (string, error) {
	out, _, err := AskBoth(ctx, env, argv)
	return out, err
}

// AskBoth is like Ask, but also returns the first 4 KB of standard error.
func AskBoth(ctx context.Context, env, argv []string) (string, string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.WaitDelay = env, afterAsk
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C reaches only this process
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, said := limited{most: MaxAnswer}, limited{most: 4 << 10}
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success() {
		err = nil // a process that it has left behind keeps its output open
	}
	name := strings.Join(argv[:min(len(argv), 3)], " ")
	switch {
	case err != nil && ctx.Err() != nil:
		return "", "", fmt.Errorf("%s has not answered: %w", name, context.Cause(ctx))
	case err == nil && out.cut:
		return "", "", fmt.Errorf("%s has written more than %d MB", name, MaxAnswer>>20)
	case err == nil:
		return out.b.String(), said.b.String(), nil
	}
	if line := lastLine(said.b.String()); line != "" {
		return "", "", errors.New(line[:min(len(line), maxSaid)])
	}
	return "", "", fmt.Errorf("%s: %w", name, err)
}

// limited keeps the first bytes that are written to it and drops the others.
type limited struct {
	b    bytes.Buffer
	most int
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := min(len(p), l.most-l.b.Len())
	l.b.Write(p[:room])
	l.cut = l.cut || room < len(p)
	return len(p), nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
