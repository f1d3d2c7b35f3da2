package hold

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestActivity(t *testing.T) {
	cat := exec.Command("cat")
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	defer cat.Wait()
	defer in.Close()
	limit := time.Now().Add(10 * time.Second)
	for States(cat.Process.Pid) != "1 sleeping" {
		if time.Now().After(limit) {
			t.Fatalf("cat has threads: %s", States(cat.Process.Pid))
		}
	}
	idle, busy := UsageOf(cat.Process.Pid), UsageOf(os.Getpid())
	for UsageOf(os.Getpid()).cpu < busy.cpu+50*time.Millisecond {
	}
	if got := UsageOf(cat.Process.Pid).Since(idle); got != "0" {
		t.Errorf("cat has used %q %%", got)
	}
	if got, _ := strconv.Atoi(UsageOf(os.Getpid()).Since(busy)); got < 1 {
		t.Errorf("we have used %d %%", got)
	}
	if got := States(os.Getpid()); !strings.Contains(got, "running") {
		t.Errorf("our threads: %s", got)
	}
	const absent = 1 << 22 // more than the kernel gives
	if s, u := States(absent), UsageOf(absent).Since(busy); s != "" || u != "" {
		t.Errorf("a process that is gone: %q, %q", s, u)
	}
}
