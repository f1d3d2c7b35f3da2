package apps

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestAttach attaches to a job in the middle of its work, looks, sets a breakpoint, and lets it go: its
// results are those of a job without a debugger.
func TestAttach(t *testing.T) {
	program := []string{"./ex5", "-snes_monitor_short", "-da_refine", "4", "-ksp_rtol", "1e-10"}
	want := results(t, "attach", program...)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	job := exec.CommandContext(ctx, "mpirun.openmpi", append([]string{"-n", ranks}, program...)...)
	job.Dir = bench
	lines := &firstLine{seen: make(chan struct{})}
	job.Stdout, job.Stderr = lines, lines
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lines.seen: // of the solver: the ranks work
	case <-ctx.Done():
	}
	text := run(t, "attach", "sdm", "attach", "--timeout", patience.String(), "--wait", "1m", "--echo", "-b",
		"-e", "stacks", "-e", "break FormJacobianLocal", "-e", "continue", "-e", "backtrace", "-e", "stat info->xs",
		"-e", "delete", "-e", "next", "-e", "stacks", "-e", "detach", strconv.Itoa(job.Process.Pid))
	if err := job.Wait(); err != nil {
		t.Errorf("the job: %v", err)
	}
	if err := os.WriteFile(filepath.Join(bench, "attach.job.txt"), []byte(lines.String()), 0o644); err != nil {
		t.Error(err)
	}
	unchanged(t, lines.String(), want)
	has(t, text, `^\[0-7\] \(8\) main ex5\.c:\d+`, `^\[0-7\] Breakpoint 1 at ex5\.c:\d+$`, `Breakpoint 1, FormJacobianLocal \(`)
}

// firstLine keeps what a job writes, and closes seen at its first line.
type firstLine struct {
	bytes.Buffer
	seen chan struct{}
	told bool
}

func (f *firstLine) Write(b []byte) (int, error) {
	n, err := f.Buffer.Write(b)
	if !f.told && strings.Contains(string(b), "\n") {
		f.told = true
		close(f.seen)
	}
	return n, err
}
