package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// withoutGDB hides gdb, its data, its Python and its character set modules on some hosts.
func (s *scene) withoutGDB(h *launchtest.Hosts, hosts ...int) {
	s.t.Helper()
	empty := filepath.Join(s.dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		s.t.Fatal(err)
	}
	gdb, err := exec.LookPath("gdb")
	if err != nil {
		s.t.Fatal(err)
	}
	hide := `mount --bind /dev/null "$2" && for d in /usr/share/gdb /usr/share/gcc /usr/lib/python3* /usr/local/lib/python3* /usr/lib/*/gconv; do [ ! -d $d ] || mount --bind "$1" $d || exit; done`
	for _, i := range hosts {
		s.on(h, i, "sh", "-c", hide, "sh", empty, gdb).exits(0)
		s.on(h, i, "gdb", "--version").exits(126) // it is hidden
	}
}

// nothingStaged waits until the node-local storage of some hosts is empty.
func (s *scene) nothingStaged(h *launchtest.Hosts, hosts ...int) {
	s.t.Helper()
	for _, i := range hosts {
		s.eventually(patience, func() string {
			out, err := h.On(i, "ls", "-A", "/tmp/node").Output()
			if text := strings.TrimSpace(string(out)); err != nil || text != "" {
				return fmt.Sprintf("on %s: %s, %v", h.Host(i), text, err)
			}
			return ""
		})
	}
}

// stagedLine returns the line that starts containers.cc on two hosts, by their slots.
func (s *scene) stagedLine(h *launchtest.Hosts, flags ...string) []string {
	flags = append([]string{"run", "--launcher", "slot", "--stage-gdb"}, flags...)
	return append(append(flags, "--"), s.remotely(h, starters[1], program("containers"))...)
}

// stagedBySlurm lets sbcast and srun --bcast copy the servers to the nodes of a job. The copies on
// nodes without a server are removed.
func stagedBySlurm(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	calls := filepath.Join(s.dir, "calls")
	real, err := exec.LookPath("sbcast")
	if err != nil {
		t.Fatal(err)
	}
	s.file("sbcast", fmt.Sprintf("#!/bin/sh\n%s \"$@\" && echo copied >>%s\n", real, calls), 0o700)
	s.env = append(s.env, "PATH="+s.dir+":"+os.Getenv("PATH"))
	run := []string{"-N3", "-n", "6", program("sdm"), "run", "-n", "2", "--launcher-arg", "-N1", "--launcher-arg", slurmMPI["MPICH"], "-b", "-e", "continue"}
	front := &console{process: s.on(cluster.Hosts, 0, "salloc", append(run, "--stage", "/tmp/node", starters[1].program("ring"))...), size: 2}
	front.exits(0)
	front.folded("exited normally", "")
	if text, _ := os.ReadFile(calls); string(text) != "copied\n" {
		t.Errorf("sbcast: %q", text)
	}
	s.nothingStaged(cluster.Hosts, 1, 2, 3)
	bad := &console{process: s.on(cluster.Hosts, 0, "salloc", append(run, "--stage", "/nonexistent", starters[1].program("ring"))...), size: 2}
	bad.exits(0)
	bad.says("[0-1] --stage /nonexistent: no such file or directory; the shared program is used")

	w, which := s.stepOf(cluster, starters[1])
	front = &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "--stage", "/tmp/node", "--format", "ndjson", "slurm:"+which), size: 4}
	front.standing()
	if servers := s.stagedServers(); servers != 2 {
		t.Errorf("%d servers run from node-local storage", servers)
	}
	front.quit()
	s.nothingStaged(cluster.Hosts, 1, 2, 3)
	w.ends(4)
}

// TestStagedGDB debugs on hosts without gdb, with a copy of ours and its Python, of which nothing
// is left.
func TestStagedGDB(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	s := newScene(t)
	s.withoutGDB(h, 1, 2)
	front := &console{process: s.on(h, 0, unraced("sdm"), s.stagedLine(h, "--stage", "/tmp/node", "-b",
		"-e", fmt.Sprintf("break containers.cc:%d", lineOf(t, "containers.cc", "return 0;")), "-e", "continue",
		"-e", "print words", "-e", "print greeting", "-e", `print L"größer"`, "-e", `gdb python import json, ctypes; print("in " + json.__file__)`,
		"-e", "gdb show auto-load safe-path", "-e", "continue")...), size: 4}
	front.exits(0)
	front.says(`words = std::map with 2 elements = {["one"] = 1, ["two"] = 2}`, `greeting = "grüße"`, `= L"größer"`, "in /tmp/node/sdm-gdb-", "thrown on purpose")
	front.folded("exited normally", "")
	s.nothingStaged(h, 1, 2)
}

// TestStagedGDBAfterAKill checks that nothing is left on the nodes after sdm or a server is
// killed.
func TestStagedGDBAfterAKill(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	for i, whom := range []string{"sdm", "sdm-server"} {
		if !inTurn(1, i) {
			continue
		}
		t.Run(whom, func(t *testing.T) {
			s := newScene(t)
			front := &console{process: s.on(h, 0, unraced("sdm"), s.stagedLine(h, "--stage", "/tmp/node", "--format", "ndjson")...), size: 4}
			front.standing()
			for _, i := range []int{1, 2} {
				if out, err := h.On(i, "sh", "-c", "ls -d /tmp/node/sdm-gdb-*/bin/gdb").CombinedOutput(); err != nil {
					t.Errorf("on %s: %s", h.Host(i), out)
				}
			}
			for _, p := range s.found() {
				if p.name == whom || whom == "sdm-server" && strings.HasPrefix(p.name, whom) {
					exec.Command("kill", "-9", fmt.Sprint(p.pid)).Run()
				}
			}
			if whom == "sdm-server" {
				front.typed("quit 0")
			}
			front.status(patience)
			s.nothingStaged(h, 1, 2)
		})
	}
}

// TestStagedGDBThatDoesNotFit checks that the gdb of the node is used, and that the reason is
// reported for each node.
func TestStagedGDBThatDoesNotFit(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	s := newScene(t)
	for i, options := range map[int]string{1: "ro", 2: "noexec"} {
		s.on(h, i, "sh", "-c", "mkdir /tmp/node/d && mount -t tmpfs -o "+options+" none /tmp/node/d").exits(0)
	}
	args := []string{"-b", "-e", "print numbers.size() > 0", "-e", "continue"}
	front := &console{process: s.on(h, 0, unraced("sdm"), s.stagedLine(h, append(args, "--stage", "/tmp/node/d")...)...), size: 4}
	front.exits(0)
	front.folded("exited normally", "")
	front.says("--stage-gdb on "+h.Host(1)+" (ranks 0-1): /tmp/node/d: read-only file system; the gdb that is there is used",
		"--stage-gdb on "+h.Host(2)+" (ranks 2-3): /tmp/node/d: it is mounted noexec, and programs are to be run from there; the gdb that is there is used",
		"--stage /tmp/node/d: read-only file system; the shared program is used",
		"--stage /tmp/node/d: it is mounted noexec, and programs are to be run from there; the shared program is used")
	if *allWays {
		for _, i := range []int{1, 2} {
			s.on(h, i, "sh", "-c", "umount /tmp/node/d; mount -t tmpfs -o size=30m none /tmp/node/d").exits(0)
		}
		full := &console{process: s.on(h, 0, unraced("sdm"), s.stagedLine(h, append(args, "--stage", "/tmp/node/d")...)...), size: 4}
		full.exits(0)
		full.says("--stage-gdb on "+h.Host(1)+", "+h.Host(2)+" (ranks 0-3): /tmp/node/d: only ", " MB are free, and ", "; the gdb that is there is used")
	}
	for _, c := range []struct{ args, want string }{
		{"run --stage-gdb -- mpirun.openmpi -n 1 true", "--stage-gdb: where to? (--stage DIR"},
		{"run --stage tmp -- mpirun.openmpi -n 1 true", "--stage tmp: give an absolute path"},
		{"attach --stage /tmp --stage-gdb --gdb /bin/sh/gdb 1", "--stage-gdb: /bin/sh/gdb: no such program here"},
	} {
		bad := s.on(h, 0, "sdm", strings.Fields(c.args)...)
		bad.exits(2)
		bad.says(c.want)
	}
}
