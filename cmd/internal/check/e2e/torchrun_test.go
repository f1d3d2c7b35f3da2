package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// trainer is a script that says which rank it is and waits for a file. A child of a worker, as one
// that loads data, has the variables of the worker.
const trainer = `import os, subprocess, sys, time
loader = subprocess.Popen(["sleep", "1000"])
sys.stdout.write(" ".join(["rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"]] + sys.argv[2:]) + "\n")  # in one write, also with -u
sys.stdout.flush()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.1)
loader.kill()
loader.wait()
print("done", os.environ["RANK"], flush=True)
`

// torchruns are the real torchrun, where torch is installed, and the stand-in of testdata/torchrun.
// Debian 12's torch 1.13 fails with its own Python 3.11 unless a map is given for -r and -t.
func torchruns(t *testing.T) map[string][]string {
	all := map[string][]string{"stand-in": {filepath.Join(launchtest.Scripts(), "../torchrun/torchrun")}}
	path, err := exec.LookPath("torchrun")
	if err != nil {
		t.Log("only the stand-in: there is no real torchrun here (python3-torch)")
		return all
	}
	real := []string{path, "-r", "9:1", "-t", "9:1"}
	// Debian's torch from 2.6 on is built without what its own torchrun demands (libuv).
	if out, err := exec.Command(path, append(real[1:], "--no_python", "true")...).CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Logf("only the stand-in: the real torchrun fails here: %s", lines[len(lines)-1])
		return all
	}
	all["real"] = real
	return all
}

// TestTorchrun debugs the workers of torchrun from their beginning, and attaches to workers of a
// job that runs, by the ID of the run, by its address, and by the process of the agent.
func TestTorchrun(t *testing.T) {
	for name, torchrun := range torchruns(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			script := s.file("train.py", trainer, 0o600)
			s.file("go", "", 0o600)
			line := append([]string{"run", "-b", "-e", "info hosts", "-e", "continue", "--stop-at", "entry", "--"}, torchrun...)
			line = append(line, "--nproc_per_node", "2", "--max_restarts", "3", script, filepath.Join(s.dir, "go"), "--lr", "1")
			front := &console{process: s.start("sdm", line...), size: 2}
			front.exits(0)
			front.folded("exited normally", "")
			front.says("rank 0 of 2 --lr 1\n", "rank 1 of 2 --lr 1\n", "server 0, ", "torchrun gets --max_restarts=0 in place of 3", "while ranks are held, the time of their process groups goes on")

			port := fmt.Sprint(s.freePort())
			end := filepath.Join(s.dir, "end")
			agent := s.start(torchrun[0], append(torchrun[1:], "--nproc_per_node", "2", "--master_port", port, "--rdzv_id", "run"+port, script, end)...)
			agent.after(agent.out, "rank 0 of 2")
			agent.after(agent.out, "rank 1 of 2")
			for _, target := range []string{"torchrun:run" + port, "torchrun:127.0.0.1:" + port, fmt.Sprint(agent.cmd.Process.Pid)} {
				front := &console{process: s.start("sdm", "attach", "-b", "-e", "info hosts", "-e", "detach", target), size: 2}
				front.exits(0)
				front.says("server 0, ", "python", "[0-1] detached\n", "while ranks are held")
			}
			nothing := s.start("sdm", "attach", "-b", "-e", "ranks", "torchrun:other"+port)
			nothing.exits(3)
			nothing.says("belongs to job torchrun:other"+port+" (there are ranks of", "torchrun:run"+port+"@127.0.0.1:"+port)
			s.file("end", "", 0o600)
			agent.exits(0)
		})
	}
}

// TestTorchrunOnHosts has a job with an agent on each of two hosts and another job of the same ID.
// The hosts are reached as pods, by kubectl.
func TestTorchrunOnHosts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	h := launchtest.Up(t, 3)
	script, end := s.file("train.py", trainer, 0o600), filepath.Join(s.dir, "end")
	torchrun := filepath.Join(launchtest.Scripts(), "../torchrun/torchrun")
	agent := func(host int, args ...string) *process {
		p := s.on(h, host, torchrun, append(args, "--master_addr", h.Address(1), "--nproc_per_node", "2", script, end)...)
		p.after(p.out, "rank ")
		p.after(p.out, "rank ")
		return p
	}
	agents := []*process{
		agent(1, "--nnodes", "2", "--node_rank", "0"), agent(2, "--nnodes", "2", "--node_rank", "1"),
		agent(2, "--master_port", "29600"),
	}
	kubectl := filepath.Join(launchtest.Scripts(), "kubectl")
	attach := func(status int, target string, args ...string) *process {
		args = append([]string{"attach", "-b", "-e", "info hosts", "-e", "detach", "--remote-shell", kubectl + " exec -i -n train -c main", "--hosts", h.Host(1) + "," + h.Host(2)}, args...)
		p := s.on(h, 0, "sdm", append(args, target)...)
		p.exits(status)
		return p
	}
	attach(3, "torchrun:none").says("torchrun:none is several jobs: torchrun:none@" + h.Address(1) + ":29500, torchrun:none@" + h.Address(1) + ":29600 (give one of these names)")
	attach(0, "torchrun:"+h.Address(1)+":29500").says("[0-3] detached\n", h.Host(1), h.Host(2))
	part := attach(0, "torchrun:"+h.Address(1)+":29500", "--hosts", h.Host(2))
	part.says("without ranks 0-1, not found", "[2-3] detached\n")
	byPID := s.on(h, 1, "sdm", "attach", "-b", "-e", "detach", "--remote-shell", kubectl, "--hosts", h.Host(1)+","+h.Host(2), fmt.Sprint(agents[0].cmd.Process.Pid))
	byPID.exits(0)
	byPID.says("[0-3] detached\n")
	s.file("end", "", 0o600)
	for _, a := range agents {
		a.exits(0)
	}
	if text := agents[0].out.text(); !strings.Contains(text, "done 0") {
		t.Errorf("%s", text)
	}
}
