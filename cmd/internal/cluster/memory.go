package cluster

import (
	"os"
	"runtime/debug"
)

// LimitMemory has the garbage collector of this process work harder from the memory
// on that a cluster of this size should do with: 1.9 GB for a million ranks on 16,384
// servers, of which 0.7 to 1 GB live. Without it, garbage is given as much room as
// what lives, which is twice as much as a laptop may have. It is for the mains of
// programs that do nothing else. GOMEMLIMIT, as Go's runtime knows it, goes before.
func LimitMemory(cfg Config) {
	const base, server, rank = 128 << 20, 56 << 10, 800
	if os.Getenv("GOMEMLIMIT") == "" {
		cfg = cfg.WithDefaults()
		debug.SetMemoryLimit(base + int64(cfg.Servers)*server + int64(cfg.Ranks)*rank)
	}
}
