package inferior

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestWithoutDebugInfo(t *testing.T) {
	dir := t.TempDir()
	run := func(line ...string) {
		t.Helper()
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader("#include <unistd.h>\nint main(void) { pause(); return 0; }\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	run("gcc", "-g", "-o", "full", "-x", "c", "-")
	run("objcopy", "--strip-debug", "full", "bare")
	run("objcopy", "--only-keep-debug", "full", "split.debug")
	run("objcopy", "--strip-debug", "--add-gnu-debuglink=split.debug", "full", "split")
	for name, bare := range map[string]bool{"full": false, "bare": true, "split": false} {
		want := ""
		program := filepath.Join(dir, name)
		if bare {
			want = program
		}
		cmd := exec.Command(program)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if got := WithoutDebugInfo(cmd.Process.Pid, false); got != want {
			t.Errorf("%s: %q", name, got)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if got := WithoutDebugInfo(-1, true); got != "" {
		t.Errorf("no process: %q", got)
	}
}
