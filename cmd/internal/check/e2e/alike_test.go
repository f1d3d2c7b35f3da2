package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGDBsHaveTheEnvironmentOfTheJob checks that gdbs have the environment and the working directory of the
// job, regardless of who has started the servers, without the variables that make a process a rank
// or load something into it.
func TestGDBsHaveTheEnvironmentOfTheJob(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	o := newOnHosts(t)
	work := filepath.Join(o.dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(o.dir, "log")
	o.env = append(o.env, "REMSH_LOG="+log)
	line := o.line("-x", "OF_A_MODULE=yes", "-x", "LD_PRELOAD=libm.so.6", "--wdir", work, openMPI.program("mpiwait"), "never")
	secret := filepath.Join(o.dir, ".config/sdm/secret")
	for _, way := range []struct {
		name  string
		flags []string
		file  bool // the secret is read from a file
	}{
		{"remote shell", []string{"--remote-shell", o.remsh()}, false},
		{"start tool", []string{"--start-tool", "for h in $(echo {hosts} | tr , ' '); do " + o.remsh() + " $h {daemon} & done; wait"}, true},
		{"the starter", nil, true},
	} {
		t.Run(way.name, func(t *testing.T) {
			args := append([]string{"run", "--format", "ndjson"}, way.flags...)
			front := &console{process: o.here("sdm", append(append(args, "--"), line...)...), size: 4}
			for r := range 4 {
				front.comes("stopped", fmt.Sprint(r))
			}
			for r := range 4 {
				rank, gdb := environ(t, front.pids()[r]), environ(t, front.gdbOf(r))
				if rank["LD_PRELOAD"] == "" || rank["OMPI_COMM_WORLD_RANK"] == "" {
					t.Fatalf("rank %d: %q", r, rank)
				}
				for _, name := range []string{"HOME", "PATH", "OF_A_MODULE"} {
					if rank[name] == "" || gdb[name] != rank[name] {
						t.Errorf("rank %d: %s is %q, gdb's %q", r, name, rank[name], gdb[name])
					}
				}
				for _, name := range []string{"LD_PRELOAD", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"} {
					if got, there := gdb[name]; there {
						t.Errorf("rank %d: gdb has %s=%s", r, name, got)
					}
				}
				if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", front.gdbOf(r))); dir != work {
					t.Errorf("rank %d: gdb is in %s, %v", r, dir, err)
				}
			}
			front.quit()
			if _, err := os.Stat(secret); (err == nil) != way.file {
				t.Errorf("the secret's file: %v", err)
			}
		})
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), "--secret-fd 3") {
		t.Errorf("the remote shell was told %q, %v", text, err)
	}
	left, err := filepath.Glob(filepath.Join(o.dir, ".config/sdm/*"))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the secret there is %q, %v", left, err)
	}
}
