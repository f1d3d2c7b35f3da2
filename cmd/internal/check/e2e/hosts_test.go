package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// remotely returns a starter's line for 2 ranks on each of two simulated hosts. Without the name of
// the interface, Open MPI 6.0.0rc2 uses only the loopback.
func (s *scene) remotely(h *launchtest.Hosts, m starter, path string) []string {
	rsh := filepath.Join(launchtest.Scripts(), "remsh")
	if m.name == "MPICH" {
		return []string{m.command, "-launcher", "ssh", "-launcher-exec", rsh, "-hosts", h.Host(1) + "," + h.Host(2), "-ppn", "2", "-n", "4", path}
	}
	return []string{m.command, "--mca", "plm_rsh_agent", rsh, "--mca", "btl_tcp_if_include", "eth0", "-host", h.Host(1) + ":2," + h.Host(2) + ":2", "-n", "4", path}
}

// TestStartersOnSeveralHosts has one server on each host, in the slots of two ranks.
func TestStartersOnSeveralHosts(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			s := newScene(t)
			s.env = append(s.env, onOneMachine...)
			args := append([]string{"run", "--launcher", "slot"}, hunt...)
			args = append(append(args, "--"), s.remotely(h, m, m.program("ring"))...)
			front := &console{process: s.on(h, 0, "sdm", args...), size: 4}
			front.exits(0)
			hunted(t, front)
		})
	}
}

// TestHostThatIsCutOffDuringLaunch cuts off one of two hosts. The missing ranks must be named, and
// no process may be left.
func TestHostThatIsCutOffDuringLaunch(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	m := starters[1]
	s := newScene(t)
	h.Partition(2)
	front := s.on(h, 0, "sdm", append([]string{"run", "--launcher", "slot", "--connect-wait", "5s", "-b", "-e", "continue", "--"}, s.remotely(h, m, m.program("ring"))...)...)
	if got := front.status(patience); got != 3 && got != 4 {
		t.Errorf("status %d%s", got, front.said())
	}
	front.says("never registered: ")
	h.Heal(2)
}

// TestStaging runs the servers from node-local storage, where no file is left while they run. A
// directory that is not usable is skipped with a message.
func TestStaging(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	m := starters[1]
	s := newScene(t)
	args := []string{"run", "--launcher", "slot", "--stage", "/tmp/node", "--format", "ndjson", "--"}
	front := &console{process: s.on(h, 0, "sdm", append(args, s.remotely(h, m, m.program("ring"))...)...), size: 4}
	front.standing()
	servers := 0
	for _, server := range s.found() {
		if !strings.HasPrefix(server.name, "sdm-server") {
			continue
		}
		servers++
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", server.pid))
		if !strings.HasPrefix(exe, "/tmp/node/sdm-server-") {
			t.Errorf("a server runs %s", exe)
		}
	}
	if servers != 4 {
		t.Errorf("%d processes in the slots", servers)
	}
	for i := 1; i <= 2; i++ {
		look := s.on(h, i, "ls", "-A", "/tmp/node")
		look.exits(0)
		if left := look.out.text(); left != "" {
			t.Errorf("left on host %d: %s", i, left)
		}
	}
	front.quit()
	if offersMPIR() {
		s.stagedByShell(h)
	}

	args = []string{"run", "--launcher", "slot", "--stage", "/nonexistent", "-b", "-e", "continue", "--"}
	bad := &console{process: s.on(h, 0, "sdm", append(args, s.remotely(h, m, m.program("ring"))...)...), size: 4}
	bad.exits(0)
	bad.folded("exited normally", "")
	bad.says("--stage /nonexistent: no such file or directory; the shared program is used")
}

// TestAttachToMPICHOnHosts finds the ranks of a starter without MPIR on its hosts, by the remote
// shell that the starter has used: some, all, and, if one host does not answer, the remaining ones.
// The job runs on to its end.
func TestAttachToMPICHOnHosts(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	s := newScene(t)
	broken := filepath.Join(s.dir, "broken")
	shell := s.file("shell", "#!/bin/sh\n[ ! -e "+broken+" ] || [ $2 != "+h.Host(2)+" ] || { echo no way to $2 >&2; exit 255; }\n"+
		filepath.Join(launchtest.Scripts(), "remsh")+` "$@"`+"\n", 0o700)
	w := &waiters{s: s, file: filepath.Join(s.dir, "go")}
	w.process = s.on(h, 0, mpich.command, "-launcher", "ssh", "-launcher-exec", shell, "-hosts", h.Host(0)+","+h.Host(1)+","+h.Host(2), "-ppn", "1", "-n", "4", mpich.program("mpiwait"), w.file)
	w.allWait(4)
	pid := fmt.Sprint(w.cmd.Process.Pid)
	attach := func(size int, args ...string) *console {
		front := &console{process: s.on(h, 0, "sdm", append(append([]string{"attach", "-b", "-e", "info hosts", "-e", "up 20", "-e", "stacks"}, args...), pid)...), size: size}
		front.exits(0)
		return front
	}
	attach(4).says("[0-3] (4) main mpiwait.c:", "[0,3] (2) "+h.Host(0)+": server 0,", "[1] "+h.Host(1)+": server 1,", "[2] "+h.Host(2)+": server 2,")
	attach(2, "-r", "1-2", "--remote-shell", shell).says("[1-2] (2) main mpiwait.c:", "[1] "+h.Host(1)+": server 0,")
	s.file("broken", "", 0o600)
	attach(3).says("sdm: without rank 2, not found: "+h.Host(2)+": ", "no way to "+h.Host(2), "[0-1,3] (3) main mpiwait.c:")
	absent := s.on(h, 0, "sdm", "attach", "-b", "-r", "2", "-e", "stacks", pid)
	absent.exits(3)
	absent.says("there is no rank 2; the ranks are 0-1,3")
	s.hydraServers(h)
	w.ends(4)
}

// hydraServers starts a server on each host, which attaches to the ranks below the proxy of the
// scene's only job of MPICH, under a master of their own.
func (s *scene) hydraServers(h *launchtest.Hosts) {
	s.t.Helper()
	control := ""
	for _, p := range s.named("hydra_pmi_proxy") {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		if words := strings.Split(string(line), "\x00"); slices.Contains(words, "--control-port") {
			control = words[slices.Index(words, "--control-port")+1]
		}
	}
	front := &console{process: s.on(h, 0, "sdm", "listen", "-b", "-e", "up 20", "-e", "stacks", h.Address(0)+":0"), size: 4}
	addr, _, _ := strings.Cut(front.after(front.err, "start it with: sdm-master --connect "), " ")
	master := s.on(h, 0, "sdm-master", "--connect", addr, "--rendezvous", h.Address(0)+":0", "--session", "hydra")
	meet := master.after(master.err, "servers register at ")
	var all []*process
	for i := range 3 {
		all = append(all, s.on(h, i, "sdm-server", "--server", fmt.Sprint(i), "--size", "3", "--rendezvous", meet, "--session", "hydra", "--hydra", control))
	}
	front.exits(0)
	front.says("[0-3] (4) main mpiwait.c:")
	master.exits(0)
	for _, p := range all {
		p.exits(0)
	}
	bad := s.on(h, 1, "sdm-server", "--server", "0", "--size", "3", "--rendezvous", meet, "--hydra", "nowhere:1")
	bad.exits(2)
	bad.says("no hydra_pmi_proxy --control-port nowhere:1 runs on " + h.Host(1))
}

// stagedByShell lets remote shells transfer the servers, which are then only in node-local storage.
// A node where that is impossible uses the shared program.
func (s *scene) stagedByShell(h *launchtest.Hosts) {
	s.t.Helper()
	s.on(h, 2, "sh", "-c", "mkdir /tmp/node/ro && mount -t tmpfs -o ro none /tmp/node/ro && mkdir -p /tmp/node/d").exits(0)
	run := func(dir string) *console {
		args := []string{"run", "--stage", dir, "--format", "ndjson", "--remote-shell", filepath.Join(launchtest.Scripts(), "remsh"), "--"}
		front := &console{process: s.on(h, 0, "sdm", append(args, s.remotely(h, openMPI, openMPI.program("mpiwait"))...)...), size: 4}
		front.standing()
		return front
	}
	front := run("/tmp/node")
	for r := range 4 {
		pid := look(look(front.pids()[r]).tracer).parent
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); !strings.HasPrefix(exe, "/tmp/node/sdm-server-") || !strings.HasSuffix(exe, " (deleted)") {
			s.t.Errorf("the server of rank %d runs %s", r, exe)
		}
	}
	front.quit()
	s.on(h, 1, "mkdir", "/tmp/node/ro").exits(0)
	front = run("/tmp/node/ro")
	front.await("why not", func(e event) bool {
		return e.Event == "note" && e.Ranks == "2-3" && strings.Contains(e.Text, "--stage /tmp/node/ro: read-only file system; the shared program is used")
	})
	front.quit()
	s.on(h, 1, "rmdir", "/tmp/node/ro").exits(0)
	s.on(h, 2, "sh", "-c", "umount /tmp/node/ro; rmdir /tmp/node/ro /tmp/node/d").exits(0)
	s.nothingStaged(h, 1, 2)
}
