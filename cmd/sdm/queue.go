package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// The words of srun about the queue (Slurm's src/common/slurm_resource_info and
// srun's allocate.c; seen with 22.05).
var (
	queuedLine    = regexp.MustCompile(`^(?:srun|salloc): (?:Pending )?job (?:allocation )?(\d+) queued and waiting for resources|^(?:srun|salloc): job (\d+) queued`)
	allocatedLine = regexp.MustCompile(`^(?:srun|salloc): job (\d+) has been allocated resources`)
)

// askQueue is how often a job that waits is asked why.
const askQueue = 10 * time.Second

// queue watches what a starter says while its job waits, and bounds the wait:
// --connect-wait does not count in a queue, --queue-wait does.
//
// Goroutines: one that copies the starter's standard error, ended by its end or
// by close; one while the job waits, ended with that or by close.
type queue struct {
	a      *app
	o      *options
	expire context.CancelCauseFunc
	read   *os.File
	write  *os.File  // the starter's end, until it has it
	to     io.Writer // for what it says
	group  sync.WaitGroup
	over   chan struct{} // closed by close

	mu      sync.Mutex
	clock   *time.Timer
	job     string
	waiting chan struct{} // closed when the job waits no more; nil: it does not
	met     bool          // the first server is there: there is no more to wait for
}

// watchQueue begins; expire is called with the reason when the patience is over.
func (a *app) watchQueue(o *options, expire context.CancelCauseFunc) (*queue, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	q := &queue{a: a, o: o, expire: expire, read: r, write: w, to: a.stderr, over: make(chan struct{})}
	if o.ndjson() {
		q.to = named{a.out, fromStarter, protocol.KindStderr}
	}
	q.await("no server has come")
	q.group.Go(q.copy)
	return q, nil
}

// await bounds what must come next by --connect-wait.
func (q *queue) await(what string) {
	q.limit(q.o.clock.servers(), func() error { return q.o.clock.over(what) })
}

// started lets go of what the starter has now.
func (q *queue) started() { q.write.Close() }

// limit sets the patience anew; 0 is no limit.
func (q *queue) limit(d time.Duration, why func() error) {
	if q.clock != nil {
		q.clock.Stop()
	}
	if d > 0 {
		q.clock = time.AfterFunc(d, func() { q.expire(why()) })
	}
}

// copy hands on what the starter says.
func (q *queue) copy() {
	lines := bufio.NewReader(q.read)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			io.WriteString(q.to, line)
		}
		q.hear(line)
		if err != nil {
			return
		}
	}
}

func (q *queue) hear(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if m := queuedLine.FindStringSubmatch(line); m != nil && q.waiting == nil && !q.met {
		q.job = m[1] + m[2]
		q.waiting = make(chan struct{})
		q.limit(q.o.queueWait, func() error {
			return fmt.Errorf("the job has waited in the queue for %v (--queue-wait)", q.o.queueWait)
		})
		waiting, job := q.waiting, q.job
		q.group.Go(func() { q.ask(job, waiting) })
	} else if allocatedLine.MatchString(line) && q.waiting != nil {
		close(q.waiting)
		q.waiting = nil
		q.a.jobIs(q.o, protocol.JobState{State: "allocated", Job: q.job})
		q.o.clock.restart()
		q.await("no server has come, after the job was allocated,")
	}
}

// ask says why the job waits, when that changes.
func (q *queue) ask(job string, waiting <-chan struct{}) {
	tick := time.NewTicker(askQueue)
	defer tick.Stop()
	last := "?"
	for {
		if why := pendingBecause(job); why != last {
			last = why
			q.a.jobIs(q.o, protocol.JobState{State: "queued", Job: job, Text: why})
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

// pendingBecause asks Slurm why a job waits; "" if it does not say.
func pendingBecause(job string) string {
	ctx, cancel := context.WithTimeout(context.Background(), askQueue)
	defer cancel()
	out, err := exec.CommandContext(ctx, "squeue", "-h", "-j", job, "-o", "%r").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// arrived tells that the first server is there.
func (q *queue) arrived() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.met {
		q.met = true
		q.await("not all ranks have come")
	}
}

// isQueued tells whether the job waits, and its name.
func (q *queue) isQueued() (job string, queued bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.job, q.waiting != nil
}

// done ends the limits: the tree stands.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.met = true
	q.limit(0, nil)
}

// lastWords is how long what the starter has said may take to come after its end:
// somebody below it may have its standard error, too.
const lastWords = 200 * time.Millisecond

// close ends the goroutines. The starter has ended.
func (q *queue) close() {
	q.done()
	close(q.over)
	q.read.SetReadDeadline(time.Now().Add(lastWords))
	q.group.Wait()
	q.read.Close()
}

// starterEnded tells how a starter has ended, after its ranks.
func (a *app) starterEnded(o *options, status int) {
	a.jobIs(o, protocol.JobState{State: "ended", Status: &status, Text: "the starter has ended"})
}

// jobIs tells how the job is getting on: each front end in its own way.
func (a *app) jobIs(o *options, j protocol.JobState) {
	if !o.ndjson() && j.State != "queued" && j.State != "cancelled" {
		return // a person sees it, or has heard it from the starter
	}
	e := session.NewEvent(protocol.Group{Kind: protocol.KindJob, Body: canonical.JSON(j)})
	if o.ndjson() {
		a.pass(o, e)
		return
	}
	text := "job " + j.Job
	if j.State == "cancelled" {
		text += " was cancelled"
	} else {
		text += " waits in the queue"
	}
	if j.Text != "" {
		text += ": " + j.Text
	}
	if j.State == "queued" {
		text += "; Ctrl-C cancels it"
	}
	a.remark(text)
}
