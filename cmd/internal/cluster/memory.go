// The memory limit of a process with many simulated servers.

package cluster

import (
	"os"
	"runtime/debug"
)

// LimitMemory sets the memory limit of Go's runtime, above which the garbage collector works
// harder, to what a cluster of this size needs: 1.9 GB for a million ranks on 16,384 servers, of
// which 0.7 to 1 GB are live. Without it the process would take twice that. Only the main function
// of a program may call it. GOMEMLIMIT takes precedence.
func LimitMemory(cfg Config) {
	const base, server, rank = 128 << 20, 56 << 10, 800
	if os.Getenv("GOMEMLIMIT") == "" {
		cfg = cfg.WithDefaults()
		debug.SetMemoryLimit(base + int64(cfg.Servers)*server + int64(cfg.Ranks)*rank)
	}
}
