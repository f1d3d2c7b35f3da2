// Jobs that wait in Slurm's queue: what is reported, and how long they may wait.

package job

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"sdm/cmd/internal/relay"
	"sdm/launch/slurm"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// Messages of srun about the queue (Slurm's src/common/slurm_resource_info and srun's allocate.c;
// seen with 22.05).
var (
	queuedLine    = pattern.New(`^(?:srun|salloc): (?:Pending )?job (?:allocation )?(\d+) queued and waiting for resources|^(?:srun|salloc): job (\d+) queued`)
	allocatedLine = pattern.New(`^(?:srun|salloc): job (\d+) has been allocated resources`)
)

// askQueue is the interval at which Slurm is asked why a job is pending.
const askQueue = 10 * time.Second

// queue reads the messages of a starter while its job is pending, and limits the wait: --queue-wait
// counts in the queue, --connect-wait only outside it.
//
// Goroutines: one that copies the starter's standard error until its end or close; one while the
// job is pending, until it is not or close.
type queue struct {
	io     IO
	wait   time.Duration // limit of the time in the queue; 0: none
	expire context.CancelCauseFunc
	read   *os.File
	write  *os.File  // the starter's end of the pipe, until it is started
	to     io.Writer // receives what the starter writes
	group  sync.WaitGroup
	over   chan struct{} // closed by close

	mu      sync.Mutex
	clock   *time.Timer   // the time limit; nil: none yet
	job     string        // ID of the job; "": it was never pending
	waiting chan struct{} // closed when the job is not pending any more; nil: it is not pending
	met     bool          // a server has registered: the job does not wait any more
	prolog  string        // the line that says that a task prolog has failed; "": none
}

// watchQueue starts a queue. It calls expire with the reason when the wait is too long.
func watchQueue(io IO, wait time.Duration, expire context.CancelCauseFunc) (*queue, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	q := &queue{io: io, wait: wait, expire: expire, read: r, write: w, to: io.Err, over: make(chan struct{})}
	if io.JSON != nil {
		q.to = relay.Writer{Out: io.JSON, From: fromStarter, Kind: protocol.KindStderr}
	}
	q.limitNext("no server has come")
	q.group.Go(q.copy)
	return q, nil
}

// limitNext limits the wait for what must come next by --connect-wait. what is the text of the error.
func (q *queue) limitNext(what string) {
	q.limit(q.io.Clock.ForServers(), func() error { return q.io.Clock.Over(what) })
}

// started closes our copy of the pipe that the starter has inherited.
func (q *queue) started() { q.write.Close() }

// limit replaces the time limit; 0: no limit. why returns the error when the limit is over.
func (q *queue) limit(d time.Duration, why func() error) {
	if q.clock != nil {
		q.clock.Stop()
	}
	if d > 0 {
		q.clock = time.AfterFunc(d, func() { q.expire(why()) })
	}
}

// copy passes on what the starter writes.
func (q *queue) copy() {
	lines := bufio.NewReader(q.read)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			io.WriteString(q.to, line)
		}
		q.receive(line)
		if err != nil {
			return
		}
	}
}

// receive processes a line of the starter's standard error.
func (q *queue) receive(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.prolog == "" && !q.met {
		q.prolog = slurm.FailedProlog(line)
	}
	if m := queuedLine.FindStringSubmatch(line); m != nil && q.waiting == nil && !q.met {
		q.job = m[1] + m[2]
		q.waiting = make(chan struct{})
		q.limit(q.wait, func() error {
			return fmt.Errorf("the job has waited in the queue for %v (--queue-wait)", q.wait)
		})
		waiting, job := q.waiting, q.job
		q.group.Go(func() { q.ask(job, waiting) })
	} else if allocatedLine.MatchString(line) && q.waiting != nil {
		close(q.waiting)
		q.waiting = nil
		q.io.report(protocol.JobState{State: "allocated", Job: q.job})
		q.io.Clock.Restart()
		q.limitNext("no server has come, after the job was allocated,")
	}
}

// ask reports why the job is pending, whenever the reason changes.
func (q *queue) ask(job string, waiting <-chan struct{}) {
	tick := time.NewTicker(askQueue)
	defer tick.Stop()
	last := "?"
	for {
		if why := pendingBecause(job); why != last {
			last = why
			q.io.report(protocol.JobState{State: "queued", Job: job, Text: why})
		}
		select {
		case <-tick.C:
		case <-waiting:
			return
		case <-q.over:
			return
		}
	}
}

// pendingBecause asks Slurm why a job is pending; "": unknown.
func pendingBecause(job string) string {
	ctx, cancel := context.WithTimeout(context.Background(), askQueue)
	defer cancel()
	out, err := exec.CommandContext(ctx, "squeue", "-h", "-j", job, "-o", "%r").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// arrived records that a server has registered. After the first one the others have a limit of
// their own.
func (q *queue) arrived() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.met {
		q.met = true
		q.limitNext("not all ranks have come")
	}
}

// isQueued reports whether the job is pending, and its ID.
func (q *queue) isQueued() (job string, queued bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.job, q.waiting != nil
}

// failedProlog returns the line that says that a task prolog has failed; "": none has. It is complete
// after close.
func (q *queue) failedProlog() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.prolog
}

// done removes the limits, because the tree is built.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.met = true
	q.limit(0, nil)
}

// drainWait is how long the rest of the starter's standard error is awaited after the starter's
// end. A child of the starter may keep the pipe open.
const drainWait = 200 * time.Millisecond

// close ends the goroutines. The starter must have ended.
func (q *queue) close() {
	q.done()
	close(q.over)
	q.read.SetReadDeadline(time.Now().Add(drainWait))
	q.group.Wait()
	q.read.Close()
}
