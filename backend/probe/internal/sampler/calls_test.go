package sampler

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/proc"
)

// TestCallsOfProcessesThatRun checks that nothing is done for calls of MPI while processes are held, and that
// ranks share what is found in the code.
func TestCallsOfProcessesThatRun(t *testing.T) {
	if _, err := exec.LookPath("mpicc.openmpi"); err != nil {
		t.Skip("no Open MPI: ", err)
	}
	const ranks = 2
	program := filepath.Join(t.TempDir(), "mpihung")
	if out, err := exec.Command("mpicc.openmpi", "-o", program, "../../../../testdata/programs/mpihung.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	job := exec.Command("mpirun.openmpi", "-n", strconv.Itoa(ranks), program)
	job.Env = mpiEnvironment(t)
	out, err := job.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = job.Process.Signal(os.Interrupt); _ = job.Wait() }()
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasPrefix(lines.Text(), "rank 1"); {
	}

	c := New("")
	o := Options{By: "line"}
	var readings []*reading
	var pids []int
	for _, pid := range slices.Sorted(slices.Values(proc.Children(job.Process.Pid))) {
		if r, err := c.begin(pid, &o); err == nil && strings.HasSuffix(r.modules[0].Path, "/mpihung") {
			readings, pids = append(readings, r), append(pids, pid)
		}
	}
	if len(readings) != ranks {
		t.Fatalf("%d ranks", len(readings))
	}
	c.hold(readings, &o)
	for i, p := range readings {
		tids := hold.Threads(p.pid)
		if len(tids) == 0 {
			t.Fatal("no threads")
		}
		for _, tid := range tids {
			if s := proc.StatusOf(p.pid, tid); s.State == "" || s.Tracer != 0 {
				t.Errorf("a thread of rank %d is traced when its calls are looked for: %+v", i, s)
			}
		}
		if p.calls != nil || !reflect.ValueOf(p.images[0].mpi).IsZero() {
			t.Errorf("calls of rank %d are known when it is released", i)
		}
		if p.images[0] != readings[0].images[0] {
			t.Error("ranks do not share what is known of their program")
		}
	}
	inNoCall := func(s Sample) bool { return s.Waits == nil || !s.Waits.inCall }
	for end := time.Now().Add(patience); slices.ContainsFunc(c.Take(pids, o).Samples, inNoCall); {
		if time.Now().After(end) {
			t.Fatal("not all ranks are in calls")
		}
	}
}
