package apps

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAttach attaches to a running job, shows stacks, sets a breakpoint, and detaches. The results
// of the job must be those without a debugger.
func TestAttach(t *testing.T) {
	program := []string{"./ex5", "-snes_monitor_short", "-da_refine", "5"}
	want := results(t, "attach", program...)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	job := exec.CommandContext(ctx, "mpirun.openmpi", append([]string{"-n", ranks}, program...)...)
	job.Dir = bench
	var lines bytes.Buffer
	job.Stdout, job.Stderr = &lines, &lines
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	ranksOf(ctx, t, job.Process.Pid)
	text := run(t, "attach", "sdm", "attach", "--timeout", patience.String(), "--wait", "1m", "--echo", "-b",
		"-e", "stacks", "-e", "break FormJacobianLocal", "-e", "continue", "-e", "backtrace", "-e", "stat info->xs",
		"-e", "delete", "-e", "next", "-e", "stacks", "-e", "detach", strconv.Itoa(job.Process.Pid))
	if err := job.Wait(); err != nil {
		t.Errorf("the job: %v", err)
	}
	if err := os.WriteFile(filepath.Join(bench, "attach.job.txt"), lines.Bytes(), 0o644); err != nil {
		t.Error(err)
	}
	unchanged(t, lines.String(), want)
	// OpenBLAS, where it is what PETSc calls, has helper threads as well.
	has(t, text, `^\[0-7\] \(8\) main ex5\.c:\d+`, `^\[0-7\] \(8, (16|24) threads\) helper threads: libopen-pal\.so\.40 \(8\),( libopenblas\.so\.0 \(8\),)? libpmix\.so\.2 \(8\)`, `^\[0-7\] Breakpoint 1 at ex5\.c:\d+$`, `Breakpoint 1, FormJacobianLocal \(`)
}

// ranksOf waits until all ranks of a job exist. They write nothing before their end.
func ranksOf(ctx context.Context, t *testing.T, starter int) {
	t.Helper()
	children := fmt.Sprintf("/proc/%d/task/%d/children", starter, starter)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if b, err := os.ReadFile(children); err == nil && strconv.Itoa(len(strings.Fields(string(b)))) == ranks {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the ranks do not come")
		}
	}
}
