// Package launchtest provides fake hosts for tests: several hosts on one machine, made by the
// scripts in testdata/hosts. Only tests import it.
package launchtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Hosts is a set of fake hosts. It is removed at the end of the test, or, if the test is killed,
// when the next set is made. Its methods fail the test. It belongs to one test; several goroutines
// may use it.
type Hosts struct {
	t    testing.TB
	name string
	dir  string // directory of the scripts
}

// sets counts the sets of this process, so that their names differ.
var sets atomic.Int64

// Up makes count hosts with a name that is unique to the test. If the machine does not permit them
// (no root, no ip), the test is skipped with the reason.
func Up(t testing.TB, count int) *Hosts {
	t.Helper()
	h := &Hosts{t: t, dir: Scripts()}
	if why := h.whyNot(); why != "" {
		t.Skip(why)
	}
	h.name = fmt.Sprintf("t%d-%dh", os.Getpid(), sets.Add(1))
	cmd := exec.Command(filepath.Join(h.dir, "up"), h.name, strconv.Itoa(count))
	cmd.Env = append(os.Environ(), fmt.Sprintf("SDM_HOSTS_OWNER=%d", os.Getpid()))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("fake hosts: %v\n%s", err, text)
	}
	t.Cleanup(func() { h.run("down", h.name) })
	return h
}

// Scripts returns the directory testdata/hosts of this source tree, for tests that pass a path to
// a program (remsh in place of ssh).
func Scripts() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../testdata/hosts")
}

func (h *Hosts) whyNot() string {
	out, err := exec.Command("bash", "-c", `. "$0/lib" && why_not`, h.dir).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("fake hosts: %v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// Host returns the name of host i, from 0. Only the hosts of the set can resolve it.
func (h *Hosts) Host(i int) string { return h.name + strconv.Itoa(i) }

// Address returns the IPv4 address of host i.
func (h *Hosts) Address(i int) string { return fmt.Sprintf("10.77.0.%d", 10+i) }

// Argv returns a command line that runs another one on host i, with the working directory,
// environment and standard streams of this process, in the same process.
func (h *Hosts) Argv(i int, command ...string) []string {
	return append([]string{filepath.Join(h.dir, "on"), h.Host(i)}, command...)
}

// On returns Argv as a command that has not been started.
func (h *Hosts) On(i int, command ...string) *exec.Cmd {
	argv := h.Argv(i, command...)
	return exec.Command(argv[0], argv[1:]...)
}

// Partition drops all packets to and from host i silently.
func (h *Hosts) Partition(i int) { h.t.Helper(); h.run("partition", h.Host(i)) }

// Cut sets the network link of host i down.
func (h *Hosts) Cut(i int) { h.t.Helper(); h.run("cut", h.Host(i)) }

// Slow limits the rate of host i's network link; rate is in tc's syntax: "1mbit".
func (h *Hosts) Slow(i int, rate string) { h.t.Helper(); h.run("slow", h.Host(i), rate) }

// Heal undoes Partition, Cut and Slow for host i.
func (h *Hosts) Heal(i int) { h.t.Helper(); h.run("heal", h.Host(i)) }

func (h *Hosts) run(script string, args ...string) {
	h.t.Helper()
	if text, err := exec.Command(filepath.Join(h.dir, script), args...).CombinedOutput(); err != nil {
		h.t.Errorf("%s %s: %v\n%s", script, strings.Join(args, " "), err, text)
	}
}
