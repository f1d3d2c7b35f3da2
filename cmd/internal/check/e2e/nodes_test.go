package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// onHosts is a scene on 4 simulated hosts, for Open MPI.
type onHosts struct {
	*scene
	*launchtest.Hosts
}

func newOnHosts(t *testing.T) *onHosts {
	t.Helper()
	h := launchtest.Up(t, 4)
	s := newScene(t)
	remsh := filepath.Join(launchtest.Scripts(), "remsh")
	// Open MPI 5 would put all ranks on the first host.
	s.env = slices.DeleteFunc(s.env, func(e string) bool { return strings.HasPrefix(e, "PRTE_MCA_rmaps_default_mapping_policy=") })
	s.env = append(append(s.env, onOneMachine...), "OMPI_MCA_plm_rsh_agent="+remsh, "PRTE_MCA_plm_ssh_agent="+remsh,
		"REMSH_ENV=OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME="+s.dir+" "+s.env[0])
	return &onHosts{s, h}
}

func (o *onHosts) remsh() string { return filepath.Join(launchtest.Scripts(), "remsh") }

// here starts a program on the first host.
func (o *onHosts) here(name string, args ...string) *process {
	o.scene.t.Helper()
	path, err := o.find(name)
	if err != nil {
		o.scene.t.Fatal(err)
	}
	argv := o.Argv(0, append([]string{path}, args...)...)
	return o.start(argv[0], argv[1:]...)
}

// line returns the starter's line of a job of 4 ranks on 4 hosts.
func (o *onHosts) line(program ...string) []string {
	hosts := []string{o.Host(0), o.Host(1), o.Host(2), o.Host(3)}
	return append([]string{openMPI.command, "--host", strings.Join(hosts, ","), "-n", "4"}, program...)
}

// TestRunOnFourHosts holds a job on four hosts, with servers started by the starter itself, by a
// remote shell, and by a start tool.
func TestRunOnFourHosts(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	o := newOnHosts(t)
	for name, way := range map[string][]string{
		"the starter":                nil,
		"the starter, by a file":     {"--gdb-arg", "-iex", "--gdb-arg", "set prompt " + strings.Repeat("x", 1200)},
		"an argument of it":          {"--starter-args", "openmpi"},
		"an argument, as a template": {"--starter-args", "--mca orte_debugger_test_daemon {daemon}"},
		"remote shell":               {"--remote-shell", o.remsh()},
		"start tool":                 {"--start-tool", "for h in $(echo {hosts} | tr , ' '); do " + o.remsh() + " $h {daemon} & done; wait"},
	} {
		if further := strings.HasPrefix(name, "an argument"); further && !*allWays {
			continue // the same daemons are started by the same starter
		}
		t.Run(name, func(t *testing.T) {
			args := append([]string{"run", "-b", "-e", "stacks", "-e", "break sum", "-e", "continue",
				"-e", "print mine->first", "-e", "delete", "-e", "continue"}, way...)
			front := &console{process: o.here("sdm", append(append(args, "--"), o.line(openMPI.program("ring"))...)...), size: 4}
			front.exits(0)
			front.says("[0-3] (4) main ring.c:", "[0] mine->first = 1\n", "[3] mine->first = 76\n", "total 4950")
			front.folded("exited normally", "")
		})
	}
}

// TestStarterArgs has a special starter, which takes a daemon and its arguments in one word, on one
// host, and with ranks on other hosts that are not controlled.
func TestStarterArgs(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	o := newOnHosts(t)
	script := o.file("tool.sh", `#!/bin/sh
[ "$1" = --tool ] && [ "$3" = --tool-arguments ] || exit 64
printf '#!/bin/sh\nexec %s %s\n' "$2" "$4" >`+o.dir+`/daemon; chmod +x `+o.dir+`/daemon; shift 4
exec mpirun.openmpi --mca orte_debugger_test_daemon `+o.dir+`/daemon "$@"
`, 0o700)
	flags := []string{"run", "-b", "-e", "ranks", "-e", "continue", "--starter", "tool.sh", "--starter-args", `--tool {daemon} --tool-arguments "{args}"`}
	front := &console{process: o.here("sdm", append(flags, "--", script, "-n", "2", openMPI.program("ring"))...), size: 2}
	front.exits(0)
	front.says("total 4950")
	front.folded("exited normally", "")
	line := o.line(openMPI.program("ring"))
	front = &console{process: o.here("sdm", append(append(flags, "-r", "1,3", "--", script), line[1:]...)...), size: 4}
	front.exits(0)
	front.says("[1,3]", "total 4950")
	for _, c := range []struct{ args, want string }{
		{"run --starter-args openmpi true", "no starter is used"},
		{"run --starter-args x -- mpirun.openmpi -n 1 true", "--starter-args x: it has no {daemon}"},
	} {
		bad := o.here("sdm", strings.Fields(c.args)...)
		bad.exits(2)
		bad.says(c.want)
	}
}

// TestServersThatCannotBeStarted checks that the host and its message are reported, and that its
// rank is lost. If all are lost, the job ends.
func TestServersThatCannotBeStarted(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	o := newOnHosts(t)
	broken := o.file("broken", "#!/bin/sh\n[ \"$1\" = "+o.Host(2)+" ] && { echo no way to $1 >&2; exit 255; }\nexec "+o.remsh()+" \"$@\"\n", 0o700)
	front := o.here("sdm", append([]string{"run", "-b", "-e", "ranks", "--remote-shell", broken, "--"}, o.line(openMPI.program("mpiwait"), "never")...)...)
	front.exits(1)
	front.says("[2] lost: the server cannot be started: ", "exit status 255: no way to "+o.Host(2))
	deaf := o.file("deaf", "#!/bin/sh\nexec "+o.remsh()+" \"$@\" </dev/null\n", 0o700)
	front = o.here("sdm", append([]string{"run", "-b", "-e", "ranks", "--remote-shell", deaf, "--"}, o.line(openMPI.program("mpiwait"), "never")...)...)
	front.exits(1)
	front.says("--secret-fd 3 brings no secret (does the remote shell hand standard input on? else give sdm --secret-file PATH")
	front = o.here("sdm", append([]string{"run", "-b", "-e", "ranks", "--secret-file", o.secret("key", "7"), "--remote-shell", deaf, "--"}, o.line(openMPI.program("mpiwait"), "never")...)...)
	front.exits(0)
	front = o.here("sdm", append([]string{"run", "-b", "-e", "continue", "--start-tool", "exit 3", "--"}, o.line(openMPI.program("mpiwait"), "never")...)...)
	front.exits(4)
	front.says("--start-tool: sh has ended with status 3")
}

// TestAttachOnFourHosts attaches to a running job on four hosts, by its starter and by a list of
// its processes, and leaves it running.
func TestAttachOnFourHosts(t *testing.T) {
	t.Parallel()
	o := newOnHosts(t)
	file := filepath.Join(o.dir, "go")
	line := o.line(openMPI.program("mpiwait"), file)
	w := &waiters{process: o.here(line[0], line[1:]...), s: o.scene}
	o.eventually(patience, func() string {
		if strings.Count(w.out.text(), " waits\n") < 4 {
			return "they do not wait" + w.said()
		}
		return ""
	})
	pid := strconv.Itoa(w.cmd.Process.Pid)
	front := &console{process: o.here("sdm", "attach", "-b", "-e", "stacks", "--remote-shell", o.remsh(), pid), size: 4}
	front.exits(0)
	front.says("[0-3] (4) main mpiwait.c:")
	// The starter starts servers twice. The second command line does not fit into its
	// variables.
	for _, more := range []string{"", strings.Repeat("x", 1200)} {
		front = &console{process: o.here("sdm", "attach", "-b", "-e", "stacks", "--secret-file", o.secret("key", "7"), "--gdb-arg", "-iex", "--gdb-arg", "set prompt x"+more, pid), size: 4}
		front.exits(0)
		front.says("[0-3] (4) main mpiwait.c:")
	}
	if !offersMPIR() { // the hosts and the way to reach them are found
		front = &console{process: o.here("sdm", "attach", "-b", "-e", "info hosts", "-e", "stacks", pid), size: 4}
		front.exits(0)
		front.says("[0-3] (4) main mpiwait.c:", "[3] "+o.Host(3)+": server 3,")
	}
	var list strings.Builder
	for _, p := range o.named("mpiwait.mpicc.o") {
		env := environ(t, p.pid)
		list.WriteString(env["OMPI_COMM_WORLD_RANK"] + " " + env["PMIX_HOSTNAME"] + " " + strconv.Itoa(p.pid) + "\n")
	}
	ranks := o.file("ranks", list.String(), 0o600)
	front = &console{process: o.here("sdm", "attach", "-b", "-r", "1-3", "-e", "stacks", "--remote-shell", o.remsh(), "hostfile:"+ranks), size: 4}
	front.exits(0)
	front.says("[1-3] (3) main mpiwait.c:")
	w.ends(4)
}

// TestAttachBeforeAllRanksAreMPI attaches to a job on four hosts of which one rank has not called MPI_Init: Open MPI
// before release 5 has listed none of its ranks then. The way to the hosts is that of the starter.
func TestAttachBeforeAllRanksAreMPI(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	o := newOnHosts(t)
	comes, file := filepath.Join(o.dir, "comes"), filepath.Join(o.dir, "go")
	late := `[ "$OMPI_COMM_WORLD_RANK" != 1 ] || until [ -e "$1" ]; do sleep 0.05; done; exec "$2" "$3"`
	line := o.line("sh", "-c", late, "sh", comes, openMPI.program("mpiwait"), file)
	w := &waiters{process: o.here(line[0], line[1:]...), s: o.scene}
	o.eventually(patience, func() string {
		if len(o.named("mpiwait.mpicc.o")) < 3 {
			return "three ranks do not run" + w.said()
		}
		return ""
	})
	front := &console{process: o.here("sdm", "attach", "-b", "-e", "info hosts", strconv.Itoa(w.cmd.Process.Pid)), size: 4}
	front.exits(0)
	front.says("has not listed its ranks (some have not called MPI_Init); they are looked for on its hosts",
		"[0] "+o.Host(0)+": server 0,", "[3] "+o.Host(3)+": server 3,")
	o.file("comes", "", 0o600)
	w.ends(4)
}

// environ returns the environment of a process.
func environ(t *testing.T, pid int) map[string]string {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, e := range strings.Split(string(b), "\x00") {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return env
}

// TestServersBesideARunningJob is N+1 that attaches: a second job of the starter starts the
// servers, which find the ranks of the first job by its name, or by their processes.
func TestServersBesideARunningJob(t *testing.T) {
	t.Parallel()
	for _, byJob := range []bool{true, false} {
		t.Run("by job: "+strconv.FormatBool(byJob), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			w := s.waits(openMPI, 2)
			ranks := s.named("mpiwait.mpicc.o")
			if len(ranks) != 2 {
				t.Fatalf("ranks %v", ranks)
			}
			which := []string{"--jobid", environ(t, ranks[0].pid)["PMIX_NAMESPACE"]}
			if !byJob {
				which = []string{"--attach", strconv.Itoa(ranks[0].pid) + "," + strconv.Itoa(ranks[1].pid)}
			}
			front, addr := s.listen(2, "-b", "-e", "stacks")
			master, meet := s.rendezvous(addr)
			servers := s.mpirun(openMPI, 1, append([]string{"sdm-server", "--rendezvous", meet}, which...)...)
			(&job{front: front, master: master, starter: servers}).ends(0, 0, 0)
			front.says("[0-1] (2) main mpiwait.c:")
			w.ends(2)
		})
	}
}

// TestStarterExecsUs uses mpirun's own way to start a debugger.
func TestStarterExecsUs(t *testing.T) {
	needMPIR(t)
	t.Parallel()
	s := newScene(t)
	ours := []string{"--debugger", program("sdm") + " run -b -e stacks -e continue -- @mpirun@ @mpirun_args@"}
	// The second order leaves --debug in the line.
	for _, line := range [][]string{append([]string{"--debug"}, ours...), append(ours, "--debug")} {
		front := &console{process: s.start(openMPI.command, append(line, "-n", "2", openMPI.program("ring"))...), size: 2}
		front.exits(0)
		front.says("[0-1] (2) main ring.c:", "total 4950")
	}
}
