package server

import (
	"slices"
	"sync"
	"testing"
)

func TestLaneRunsQuickJobsAtOnce(t *testing.T) {
	var l serialQueue
	ran := false
	l.do(task{run: func() { ran = true }})
	if !ran {
		t.Error("the job did not run on the caller's goroutine")
	}
}

func TestLaneKeepsOrderAcrossSlowJobs(t *testing.T) {
	var l serialQueue
	var got []int
	release, done := make(chan struct{}), make(chan struct{})
	l.do(task{slow: true, run: func() { <-release; got = append(got, 1) }})
	l.do(task{run: func() {
		got = append(got, 2)
		l.do(task{run: func() { got = append(got, 5); close(done) }})
	}})
	l.do(task{slow: true, run: func() { got = append(got, 3) }})
	l.do(task{run: func() { got = append(got, 4) }})
	close(release) // reached because do did not block
	<-done
	l.wait()
	if !slices.Equal(got, []int{1, 2, 3, 4, 5}) {
		t.Errorf("order %v", got)
	}
}

func TestLaneRunsOneJobAtATime(t *testing.T) {
	var l serialQueue
	var all sync.WaitGroup
	inside, total := 0, 0 // unguarded, for the race detector
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				l.do(task{slow: (g+i)%7 == 0, run: func() { inside++; total += inside; inside-- }})
			}
		})
	}
	all.Wait()
	done := make(chan struct{})
	l.do(task{run: func() { close(done) }})
	<-done
	l.wait()
	if total != 800 {
		t.Errorf("%d of 800 jobs ran alone", total)
	}
}
