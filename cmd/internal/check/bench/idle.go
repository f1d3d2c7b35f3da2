// The cost of servers without requests.

package main

import (
	"time"

	"sdm/master/session"
)

const (
	// idleFor is how long the idle servers are measured: two heartbeats.
	idleFor = 10 * time.Second
	// settle is the wait before the measurement. For a tenth of a second after the last command
	// the monitor thread of the Go runtime (sysmon) looks for work, at growing intervals.
	settle = time.Second
)

// benchIdle measures the processor time and the memory of servers.
func benchIdle(b *bench) {
	b.progress("%d servers with nothing to do", manyServers)
	j := startJob(b.server, manyServers, 1, "--backend", "sim")
	j.launch("simulated")
	j.print("", "rank")
	pids := j.servers.PIDs()
	time.Sleep(settle)
	before, began := cpuTime(pids), time.Now()
	time.Sleep(idleFor)
	used := float64(cpuTime(pids)-before) / float64(time.Since(began))
	b.table.add(row{what: "64 idle servers, processor", unit: "%", ours: 100 * used, limit: limit{most: 0.5}})
	sum := 0
	for _, pid := range pids {
		sum += pss(pid)
	}
	b.table.add(row{what: "memory (PSS) of one of 64 servers, a rank each", unit: "MB", ours: mb(sum / len(pids)), limit: limit{most: 15.2}})
	j.close()

	const ranks = 64
	b.progress("memory of a server with %d ranks", ranks)
	j = startJob(b.server, 1, ranks, "--backend", "sim")
	j.launch("simulated")
	for range 100 {
		j.print("", "rank")
		j.ask(session.Call{Command: "backtrace"})
	}
	b.table.add(row{what: "memory (PSS) of a server, 64 ranks", unit: "MB", ours: mb(pss(j.servers.PIDs()[0])), limit: limit{most: 15 + 0.2*ranks}})
	j.close()
}

// mb returns a number of bytes in MB.
func mb(bytes int) float64 { return float64(bytes) / 1e6 }
