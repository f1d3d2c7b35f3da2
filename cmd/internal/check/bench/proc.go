// What the kernel measures of processes.

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time that processes have used, by their clocks (clock_getcpuclockid(3)). schedstat of
// their threads would lack those that have ended: the sampler's ends with each sample.
func cpuTime(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		const sched = 2 // CPUCLOCK_SCHED of the kernel
		var t unix.Timespec
		if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
			fatal("processor time", fmt.Errorf("process %d: %w", pid, err))
		}
		sum += time.Duration(t.Nano())
	}
	return sum
}

// family returns a process and its children.
func family(pid int) []int {
	pids := []int{pid}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		fatal("children", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			fatal("children", err)
		}
		for _, word := range bytes.Fields(text) {
			child, err := strconv.Atoi(string(word))
			if err != nil {
				fatal("children", err)
			}
			pids = append(pids, child)
		}
	}
	return pids
}

// named returns the processes that run a program of this name.
func named(pids []int, program string) []int {
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return err != nil || strings.TrimSpace(string(name)) != program
	})
}

// gdbsOf returns the gdbs that a process has started.
func gdbsOf(pid int) []int { return named(family(pid), "gdb") }

// pss returns the memory of a process in bytes. Pages that n processes share count 1/n (proc(5),
// smaps_rollup).
func pss(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		fatal("memory", err)
	}
	for line := range bytes.Lines(text) {
		var kb int
		if n, _ := fmt.Sscanf(string(line), "Pss: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	fatal("memory", fmt.Errorf("no Pss of process %d", pid))
	return 0
}

// ownTime returns the processor time of this process.
func ownTime() time.Duration { return cpuTime([]int{os.Getpid()}) }

// startPiped starts a command and returns its standard output; what names it in the error that ends the
// run.
func startPiped(cmd *exec.Cmd, what string) io.ReadCloser {
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fatal(what, err)
	}
	return out
}
