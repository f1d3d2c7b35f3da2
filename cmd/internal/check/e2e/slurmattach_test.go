// Attaches to running jobs of Slurm: by number, by a tool of the site, and by a second step.

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/launch/launchtest"
)

// TestSlurmAttach has another one for all tests of jobs that run already.
func TestSlurmAttach(t *testing.T) {
	t.Parallel()
	s, cluster := newCluster(t)
	needPlugin := s.slurmPlugins(cluster)
	for k, m := range starters {
		if !inTurn(1, k) {
			continue
		}
		t.Run("servers beside a running job, "+m.name, func(t *testing.T) { needPlugin(t, m); besideAStep(t, s.sub(t), cluster, m) })
	}
	t.Run("attach by a tool, and by srun", func(t *testing.T) { attachByTool(t, s.sub(t), cluster) })
	if *allWays {
		t.Run("ranks with a /tmp of their own", func(t *testing.T) { ownTmp(t, s.sub(t), cluster) })
		t.Run("a job of components", func(t *testing.T) { heterogeneous(t, s.sub(t), cluster) })
	}
	t.Run("full interconnect, sattach of no use", func(t *testing.T) { hardSlurm(t, s.sub(t), cluster) })
	t.Run("attach by the job's number", func(t *testing.T) { attachByNumber(t, s.sub(t), cluster) })
	t.Run("attach to a job in the queue", func(t *testing.T) { attachWhenStarted(t, s.sub(t), cluster) })
	for k, m := range starters {
		if !inTurn(0, k) {
			continue
		}
		t.Run("attach by the number of a job of mpirun, "+m.name, func(t *testing.T) { attachInside(t, s.sub(t), cluster, m) })
	}
}

// attachByNumber attaches from the login node to a step of which only the number is known, in part
// and as a whole. The step runs on to its end.
func attachByNumber(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	end := filepath.Join(s.dir, "end")
	job := s.on(cluster.Hosts, 0, "srun", "-n4", "-N2", "--mpi=none", "sh", "-c",
		fmt.Sprintf("echo name ${SLURM_JOB_SLUID:-$SLURM_JOB_ID}; echo job $SLURM_JOB_ID; while [ ! -e %s ]; do sleep 0.1; done; echo done $SLURM_PROCID", end))
	name := job.after(job.out, "name ") // from Slurm 25.11 on it is no number
	id := job.after(job.out, "job ")
	part := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-r", "1-2", "-e", "ranks", "-e", "detach", "slurm:"+id), size: 2}
	part.exits(0)
	part.says("[1-2] detached\n") // and no others, perhaps at different places
	whole := &console{process: s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-e", "info threads", "slurm:"+name+".0"), size: 4}
	whole.exits(0)
	whole.folded("attached, ", "")
	absent := s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-e", "ranks", "slurm:"+id+".7")
	absent.exits(3)
	s.file("end", "", 0o600)
	job.exits(0)
	job.says("done 0\n", "done 1\n", "done 2\n", "done 3\n")
}

// attachWhenStarted attaches to a job that waits in the queue, as soon as its script has called srun. A front end that is
// interrupted before leaves the job alone.
func attachWhenStarted(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	end := filepath.Join(s.dir, "end")
	script := s.file("job.sh", "#!/bin/sh\nsleep 1\nsrun -n 2 --mpi=none sh -c 'while [ ! -e "+end+" ]; do sleep 0.1; done'\n", 0o700)
	id := s.submit(cluster, "-H", "-n", "2", "-N", "2", "-o", filepath.Join(s.dir, "out"), script)
	attach := func(args ...string) *console {
		args = append([]string{"attach", "--when-started", "-b", "-e", "info threads"}, args...)
		return &console{process: s.on(cluster.Hosts, 0, "sdm", append(args, "slurm:"+id)...), size: 2}
	}
	gone, front := attach(), attach()
	gone.after(gone.err, "has not started its ranks: pending (JobHeldUser)")
	gone.signal(syscall.SIGINT)
	gone.exits(130)
	front.after(front.err, "has not started its ranks: pending (JobHeldUser)")
	s.on(cluster.Hosts, 0, "scontrol", "release", id).exits(0)
	front.exits(0)
	front.folded("attached, ", "")
	s.file("end", "", 0o600)
	s.completes(cluster, id)
	late := attach()
	late.exits(3)
}

// attachInside attaches to jobs of which only the number is known and whose ranks mpirun has
// started. Slurm knows the helpers of mpirun, or nothing at all. The jobs run on to their ends.
func attachInside(t *testing.T, s *scene, cluster *launchtest.Slurm, m starter) {
	s.env = append(s.env, onOneMachine...)
	attach := func(status int, args ...string) *console {
		front := &console{process: s.on(cluster.Hosts, 0, "sdm", append([]string{"attach", "-b", "-e", "up 20", "-e", "stacks"}, args...)...), size: 4}
		front.exits(status)
		return front
	}
	for _, nodes := range []string{"1", "2"} {
		end, out := filepath.Join(s.dir, "end"+nodes), filepath.Join(s.dir, "out"+nodes)
		script := s.file("job.sh", "#!/bin/sh\n"+m.command+" -n 4 "+m.program("mpiwait")+" "+end+"\n", 0o700)
		id := s.submit(cluster, "-n", "4", "-N", nodes, "-o", out, script)
		s.eventually(patience, func() string {
			if text, _ := os.ReadFile(out); strings.Count(string(text), " waits\n") < 4 {
				return fmt.Sprintf("they do not wait: %q", text)
			}
			return ""
		})
		attach(0, "-r", "1-2", "slurm:"+id).says("[1-2] (2) main mpiwait.c:")
		attach(0, "slurm:"+id).says("[0-3] (4) main mpiwait.c:")
		if nodes == "2" { // the step of the helpers
			attach(0, "slurm:"+id+".0").says("[0-3] (4) main mpiwait.c:")
		}
		attach(3, "slurm:"+id+".7").says("job " + id + " has no step 7 now")
		s.file("end"+nodes, "", 0o600)
		s.completes(cluster, id)
		if text, _ := os.ReadFile(out); !strings.Contains(string(text), "4 of 4 ranks counted\n") {
			t.Errorf("it has not ended well: %q", text)
		}
	}
	end := filepath.Join(s.dir, "end")
	serial := s.on(cluster.Hosts, 0, "salloc", "-N1", "sh", "-c", `echo job $SLURM_JOB_ID; while [ ! -e `+end+` ]; do sleep 0.1; done`)
	id := serial.after(serial.out, "job ")
	attach(3, "slurm:"+id).says("slurm:"+id+": srun has started no ranks in it, mpirun perhaps: ", "belongs to job "+id)
	s.file("end", "", 0o600)
	serial.exits(0)
	attach(3, "slurm:"+id).says("sdm: ")
}

// besideAStep is N+1 that attaches, by a second step of the job: the servers with a master
// elsewhere, all N+1 in one line, and servers to which an IDE names the job.
func besideAStep(t *testing.T, s *scene, cluster *launchtest.Slurm, m starter) {
	ranks, id := s.stepOf(cluster, m)
	step := func(tasks string, argv ...string) *process {
		nodes := []string{"--overlap", "--jobid=" + strings.Split(id, ".")[0], "--mpi=none", "-N", "2", "-n", tasks, "-m", "cyclic"}
		return s.on(cluster.Hosts, 0, "srun", append(nodes, argv...)...)
	}
	listen := func() (*console, string) {
		front := &console{process: s.on(cluster.Hosts, 0, "sdm", "listen", "-b", "-e", "up 20", "-e", "stacks", cluster.Address(0)+":0"), size: 4}
		addr, _, _ := strings.Cut(front.after(front.err, "start it with: sdm-master --connect "), " ")
		return front, addr
	}
	t.Run("a master of its own", func(t *testing.T) {
		front, addr := listen()
		master := s.on(cluster.Hosts, 0, "sdm-master", "--connect", addr, "--rendezvous", cluster.Address(0)+":0", "--session", "beside")
		meet := master.after(master.err, "servers register at ")
		servers := step("2", program("sdm-server"), "--rendezvous", meet, "--session", "beside", "--jobid", id)
		(&job{front: front, master: master, starter: servers}).ends(0, 0, 0)
		front.says("[0-3] (4) main mpiwait.c:")
	})
	t.Run("in one line", func(t *testing.T) {
		front, addr := listen()
		meet := fmt.Sprintf("%s:%d", cluster.Address(1), s.freePort())
		lines := s.file("line", fmt.Sprintf("0-1 %s --rendezvous %s --session line --jobid %s\n2 %s --connect %s --rendezvous %s --session line\n",
			program("sdm-server"), meet, id, program("sdm-master"), addr, meet), 0o600)
		all := step("3", "--multi-prog", lines)
		front.exits(0)
		all.exits(0)
		front.says("[0-3] (4) main mpiwait.c:")
		if text := front.said(); strings.Contains(text, "MPI_Init would wait") {
			t.Errorf("a warning about a program that runs already: %s", text)
		}
	})
	t.Run("by the command attach", func(t *testing.T) {
		i, addr := s.ide()
		master := s.on(cluster.Hosts, 0, "sdm-master", "--connect", addr)
		i.accept()
		base := s.freePort()
		servers := step("2", program("sdm-server"), "--port", fmt.Sprint(base))
		var routes []map[string]any
		for n, ranks := range []string{"0-1", "2-3"} {
			routes = append(routes, map[string]any{"server": n, "host": cluster.Host(n + 1), "ranks": ranks, "ports": 1000, "addrs": []string{fmt.Sprintf("%s:%d", cluster.Address(n+1), base)}})
		}
		i.good("initialize", map[string]any{"table": map[string]any{"routes": routes}, "wait": "30s"})
		if no := i.good("attach", map[string]any{"jobid": "99.0", "wait": "none"}); !strings.Contains(no, "belongs to job 99.0 (there are ranks of ") {
			t.Errorf("another job: %s", no)
		}
		if got := i.good("attach", map[string]any{"jobid": id, "wait": "none"}); !strings.Contains(got, `"answered":4`) || strings.Contains(got, `"faults"`) {
			t.Errorf("attach: %s", got)
		}
		i.until("stopped", 4, 0)
		if got := i.good("print", map[string]any{"expr": "6*7"}); !strings.Contains(got, `"values":[{"value":"42","ranks":"0-3"}]`) {
			t.Errorf("print: %s", got)
		}
		i.good("quit", map[string]any{})
		master.exits(0)
		servers.exits(0)
	})
	ranks.ends(4)
}

// stepOf starts a step of four ranks, two on each of two nodes, that wait. which is its name for
// users, JOB.STEP.
func (s *scene) stepOf(cluster *launchtest.Slurm, m starter) (w *waiters, which string) {
	s.t.Helper()
	w = &waiters{s: s, file: filepath.Join(s.dir, "go")}
	w.process = s.on(cluster.Hosts, 0, "srun", "-n4", "-N2", "--ntasks-per-node=2", slurmMPI[m.name], "sh", "-c",
		`[ $SLURM_PROCID != 0 ] || echo step $SLURM_JOB_ID.$SLURM_STEP_ID; exec "$@"`, "sh", m.program("mpiwait"), w.file)
	which = w.after(w.out, "step ")
	w.allWait(4)
	return w, which
}

// attachByTool attaches to a job whose ranks a tool of the site knows, from any login node, and
// then by the process of its srun.
func attachByTool(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	end := filepath.Join(s.dir, "end")
	job := s.on(cluster.Hosts, 0, "srun", "-n4", "-N2", "--mpi=none", "sh", "-c",
		fmt.Sprintf("echo job $SLURM_JOB_ID; while [ ! -e %s ]; do sleep 0.1; done; echo done $SLURM_PROCID", end))
	id := job.after(job.out, "job ")
	tool := s.file("tool", `#!/bin/sh
job=$1 hosts=$2 # and -- DAEMON...; with the job alone it tells where the ranks are
[ $# -eq 1 ] && exec sattach $job.0
shift 3
exec srun --overlap --jobid=$job --mpi=none --input=none --ntasks-per-node=1 --nodelist=$hosts "$@"
`, 0o700)
	for _, target := range [][]string{
		{"--start-tool", tool + " {jobid} {hosts} -- {daemon}", "job:" + id},
		{strconv.Itoa(job.cmd.Process.Pid)},
	} {
		front := &console{process: s.on(cluster.Hosts, 0, "sdm", append([]string{"attach", "-b", "-e", "info threads", "-e", "detach"}, target...)...), size: 4}
		front.exits(0)
		front.folded("attached, ", "")
		front.folded("detached", "")
	}
	bad := s.on(cluster.Hosts, 0, "sdm", "attach", "-b", "-e", "ranks", "--start-tool", "echo no job {jobid} >&2; exit 5", "job:"+id)
	bad.exits(3)
	bad.says("no job "+id, "--start-tool: sh has ended with status 5 before its job was there")
	s.file("end", "", 0o600)
	job.exits(0)
	job.says("done 0\n", "done 1\n", "done 2\n", "done 3\n")
}
