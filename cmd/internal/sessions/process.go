// Which process a session is, and whether it still runs.

package sessions

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"sdm/protocol"
)

// Liveness tells whether a session can still be joined.
type Liveness string

// What is known of a session.
const (
	Live Liveness = "live" // its process runs on this host
	// Elsewhere is a session of another host or container: only its host can tell whether it runs.
	Elsewhere Liveness = "elsewhere"
	Gone      Liveness = "gone" // its process has ended
)

// place is where a process runs: process ids of one place can be compared.
type place struct{ host, boot, space string }

// here returns the place of this process.
func here() (place, error) {
	host, err1 := os.Hostname()
	boot, err2 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err3 := os.Readlink("/proc/self/ns/pid")
	return place{host, strings.TrimSpace(string(boot)), space}, errors.Join(err1, err2, err3)
}

// livenessAt returns what can be told of a session at a place. start returns the start of a process there, 0 if it
// has ended.
func (s State) livenessAt(at place, start func(pid int) uint64) Liveness {
	switch {
	case !protocol.SameHost(s.Host, at.host):
		return Elsewhere
	case s.Boot != at.boot: // the host has been started anew
		return Gone
	case s.Space != at.space: // a container that has the host's name
		return Elsewhere
	case start(s.PID) != s.Start: // the process id may be another process's now
		return Gone
	}
	return Live
}

// startOf returns the start time of a process of this host, in ticks since boot; 0: it has ended.
func startOf(pid int) uint64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 4096)) // a process that ends meanwhile gives less
	return parseStart(string(b))
}

// parseStart returns field 22 of a text of proc(5), /proc/PID/stat; 0 if the process is a zombie. The name, the second
// field, may hold anything.
func parseStart(stat string) uint64 {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const first, start = 3, 22 // numbers of fields
	if len(fields) <= start-first || strings.ContainsAny(fields[0], "ZXx") {
		return 0
	}
	ticks, _ := strconv.ParseUint(fields[start-first], 10, 64) // 0 if it is no number
	return ticks
}
