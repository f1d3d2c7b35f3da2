// How much a flood of output on some ranks delays a command to another one.

package main

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// floodLines is how many lines each of the writing ranks writes, about 12 bytes each; floodAsks is
// how many commands are sent before, for comparison.
const (
	floodLines = 2_000_000
	floodAsks  = 2000
)

// benchFlood lets three ranks write as fast as they can, reads all of it as a console does, and
// repeatedly asks the fourth rank for a value.
func benchFlood(b *bench) {
	path := filepath.Join(b.dir, "flood")
	b.run("gcc", "-g", "-O0", "-o", path, "testdata/programs/flood.c")
	b.progress("3 ranks write %d lines each, a fourth is asked", floodLines)
	j := startJob(b.server, 4, 1, "--backend", "gdb")
	j.call(session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{
		Program: path, Args: []string{strconv.Itoa(floodLines)}, Size: 4, StopAt: "main",
	}}})
	j.stopped(j.all())
	ask := func() { j.print("3", "argc") }
	medianOf(20, ask)
	var quiet []time.Duration
	for range floodAsks {
		asked := time.Now()
		ask()
		quiet = append(quiet, time.Since(asked))
	}

	j.call(session.Call{Command: "continue", Ranks: "0-2"})
	var waits []time.Duration
	var id protocol.RequestID
	var asked time.Time
	began, bytes, running := time.Now(), 0, rank.Range(0, 2)
	again := func() {
		asked = time.Now()
		var err error
		if id, err = j.master.Do(context.Background(),
			session.Call{Command: "print", Ranks: "3", Args: protocol.Args{Expr: "argc"}}); err != nil {
			fatal("print", err)
		}
	}
	for again(); !running.IsEmpty(); {
		switch e := j.next(); {
		case e.ID == id && e.Done != nil:
			waits = append(waits, time.Since(asked))
			again()
		case e.Group.Kind == protocol.KindStdout:
			bytes += len(e.Group.Body) * e.Group.Ranks.Len()
		case e.Group.Kind.IsEnd():
			running = running.Minus(e.Group.Ranks)
		}
	}
	took := time.Since(began)
	want := 0
	for i := 1; i <= floodLines; i++ {
		want += 3 * len("out \n"+strconv.Itoa(i))
	}
	b.table.add(row{what: "print on a rank beside a flood of output, without the flood as the floor", unit: "ms",
		ours: ms(median(waits)), floor: ms(median(quiet))})
	b.table.add(row{what: "99 of 100 of " + strconv.Itoa(len(waits)) + " are faster than", unit: "ms", ours: ms(late(waits, 100)),
		floor: ms(late(quiet, 100)), limit: limit{most: 50}})
	b.table.add(row{what: "the slowest", unit: "ms", ours: ms(late(waits, len(waits))), floor: ms(late(quiet, len(quiet)))})
	b.table.add(row{what: "the flood, through gdb's servers to the stream", unit: "MB/s", ours: mb(bytes) / took.Seconds()})
	b.table.add(row{what: "bytes of the flood that were lost", unit: "B", ours: float64(want - bytes), limit: limit{most: 0.5}})
	j.close()
}

// late returns the value that only one in so many values exceeds. sorted must be sorted.
func late(sorted []time.Duration, of int) time.Duration {
	return sorted[len(sorted)-1-(len(sorted)-1)/of]
}
