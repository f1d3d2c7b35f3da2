package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// written returns how many bytes a process has written (proc(5), io).
func written(pid int) (n int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	for _, line := range strings.Split(string(text), "\n") {
		if _, err := fmt.Sscanf(line, "wchar: %d", &n); err == nil {
			return n
		}
	}
	return 0
}

// standstill waits until processes have written something and then nothing more for a second, and
// returns the sum.
func standstill(t *testing.T, pids []int) int {
	t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	late := time.After(testTimeout)
	for before, same := -1, 0; ; {
		sum := 0
		for _, pid := range pids {
			sum += written(pid)
		}
		if same++; sum != before || sum == 0 {
			before, same = sum, 0
		}
		if same == 10 {
			return sum
		}
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("the ranks still write after %v: %d bytes", testTimeout, sum)
		}
	}
}

// TestStuckReaderBoundsMemory checks that ranks block when a front end does not read. What is on
// its way is bounded, in this process, which contains the master, and in all. When the front end
// reads again, every byte arrives in order.
func TestStuckReaderBoundsMemory(t *testing.T) {
	const (
		last    = 90_000
		line    = "%0100.0f" // long lines: bytes are bounded, and each line takes time to check
		maxAll  = 16 << 20   // of 3 × 9 MB; sockets buffer some
		maxHere = 32 << 20
	)
	_, d := startLocal(t, 3, 1)
	d.do("launch", protocol.Args{Job: &protocol.Job{Program: "seq", Args: []string{"-f", line, "1", strconv.Itoa(last)}}})
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	id, err := d.Do(soon(t), session.Call{Command: "continue"})
	if err != nil {
		t.Fatal(err)
	}
	sum := standstill(t, d.pids())
	runtime.GC()
	runtime.ReadMemStats(&now)
	here := int(now.HeapAlloc) - int(before.HeapAlloc)
	t.Logf("nothing is read: %d bytes were written, %d bytes more are held here", sum, here)
	if sum > maxAll || here > maxHere {
		t.Errorf("nothing is read, and %d bytes were written (at most %d), %d are held here (at most %d)", sum, maxAll, here, maxHere)
	}

	next, rest, left := map[rank.ID]int{}, map[rank.ID]string{}, 4
	d.until("the end", func(e session.Event) bool {
		if e.Group.Kind == protocol.KindStdout {
			for r := range e.Group.Ranks.All() {
				lines := strings.Split(rest[r]+string(e.Group.Body), "\n")
				rest[r] = lines[len(lines)-1]
				for _, got := range lines[:len(lines)-1] {
					if next[r]++; got != fmt.Sprintf(line, float64(next[r])) {
						t.Fatalf("rank %d: %q comes in place of %d", r, got, next[r])
					}
				}
			}
		}
		left -= ends(e)
		if e.ID == id && e.Done != nil {
			left--
		}
		d.seen = nil
		return left == 0
	})
	for r := range rank.Range(0, 2).All() {
		if next[r] != last {
			t.Errorf("rank %d: %d lines of %d", r, next[r], last)
		}
	}
}
